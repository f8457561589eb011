import { describe, expect, test } from 'vitest';
import { createCallsInFlight } from '../../activities/calls-in-flight.ts';
import { charge } from '../../activities/charge.ts';
import { claim } from '../../activities/claim.ts';
import { expire, expireUnpaidOrders, settle } from '../../activities/close.ts';
import type { Tools } from '../../activities/tools.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { recordNews } from '../../store/records.ts';
import { readPurchase } from '../../store/standing.ts';
import { createTestDatabase } from '../support/database.ts';
import { insertRow, orderRow } from '../support/rows.ts';
import {
  CHARGES,
  createScriptedGateway,
  DECLINES,
  type ScriptedGateway,
  unknown,
} from '../support/scripted-gateway.ts';
import { UNWATCHED } from '../support/unwatched.ts';

/** The steps of a purchase on real Postgres: each may run twice, at once or later, and has its effect once. */
const { database } = await createTestDatabase({ poolSize: 20 });
const HOUR_MS = 3_600_000;

interface Bench {
  readonly tools: Tools;
  readonly gateway: ScriptedGateway;
  readonly nudged: string[];
  /** Moves the clock of the steps; the machine's stays. */
  passHours(hours: number): void;
}

function createBench(gateway = createScriptedGateway()): Bench {
  let ahead = 0;
  const nudged: string[] = [];
  const quiet = (): undefined => undefined;
  return {
    gateway,
    nudged,
    passHours: (hours) => {
      ahead += hours * HOUR_MS;
    },
    tools: {
      database,
      gateways: { get: () => gateway },
      calls: createCallsInFlight(),
      clock: async () => new Date(Date.now() + ahead),
      resume: () => Promise.reject(new Error('These tests leave no order alone')),

      askNow: () => Promise.reject(new Error('These tests have no outage')),
      watch: UNWATCHED,
      nudge: async (orderId) => void nudged.push(orderId),
      log: { info: quiet, warn: quiet, error: quiet },
    },
  };
}

async function createOrder(hours = 1): Promise<string> {
  const order = orderRow({ gateway: 'scripted', expires_at: new Date(Date.now() + hours * HOUR_MS).toISOString() });
  await insertRow(database, 'orders', order);
  return order.id;
}

const attempt = (attemptNumber: number) => ({ attemptNumber, paymentMethod: 'tok', returnUrl: null });
const chargeCommand = (orderId: string, run = 'run-1') => ({
  orderId,
  attemptNumber: 1,
  run,
  handoverAfterMs: 5_000,
  anotherFollowsIfNotProcessed: false,
});

describe('claim', () => {
  test('C14: of 50 claims for one attempt at once one wins, and its own repeats count as won', async () => {
    const { tools } = createBench();
    const orderId = await createOrder();
    const claims = Array.from({ length: 50 }, () => claim(tools, { orderId, attempt: attempt(1), run: 'run-1' }));
    for (const answer of await Promise.all(claims)) expect(answer).toEqual({ kind: 'claimed' });
    const { rows } = await database.query('select from payment_attempts where order_id = $1', [orderId]);
    expect(rows).toHaveLength(1);
  });

  test('takes over what a vanished workflow claimed and never sent; the old run can send no more', async () => {
    const { tools, gateway } = createBench();
    const orderId = await createOrder();
    await claim(tools, { orderId, attempt: attempt(1), run: 'run-1' });
    expect(await claim(tools, { orderId, attempt: attempt(1), run: 'run-2' })).toEqual({ kind: 'claimed' });
    expect(await charge(tools, chargeCommand(orderId, 'run-1'))).toMatchObject({ attemptStatus: 'claimed' });
    expect(gateway.requests).toHaveLength(0);
    expect(await charge(tools, chargeCommand(orderId, 'run-2'))).toMatchObject({ orderStatus: 'paid' });
    expect([...gateway.ledger]).toEqual([[merchantReference(orderId, 1), 1]]);
  });

  test('is refused for an attempt that is not the next, after the end, and while one is alive', async () => {
    const { tools } = createBench();
    const orderId = await createOrder();
    expect(await claim(tools, { orderId, attempt: attempt(2), run: 'run-1' })).toMatchObject({ kind: 'refused' });
    await claim(tools, { orderId, attempt: attempt(1), run: 'run-1' });
    expect(await claim(tools, { orderId, attempt: attempt(2), run: 'run-1' })).toMatchObject({ kind: 'refused' });
    await charge(tools, chargeCommand(orderId));
    expect(await claim(tools, { orderId, attempt: attempt(2), run: 'run-1' })).toMatchObject({ kind: 'refused' });
    const again = await claim(tools, { orderId, attempt: attempt(1), run: 'run-9' });
    expect(again).toMatchObject({ kind: 'already_sent', standing: { orderStatus: 'paid' } });
  });

  test('is refused once the order has expired', async () => {
    const { tools, passHours } = createBench();
    const orderId = await createOrder();
    passHours(2);
    expect(await claim(tools, { orderId, attempt: attempt(1), run: 'run-1' })).toMatchObject({
      kind: 'refused',
      standing: { orderStatus: 'created' },
    });
  });
});

