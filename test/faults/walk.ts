import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ShopOrder } from '../../cli/tour/shop.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import {
  type ChargeInLedger,
  factsOf,
  type OrderFacts,
  type Row,
  type Told,
  type WorkflowFacts,
} from '../oracle/facts.ts';
import { judge, type Violation } from '../oracle/invariants.ts';
import { type Cell, nameOf } from './cells.ts';
import type { FaultStack } from './stack.ts';

export interface Walked {
  readonly cell: string;
  /** Whether what was to go wrong did. */
  readonly hit: boolean;
  readonly status: string;
  readonly seconds: number;
  readonly violations: readonly Violation[];
}

const SETTLED = ['paid', 'failed'];
const CLICK_EVERY_MS = 2_000;
const WITHIN_MS = 90_000;

/** Walks one cell with one order, lets it recover, and has the oracle judge it. */
export async function walk(stack: FaultStack, cell: Cell): Promise<Walked> {
  const began = performance.now();
  const order = await untilDone(() => stack.shop.createOrder(cell.account ?? 'simulator'));
  const prefix = merchantReference(order.id, 1).slice(0, 26);
  await prepare(stack, cell, { order, prefix });
  const told: Told[] = [];
  await strike(stack, cell, { order, prefix, told });
  const status = await settle(stack, order, { told, cell });
  const facts = await gather(stack, order.id, { prefix, told });
  const violations = judge(facts);
  if (!SETTLED.includes(status))
    violations.push({ invariant: 'I6', orderId: order.id, sentence: `still ${status} after ${WITHIN_MS / 1_000} s` });
  return {
    cell: nameOf(cell),
    hit: await wasHit(stack, cell, { order, prefix }),
    status,
    seconds: Math.round((performance.now() - began) / 100) / 10,
    violations,
  };
}

interface Subject {
  readonly order: ShopOrder;
  readonly prefix: string;
}

const planOf = ({ plans }: FaultStack, point: string, orderId: string): string =>
  join(plans, `${point}@${point.startsWith('commit') ? '' : orderId}`);

async function prepare(stack: FaultStack, { strike }: Cell, { order, prefix }: Subject): Promise<void> {
  const { control } = stack.simulator;
  const match = { reference_prefix: prefix };
  if (strike.at === 'point') writeFileSync(planOf(stack, strike.point, order.id), JSON.stringify(strike.deed));
  if (strike.at === 'gateway') for (const fault of strike.faults) await control.addFault({ fault, match, times: 1 });
  if (strike.at === 'charged') await control.addFault({ fault: { kind: 'slow', seconds: 3 }, match, times: 1 });
}

async function strike(
  stack: FaultStack,
  cell: Cell,
  { order, prefix, told }: Subject & { told: Told[] },
): Promise<void> {
  const { strike: what, paymentMethod = 'tok_ok' } = cell;
  const clicks = what.at === 'clicks' ? what.clicks : 1;
  await Promise.all(
    Array.from({ length: clicks }, async (_, index) => {
      const key = what.at === 'clicks' ? { idempotencyKey: what.keys === 'same' ? 'one' : `key-${index}` } : {};
      await click(stack, order, { told, options: { paymentMethod, waitSeconds: 1, ...key } });
    }),
  );
  if (what.at !== 'charged') return;
  await untilDone(async () => {
    const rows = await stack.simulator.control.ledger({ prefix });
    if (rows.every(({ charges }) => charges === 0)) throw new Error('not charged yet');
  });
  const happenings = {
    kill_worker: stack.killWorker,
    kill_api: stack.killApi,
    restart_database: stack.restartDatabase,
    restart_temporal: stack.restartTemporal,
    gateway_away: () => stack.simulator.control.beginOutage({ kind: 'refuse', for_ms: 4_000 }),
  };
  await happenings[what.happening]();
}

type PayOptions = NonNullable<Parameters<FaultStack['shop']['pay']>[1]>;

async function click(
  stack: FaultStack,
  order: ShopOrder,
  { told, options }: { told: Told[]; options: PayOptions },
): Promise<void> {
  try {
    const { status, body } = await stack.shop.pay(order, options);
    if (status === 200) told.push({ key: '', body: '', answer: body.status, status: body.status });
  } catch {
    // The connection broke, as it does when the API dies: the customer clicks again.
  }
}

/** The customer clicks again and again with the same token until there is an answer. */
async function settle(
  stack: FaultStack,
  order: ShopOrder,
  { told, cell }: { told: Told[]; cell: Cell },
): Promise<string> {
  const deadline = Date.now() + WITHIN_MS;
  for (;;) {
    const seen = await stack.shop.read(order.id).catch(() => undefined);
    if (seen !== undefined && SETTLED.includes(seen.status)) return seen.status;
    if (Date.now() > deadline) return seen?.status ?? 'unreachable';
    await click(stack, order, { told, options: { paymentMethod: cell.paymentMethod ?? 'tok_ok', waitSeconds: 1 } });
    await new Promise((resolve) => setTimeout(resolve, CLICK_EVERY_MS));
  }
}

async function untilDone<Result>(act: () => Promise<Result>): Promise<Result> {
  const deadline = Date.now() + WITHIN_MS;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function wasHit(stack: FaultStack, { strike: what }: Cell, { order, prefix }: Subject): Promise<boolean> {
  if (what.at === 'point') return existsSync(`${planOf(stack, what.point, order.id)}.reached`);
  if (what.at !== 'gateway') return true;
  const faults = await stack.simulator.control.faults();
  return faults.filter(({ match }) => match.reference_prefix === prefix).every(({ used }) => used > 0);
}

async function gather(
  stack: FaultStack,
  orderId: string,
  { prefix, told }: { prefix: string; told: readonly Told[] },
): Promise<OrderFacts> {
  const { database, simulator } = stack;
  const own = async (
    table: 'payment_attempts' | 'evidence' | 'outbox_events' | 'entitlements' | 'over_payments' | 'refunds',
  ) =>
    (
      await untilDone(() =>
        database.query<Record<string, unknown>>(`select * from ${table} where order_id = $1`, [orderId]),
      )
    ).rows;
  const { rows } = await untilDone(() =>
    database.query<Record<string, unknown>>('select * from orders where id = $1', [orderId]),
  );
  const order: Row = rows[0] ?? {};
  const ledger = await simulator.control.ledger({ prefix });
  const charges = ledger.flatMap(({ reference, charges: count, moved }): ChargeInLedger[] =>
    Array.from({ length: count }, () => ({
      reference,
      status: 'approved',
      minorUnits: moved.minor_units / count,
      currency: moved.currency,
    })),
  );
  return factsOf(order, {
    stage: 'after',
    attempts: await own('payment_attempts'),
    evidence: await own('evidence'),
    outbox: await own('outbox_events'),
    entitlements: await own('entitlements'),
    overPayments: await own('over_payments'),
    refunds: await own('refunds'),
    charges,
    told,
    workflow: await workflowOf(stack, orderId),
  });
}

async function workflowOf(stack: FaultStack, orderId: string): Promise<WorkflowFacts | null> {
  const handle = (await stack.temporal()).workflow.getHandle(orderId);
  const description = await untilDone(() => handle.describe());
  const { events } = await handle.fetchHistory();
  const failed = (events ?? []).flatMap((event) => event.workflowTaskFailedEventAttributes?.failure?.message ?? []);
  const names = { RUNNING: 'open', COMPLETED: 'completed' } as Readonly<Record<string, WorkflowFacts['status']>>;
  return {
    status: names[description.status.name] ?? 'failed',
    strays: failed.filter((message) => /determinism/i.test(message)),
  };
}
