import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmbeddedStack } from '../../cli/embedded-stack.ts';
import { createTourLedger } from '../../cli/tour/ledger.ts';
import { createShop, type ShopOrder } from '../../cli/tour/shop.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import type { Stack } from '../../embedded/stack.ts';
import { createSimulatorControl } from '../../gateways/simulator/control.ts';
import { createDatabase } from '../../store/database.ts';
import { claimAttempt } from '../../store/orders/claims.ts';
import { putInReview } from '../../store/orders/reviews.ts';
import { waitUntil } from '../support/stack.ts';

/** Temporal's database file is deleted while orders stand in every state that is no end, and Postgres alone brings them back. */
const COMMAND = join(import.meta.dirname, '..', '..', 'cli', 'paidonce.mjs');
const WITHIN_MS = 60_000;
/** Hours away, so that before the loss nobody finds anything out. */
const PATIENT = { INQUIRY_SCHEDULE_SECONDS: '3600,7200' };
const folder = mkdtempSync(join(tmpdir(), 'paidonce-rebuild-'));
const orders: Record<string, ShopOrder> = {};
let stack: Stack;
let rebuilt: { readonly looked: number; readonly resumed: number };

const order = (state: string): ShopOrder => {
  const found = orders[state];
  if (found === undefined) throw new Error(`No order was brought to ${state}`);
  return found;
};

beforeAll(async () => {
  stack = await startEmbeddedStack({ dataFolder: folder, overrides: PATIENT });
  await bringAbout();
  await stack.killEverything();
  const temporal = join(folder, 'temporal');
  const files = readdirSync(temporal).filter((name) => name.startsWith('temporal.db'));
  expect(files).not.toEqual([]);
  for (const file of files) rmSync(join(temporal, file));
  stack = await startEmbeddedStack({ dataFolder: folder });
  rebuilt = await rebuild();
}, 180_000);

afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** One order in each state that is no end. */
async function bringAbout(): Promise<void> {
  const shop = createShop(stack.addresses.api, stack.developmentKey);
  const database = createDatabase({ url: stack.databaseUrl, poolSize: 1, applicationName: 'paidonce-test' });
  const begin = async (state: string, paymentMethod: string, status: string): Promise<ShopOrder> => {
    const created = await shop.createOrder();
    orders[state] = created;
    await shop.pay(created, { paymentMethod, waitSeconds: 0 });
    await shop.waitFor(created.id, [status], WITHIN_MS);
    return created;
  };
  orders.created = await shop.createOrder();
  orders.claimed = await shop.createOrder();
  const { id } = order('claimed');
  const request = { merchantReference: merchantReference(id, 1), paymentMethod: 'tok_ok', returnUrl: null };
  const claim = { orderId: id, attemptNumber: 1, run: 'a run that is gone', now: new Date().toISOString(), ...request };
  expect(await claimAttempt(database, claim)).toBe(true);
  await begin('pending', 'tok_pending_approved', 'processing');
  await begin('requires_action', 'tok_action', 'requires_action');
  await begin('unknown', 'tok_lost_answer', 'unknown');
  await begin('unknown and never arrived', 'tok_never_arrives', 'unknown');
  await begin('failed', 'tok_declined', 'failed');
  const { id: orderId } = await begin('in review', 'tok_lost_answer', 'unknown');
  await putInReview(database, { orderId, reason: 'Nobody knows.', now: new Date().toISOString() });
  orders.sent = await shop.createOrder();
  await shop.pay(orders.sent, { paymentMethod: 'tok_slow_20s', waitSeconds: 0 });
  await createTourLedger(stack.addresses.simulator).waitForCharge(orders.sent.id);
  await database.close();
  await shop.close();
}

async function rebuild(): Promise<{ readonly looked: number; readonly resumed: number }> {
  const env = { ...process.env, DATABASE_URL: stack.databaseUrl, TEMPORAL_ADDRESS: stack.addresses.temporal };
  const run = promisify(execFile)(process.execPath, [COMMAND, 'rebuild', '--json'], {
    env: { ...env, INQUIRY_SCHEDULE_SECONDS: '1,2,3,5,8,11,14,20,30' },
  });
  return JSON.parse((await run).stdout) as { looked: number; resumed: number };
}

async function expectPaidOnce(state: string): Promise<void> {
  const shop = createShop(stack.addresses.api, stack.developmentKey);
  try {
    const { id } = order(state);
    expect((await shop.waitFor(id, ['paid'], WITHIN_MS)).status).toBe('paid');
    expect(await createTourLedger(stack.addresses.simulator).charges(id)).toBe(1);
  } finally {
    await shop.close();
  }
}

describe("after the loss of Temporal's data", () => {
  test('every order in flight, and the one that waits for the customer, got its workflow back', () => {
    expect(rebuilt).toEqual({ looked: 8, resumed: 8 });
  });

  test('a second rebuild finds them running', async () => {
    expect((await rebuild()).resumed).toBe(0);
  });

  test.for(['claimed', 'sent', 'pending', 'unknown', 'unknown and never arrived', 'in review'])(
    'an order that was %s is paid, and charged once',
    (state) => expectPaidOnce(state),
  );

  test('an order that was requires_action is paid once the customer confirms', async () => {
    const control = createSimulatorControl(stack.addresses.simulator);
    const prefix = merchantReference(order('requires_action').id, 1);
    const [row] = await control.ledger({ prefix });
    await control.act(row?.gateway_references[0] ?? '', 'complete');
    await expectPaidOnce('requires_action');
  });

  test.for(['created', 'failed'])('an order that was %s can still be paid', async (state) => {
    const shop = createShop(stack.addresses.api, stack.developmentKey);
    const now = await shop.read(order(state).id);
    await shop.pay(now, { paymentMethod: 'tok_ok' });
    await shop.close();
    await expectPaidOnce(state);
  });

  test('the schedules are there again', async () => {
    const connection = await Connection.connect({ address: stack.addresses.temporal });
    const client = new Client({ connection });
    const ids: string[] = [];
    await waitUntil('the schedules', async () => {
      ids.length = 0;
      for await (const { scheduleId } of client.schedule.list()) ids.push(scheduleId);
      return ids.length >= 2;
    });
    expect(ids.sort()).toEqual(expect.arrayContaining(['expire-unpaid-orders', 'sweep']));
    await connection.close();
  });
});