describe('review', () => {
  test('no further attempt is claimed while a person has to look at the order', async () => {
    const { tools } = createBench(createScriptedGateway({ charges: [DECLINES] }));
    const orderId = await createOrder();
    await claim(tools, { orderId, attempt: attempt(1), run: 'run-1' });
    await charge(tools, chargeCommand(orderId));
    const late = { kind: 'approved', amount: { minorUnits: 2_000, currency: 'EUR' }, raw: 'late' } as const;
    const now = new Date().toISOString();
    await recordNews(database, { orderId, attemptNumber: 1, kind: 'inquiry', outcome: late, now });
    expect(await readPurchase(database, orderId)).toMatchObject({ orderStatus: 'failed', needsReview: true });
    expect(await claim(tools, { orderId, attempt: attempt(2), run: 'run-1' })).toMatchObject({ kind: 'refused' });
  });
});

describe('charge', () => {
  test('run 20 times at once sends one request', async () => {
    const { tools, gateway } = createBench();
    const orderId = await createOrder();
    await claim(tools, { orderId, attempt: attempt(1), run: 'run-1' });
    await Promise.all(Array.from({ length: 20 }, () => charge(tools, chargeCommand(orderId))));
    expect(gateway.requests).toHaveLength(1);
    expect((await readPurchase(database, orderId)).orderStatus).toBe('paid');
  });

  test('of an order that expired while it waited sends nothing and closes the attempt', async () => {
    const { tools, gateway, passHours } = createBench();
    const orderId = await createOrder();
    await claim(tools, { orderId, attempt: attempt(1), run: 'run-1' });
    passHours(2);
    expect(await charge(tools, chargeCommand(orderId))).toMatchObject({
      orderStatus: 'failed',
      attemptStatus: 'not_processed',
      provenBy: 'never_sent',
    });
    expect(gateway.requests).toHaveLength(0);
    expect(await expire(tools, { orderId })).toMatchObject({ orderStatus: 'expired' });
  });

  test('that cannot be put into a request fails the order without sending', async () => {
    const gateway = createScriptedGateway();
    const broken: ScriptedGateway = {
      ...gateway,
      prepareCharge: () => {
        throw new Error('the amount does not fit');
      },
    };
    const { tools } = createBench(broken);
    const orderId = await createOrder();
    await claim(tools, { orderId, attempt: attempt(1), run: 'run-1' });
    expect(await charge(tools, chargeCommand(orderId))).toMatchObject({ orderStatus: 'failed' });
    expect(gateway.requests).toHaveLength(0);
  });

  test('hands a slow call over, and tells the workflow when its answer is on the row', async () => {
    const slow = { moves: true, answers: async () => slowly(300, unknown('cut off')) };
    const { tools, nudged } = createBench(createScriptedGateway({ charges: [slow] }));
    const orderId = await createOrder();
    await claim(tools, { orderId, attempt: attempt(1), run: 'run-1' });
    expect(await charge(tools, { ...chargeCommand(orderId), handoverAfterMs: 20 })).toMatchObject({
      attemptStatus: 'sent',
    });
    expect(nudged).toEqual([]);
    await tools.calls.drain();
    expect(nudged).toEqual([orderId]);
    expect((await readPurchase(database, orderId)).orderStatus).toBe('unknown');
  });

  test('that stood still between its permission and the send does not send any more', async () => {
    const { tools, gateway } = createBench();
    const orderId = await createOrder();
    await claim(tools, { orderId, attempt: attempt(1), run: 'run-1' });
    const stoodStill = { ...tools, clock: async () => new Date(Date.now() - 11_000) };
    await charge(stoodStill, chargeCommand(orderId));
    expect(gateway.requests).toHaveLength(0);
    expect((await readPurchase(database, orderId)).orderStatus).toBe('unknown');
  });
});

