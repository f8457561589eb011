import type { Engine } from '../memory/engine.ts';
import { factsOf, type OrderFacts, type Row, type Told } from '../oracle/facts.ts';
import { judge, type Violation } from '../oracle/invariants.ts';
import type { ModelGateway } from './gateway.ts';
import type { Temporal } from './temporal.ts';

/** Sees every change as it becomes true, and judges the order that it is about. */
export interface Witness {
  /** Something was committed: looks at the orders whose rows are others than before. */
  look(): void;
  /** Something happened at the gateway under this reference; looked at once no transaction is half done. */
  note(reference: string): void;
  lookAtNoted(): void;
  tell(orderId: string, told: Told): void;
  /** At the end, when all must be found out. */
  judgeAll(): void;
  /** Something that is wrong with the world as a whole. */
  accuse(invariant: string, sentence: string): void;
  violations(): readonly Violation[];
}

interface Sources {
  readonly engine: Engine;
  readonly gateways: readonly ModelGateway[];
  readonly temporal: Temporal;
}

export function createWitness(sources: Sources): Witness {
  const { engine, gateways } = sources;
  const seen = new Map<unknown, Row>();
  const statuses = new Map<unknown, string[]>();
  const told = new Map<unknown, Told[]>();
  const violations: Violation[] = [];
  const noted = new Set<string>();
  const orderOf = new Map<string, string>();

  const judgeOne = (order: Row, stage: OrderFacts['stage']): void => {
    const facts = gather(sources, order, stage);
    const known = { statuses: statuses.get(order.id) ?? [], told: told.get(order.id) ?? [] };
    violations.push(...judge({ ...facts, ...known }));
  };
  const orderRow = (id: string | undefined): Row | undefined => engine.rows('orders').find((row) => row.id === id);
  return {
    look() {
      for (const order of engine.rows('orders')) {
        if (seen.get(order.id) === order) continue;
        seen.set(order.id, order);
        const before = statuses.get(order.id) ?? [];
        if (before.at(-1) !== order.status) statuses.set(order.id, [...before, String(order.status)]);
        judgeOne(order, 'during');
      }
    },
    note: (reference) => void noted.add(reference),
    lookAtNoted() {
      if (noted.size === 0) return;
      for (const { order_id: id, merchant_reference: own } of engine.rows('payment_attempts'))
        orderOf.set(String(own), String(id));
      for (const reference of noted) {
        const order = orderRow(orderOf.get(reference));
        if (order !== undefined) judgeOne(order, 'during');
      }
      noted.clear();
    },
    tell(orderId, answer) {
      told.set(orderId, [...(told.get(orderId) ?? []), answer]);
    },
    judgeAll() {
      for (const order of engine.rows('orders')) judgeOne(order, 'after');
      const known = new Set(engine.rows('payment_attempts').map((row) => row.merchant_reference));
      const orphans = gateways.flatMap(({ ledger }) => ledger).filter(({ reference }) => !known.has(reference));
      for (const { reference } of orphans)
        violations.push({
          invariant: 'I6',
          orderId: '',
          sentence: `the ledger's charge ${reference} belongs to no order`,
        });
    },
    accuse: (invariant, sentence) => void violations.push({ invariant, orderId: '', sentence }),
    violations: () => violations,
  };
}

function gather({ engine, gateways, temporal }: Sources, order: Row, stage: OrderFacts['stage']): OrderFacts {
  const { id } = order;
  const own = (table: string): Row[] => engine.rows(table).filter((row) => row.order_id === id);
  const attempts = own('payment_attempts');
  const references = new Set(attempts.map((row) => String(row.merchant_reference)));
  const execution = temporal.executions().get(String(id));
  return factsOf(order, {
    stage,
    attempts,
    evidence: stage === 'after' ? own('evidence') : [],
    outbox: own('outbox_events'),
    entitlements: own('entitlements'),
    refunds: own('refunds'),
    overPayments: own('over_payments'),
    charges: gateways
      .flatMap(({ ledger }) => ledger)
      .filter(({ reference }) => references.has(reference))
      .map(({ reference, status, amount }) => ({ reference, status, ...amount })),
    requests: gateways.flatMap(({ keys, bodies }) =>
      [...references].flatMap((reference) => {
        const sent = keys.get(reference);
        return sent === undefined ? [] : [{ reference, keys: [...sent], bodies: [...(bodies.get(reference) ?? [])] }];
      }),
    ),
    workflow:
      execution === undefined
        ? null
        : { status: execution.status, strays: temporal.strays.filter((stray) => stray.startsWith(execution.id)) },
  });
}
