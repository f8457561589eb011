import { describe, expect, test } from 'vitest';
import { createCallsInFlight } from '../../activities/calls-in-flight.ts';
import { charge } from '../../activities/purchase/charge.ts';
import { claim } from '../../activities/purchase/claim.ts';
import { expire, expireUnpaidOrders, settle } from '../../activities/purchase/close.ts';
import type { Tools } from '../../activities/tools.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { claimAttempt } from '../../store/orders/claims.ts';
import { recordNews } from '../../store/orders/records.ts';
import { readPurchase } from '../../store/orders/standing.ts';
import { createTestDatabase } from '../support/database.ts';
import { insertRow, orderRow } from '../support/rows.ts';
import {
  ANSWER_LOST,
  CHARGES,
  createScriptedGateway,
  DECLINES,
  NEVER_ARRIVES,
  type ScriptedCharge,
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
      startRefund: () => Promise.reject(new Error('These tests refund nothing')),
      nudgeRefund: () => Promise.reject(new Error('These tests refund nothing')),
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

  test('C31: of claims for several attempts at once one lives, and a reader of the order finds just that one', async () => {
    const { tools } = createBench();
    const orderId = await createOrder();
    const numbers = [1, 2, 1, 3, 2, 1, 2, 1];
    await Promise.all(numbers.map((n, index) => claim(tools, { orderId, attempt: attempt(n), run: `run-${index}` })));
    const { rows } = await database.query('select attempt_number from payment_attempts where order_id = $1', [orderId]);
    expect(rows).toEqual([{ attempt_number: 1 }]);
    expect(await readPurchase(database, orderId)).toMatchObject({ orderStatus: 'processing', attemptNumber: 1 });
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

  test('C15, C70: our reference, the key and the bytes are on the row before the gateway hears of them', async () => {
    let row: unknown;
    const looks: ScriptedCharge = {
      moves: true,
      answers: async ({ merchantReference: reference }) => {
        const { rows } = await database.query(
          'select status, order_id, request_key, request_body from payment_attempts where merchant_reference = $1',
          [reference],
        );
        row = rows[0];
        return unknown('cut off');
      },
    };
    const { tools, gateway } = createBench(createScriptedGateway({ charges: [looks] }));
    const orderId = await createOrder();
    await claim(tools, { orderId, attempt: attempt(1), run: 'run-1' });
    await charge(tools, chargeCommand(orderId));
    const { requestKey: request_key, body: request_body } = gateway.requests[0] ?? {};
    expect(row).toEqual({ status: 'sent', order_id: orderId, request_key, request_body });
  });

  test('C10: the key is of the attempt: no other card, address or time in the request makes another', async () => {
    const { tools, gateway, passHours } = createBench(createScriptedGateway({ charges: [NEVER_ARRIVES] }));
    const orderId = await createOrder();
    const volatile = { paymentMethod: 'tok_encrypted_1', returnUrl: 'https://shop.example/?createdAt=T1' };
    await claim(tools, { orderId, attempt: { attemptNumber: 1, ...volatile }, run: 'run-1' });
    await charge(tools, chargeCommand(orderId));
    passHours(0.5);
    const again = { paymentMethod: 'tok_encrypted_2', returnUrl: 'https://shop.example/?createdAt=T2' };
    await claim(tools, { orderId, attempt: { attemptNumber: 1, ...again }, run: 'run-2' });
    await charge(tools, chargeCommand(orderId, 'run-2'));
    const key = merchantReference(orderId, 1);
    expect(gateway.requests.map(({ requestKey, body }) => [requestKey, body.includes('tok_encrypted_1')])).toEqual([
      [key, true],
    ]);
  });

  test('C24: "this key was used before" is no decline: nobody is told that the order failed', async () => {
    const { tools } = createBench(createScriptedGateway({ charges: [{ moves: false, answers: unknown('key used') }] }));
    const orderId = await createOrder();
    await claim(tools, { orderId, attempt: attempt(1), run: 'run-1' });
    expect(await charge(tools, chargeCommand(orderId))).toMatchObject({ orderStatus: 'unknown' });
    const { rows } = await database.query('select kind from outbox_events where order_id = $1', [orderId]);
    expect(rows).toEqual([]);
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

  test('that waited between its permission and the send ends no later than others believe it to', async () => {
    const limits: number[] = [];
    const gateway = createScriptedGateway();
    const noting: ScriptedGateway = {
      ...gateway,
      charge: (prepared, scope) => {
        limits.push(scope.timeoutMs);
        return gateway.charge(prepared, scope);
      },
    };
    const { tools } = createBench(noting);
    const orderId = await createOrder();
    await claim(tools, { orderId, attempt: attempt(1), run: 'run-1' });
    const late = { ...tools, clock: async () => new Date(Date.now() - 6_000) };
    await charge(late, chargeCommand(orderId));
    const allowed = gateway.capabilities.callTimeoutSeconds * 1_000;
    expect(limits).toHaveLength(1);
    expect(limits[0]).toBeLessThanOrEqual(allowed - 6_000);
    expect(limits[0]).toBeGreaterThan(0);
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

  test('C49: an order whose money may be there is never closed for its time, however long that is over', async () => {
    const { tools, passHours } = createBench(createScriptedGateway({ charges: [ANSWER_LOST] }));
    const [claimed, sent] = [await createOrder(), await createOrder()];
    await claim(tools, { orderId: claimed, attempt: attempt(1), run: 'run-1' });
    await claim(tools, { orderId: sent, attempt: attempt(1), run: 'run-1' });
    await charge(tools, chargeCommand(sent));
    passHours(1_000);
    while ((await expireUnpaidOrders(tools, { limit: 10 })) > 0);
    expect(await expire(tools, { orderId: sent })).toMatchObject({ orderStatus: 'unknown' });
    expect(await expire(tools, { orderId: claimed })).toMatchObject({ orderStatus: 'processing' });
  });

  test('C25: what was paid after the list was read is looked at again, and not closed', async () => {
    const { tools, passHours } = createBench();
    const orderId = await createOrder();
    const made = { merchantReference: merchantReference(orderId, 1), paymentMethod: 'tok', returnUrl: null };
    const step = { orderId, attemptNumber: 1, run: 'run-1', now: new Date().toISOString() };
    passHours(2);
    await database.withConnection(async (another) => {
      await another.query('begin');
      expect(await claimAttempt(another, { ...step, ...made })).toBe(true);
      // The list is read while the claim is not committed yet, so the order stands on it as one that nobody pays.
      const closing = expireUnpaidOrders(tools, { limit: 1_000 });
      await waitsForRow();
      await another.query('commit');
      expect(await closing).toBeGreaterThan(0);
    });
    expect(await readPurchase(database, orderId)).toMatchObject({ orderStatus: 'processing', attemptNumber: 1 });
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

/** Until a statement that wants an order's row stands behind the transaction that holds it. */
async function waitsForRow(): Promise<void> {
  const waiting = async () => {
    const { rows } = await database.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0]?.count;
  };
  await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
}

async function slowly<Result>(milliseconds: number, result: Result): Promise<Result> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  return result;
}