describe('the end of an order', () => {
  test('C37: news about attempt 1 never touches an order that attempt 2 has paid', async () => {
    const { tools } = createBench(createScriptedGateway({ charges: [DECLINES, CHARGES] }));
    const orderId = await createOrder();
    await claim(tools, { orderId, attempt: attempt(1), run: 'run-1' });
    await charge(tools, chargeCommand(orderId));
    await claim(tools, { orderId, attempt: attempt(2), run: 'run-1' });
    await charge(tools, { ...chargeCommand(orderId), attemptNumber: 2 });
    expect(await charge(tools, chargeCommand(orderId))).toMatchObject({ orderStatus: 'paid' });
    expect(await expire(tools, { orderId })).toMatchObject({ orderStatus: 'paid' });
  });

  test('an operator’s decision that ran often, at once and later, is one decision; a second, other one is refused', async () => {
    const lost = { moves: true, answers: unknown('cut off') };
    const { tools } = createBench(createScriptedGateway({ charges: [lost] }));
    const orderId = await createOrder();
    await claim(tools, { orderId, attempt: attempt(1), run: 'run-1' });
    await charge(tools, chargeCommand(orderId));
    const decision = { outcome: 'paid', operator: 'night shift', reason: 'seen on the statement' } as const;
    const atOnce = Array.from({ length: 10 }, () => settle(tools, { orderId, decision }));
    for (const standing of await Promise.all(atOnce)) expect(standing).toMatchObject({ orderStatus: 'paid' });
    expect(await settle(tools, { orderId, decision })).toMatchObject({ orderStatus: 'paid' });
    await expect(settle(tools, { orderId, decision: { ...decision, outcome: 'failed' } })).rejects.toThrow(
      /not unknown/,
    );
    const { rows } = await database.query('select from outbox_events where order_id = $1', [orderId]);
    expect(rows).toHaveLength(1);
  });

  test('orders that nobody tried to pay are closed in batches, and only those whose time is over', async () => {
    const { tools, passHours } = createBench();
    const orderIds = await Promise.all(Array.from({ length: 5 }, () => createOrder()));
    const paid = await createOrder();
    await claim(tools, { orderId: paid, attempt: attempt(1), run: 'run-1' });
    await charge(tools, chargeCommand(paid));
    passHours(2);
    const early = await createOrder(10);
    while ((await expireUnpaidOrders(tools, { limit: 2 })) > 0);
    for (const orderId of orderIds) {
      expect(await readPurchase(database, orderId)).toMatchObject({ orderStatus: 'expired', provenBy: 'never_sent' });
    }
    expect((await readPurchase(database, paid)).orderStatus).toBe('paid');
    expect((await readPurchase(database, early)).orderStatus).toBe('created');
  });
});

async function slowly<Result>(milliseconds: number, result: Result): Promise<Result> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  return result;
}
