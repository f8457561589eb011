import { describe, expect, test } from 'vitest';
import { createPaymentToken } from '../../api/payment-token.ts';
import type { PurchaseStarter } from '../../api/purchases.ts';
import { CodedError } from '../../domain/errors.ts';
import { expireOrder } from '../../store/orders/expiry.ts';
import { putInReview } from '../../store/orders/reviews.ts';
import { createTestDatabase } from '../support/database.ts';
import {
  approvalOf,
  claimAndSend,
  createStandIn,
  DECLINED,
  NO_PURCHASES,
  record,
  SECRET,
  startTestApi,
  type TestApi,
} from './support.ts';

/** The worker is a stand-in here that changes the same rows; the same questions on real Temporal are asked in test/end-to-end. */
const testDatabase = await createTestDatabase({ poolSize: 20 });
const { database } = testDatabase;

const APPROVES = createStandIn(testDatabase, async (_, order) => approvalOf(order));
const SILENT = createStandIn(testDatabase, async () => undefined);
const DECLINES_FIRST = createStandIn(testDatabase, async ({ attemptNumber }, order) =>
  attemptNumber === 1 ? DECLINED : approvalOf(order),
);

const approving = await startTestApi(testDatabase, { purchases: APPROVES });
const silent = await startTestApi(testDatabase, { purchases: SILENT, settings: { payWaitSeconds: 0.1 } });
const declining = await startTestApi(testDatabase, { purchases: DECLINES_FIRST });
const idle = await startTestApi(testDatabase, { purchases: NO_PURCHASES, settings: { payWaitSeconds: 0.1 } });

const AMOUNT = { minorUnits: 1_999, currency: 'EUR' } as const;
const METHOD = { paymentMethod: 'tok', returnUrl: null };

function startedBy(purchases: PurchaseStarter['pay']): Promise<TestApi> {
  return startTestApi(testDatabase, {
    purchases: { ...NO_PURCHASES, pay: purchases },
    settings: { payWaitSeconds: 2 },
  });
}

describe('paying', () => {
  test('answers 200 with the paid order, and no token for another attempt', async () => {
    const order = await approving.createOrder();
    const answer = await approving.pay(order);
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({
      id: order.id,
      status: 'paid',
      amount: { minor_units: 1_999, currency: 'EUR' },
      attempt_number: 1,
      decline: null,
      payment_token: null,
    });
    expect(answer.headers['retry-after']).toBeUndefined();
  });

  test('needs no API key, and tells the holder of a token nothing but the payment', async () => {
    const order = await approving.createOrder({
      shop_reference: 'secret of the shop',
      description: 'for the shop only',
    });
    const answer = await approving.pay(order);
    expect(answer.statusCode).toBe(200);
    expect(answer.body).not.toContain('of the shop');
    expect(answer.body).not.toContain('for the shop only');
  });

  test('an order that is paid is answered with no call to Temporal, however often', async () => {
    const order = await approving.createOrder();
    await approving.pay(order);
    const calls = APPROVES.calls.length;
    for (let repeat = 0; repeat < 5; repeat += 1) {
      expect((await approving.pay(order)).json()).toMatchObject({ status: 'paid', attempt_number: 1 });
    }
    expect(APPROVES.calls.length).toBe(calls);
  });

  test('fifty clicks at once make one attempt and get one answer', async () => {
    const order = await approving.createOrder();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, click) => approving.pay(order, { payment_method: `tok_${click}` })),
    );
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(50).fill(200));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    const { rows } = await database.query('select from payment_attempts where order_id = $1', [order.id]);
    expect(rows.length).toBe(1);
  });

  test("the shop's return address is used unless the payment names another", async () => {
    const order = await approving.createOrder({ return_url: 'https://shop.example/back' });
    await approving.pay(order);
    expect(APPROVES.calls.at(-1)).toEqual({
      attemptNumber: 1,
      paymentMethod: 'tok_visa',
      returnUrl: 'https://shop.example/back',
    });
    const other = await approving.createOrder({ return_url: 'https://shop.example/back' });
    await approving.pay(other, { return_url: 'https://shop.example/elsewhere' });
    expect(APPROVES.calls.at(-1)?.returnUrl).toBe('https://shop.example/elsewhere');
  });
});

describe('a decline', () => {
  test('is answered with its reason and a token for the next attempt, which can pay', async () => {
    const order = await declining.createOrder();
    const declined = await declining.pay(order);
    expect(declined.statusCode).toBe(200);
    expect(declined.json()).toMatchObject({
      status: 'failed',
      decline: { code: 'insufficient_funds', retriable: true },
      payment_token: { attempt_number: 2 },
    });
    const paid = await declining.pay({ id: order.id, token: declined.json().payment_token.token });
    expect(paid.json()).toMatchObject({ status: 'paid', attempt_number: 2, decline: null });
  });

  test('a repeat with the token of the declined attempt is told of the decline and charges nothing', async () => {
    const order = await declining.createOrder();
    const first = await declining.pay(order);
    const calls = DECLINES_FIRST.calls.length;
    const repeat = await declining.pay(order, { payment_method: 'tok_another_card' });
    expect(repeat.json()).toMatchObject({ status: 'failed', attempt_number: 1, decline: first.json().decline });
    expect(DECLINES_FIRST.calls.length).toBe(calls);
  });

  test('is no answer for the attempt after it, while that one is not yet claimed', async () => {
    const order = await idle.createOrder();
    await claimAndSend(database, order, { attemptNumber: 1, ...METHOD });
    await record(database, { ...order, attemptNumber: 1 }, DECLINED);
    const api = await startedBy(async () => 'attached');
    const next = (await idle.call({ url: `/v1/orders/${order.id}`, role: 'write' })).json().payment_token;
    const answer = await api.pay({ id: order.id, token: next.token }, { wait_seconds: 0.3 });
    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toMatchObject({ status: 'failed', attempt_number: 1, payment_token: null });
  });
});

describe('an outcome that is not known yet', () => {
  test('is 202 with where to look and when, and the same body shape', async () => {
    const order = await silent.createOrder();
    const answer = await silent.pay(order);
    expect(answer.statusCode).toBe(202);
    expect(answer.headers.location).toBe(`/v1/orders/${order.id}`);
    expect(answer.headers['retry-after']).toBe('1');
    expect(answer.json()).toMatchObject({ id: order.id, status: 'processing', attempt_number: 1, payment_token: null });
  });

  test('is waited for: whoever joins is answered as soon as the row is, and starts nothing', async () => {
    const order = await silent.createOrder();
    await silent.pay(order);
    const calls = SILENT.calls.length;
    const began = Date.now();
    const waiting = [silent.pay(order, { wait_seconds: 20 }), silent.pay(order, { wait_seconds: 20 })];
    setTimeout(() => void record(database, { ...order, attemptNumber: 1 }, approvalOf({ amount: AMOUNT })), 150);
    for (const answer of await Promise.all(waiting)) expect(answer.json()).toMatchObject({ status: 'paid' });
    expect(Date.now() - began).toBeLessThan(15_000);
    expect(SILENT.calls.length).toBe(calls);
  });

  test('an order in status unknown is not answered as failed', async () => {
    const order = await silent.createOrder();
    await silent.pay(order);
    await record(database, { ...order, attemptNumber: 1 }, { kind: 'unknown', reason: 'no answer', raw: '' });
    const answer = await silent.pay(order);
    expect(answer.statusCode).toBe(202);
    expect(answer.json().status).toBe('unknown');
  });

  test('a customer who has to act is answered with what to do', async () => {
    const order = await silent.createOrder();
    await silent.pay(order);
    const action = { kind: 'redirect', url: 'https://gateway.example/3ds' } as const;
    await record(database, { ...order, attemptNumber: 1 }, { kind: 'requires_action', action, raw: '' });
    const answer = await silent.pay(order);
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ status: 'requires_action', action, payment_token: null });
  });

  test('C20: a customer who comes back twice from the bank is told twice that it is paid, and starts nothing', async () => {
    const order = await silent.createOrder();
    await silent.pay(order);
    const action = { kind: 'redirect', url: 'https://gateway.example/3ds' } as const;
    await record(database, { ...order, attemptNumber: 1 }, { kind: 'requires_action', action, raw: '' });
    await record(database, { ...order, attemptNumber: 1 }, approvalOf({ amount: AMOUNT }));
    const calls = SILENT.calls.length;
    const answers = await Promise.all([1, 2].map(() => silent.pay(order)));
    for (const answer of answers) expect(answer.json()).toMatchObject({ status: 'paid', attempt_number: 1 });
    expect(SILENT.calls.length).toBe(calls);
  });

  test('attempts that were made without the customer answer for the token before them', async () => {
    const order = await silent.createOrder();
    await silent.pay(order);
    const gone = { kind: 'not_processed', declineCode: 'gateway_unreachable', reason: 'refused', raw: '' } as const;
    await record(database, { ...order, attemptNumber: 1 }, gone);
    await claimAndSend(database, order, { attemptNumber: 2, ...METHOD });
    await record(database, { ...order, attemptNumber: 2 }, approvalOf({ amount: AMOUNT }));
    expect((await silent.pay(order)).json()).toMatchObject({ status: 'paid', attempt_number: 2 });
  });
});

describe('an order that takes no attempt', () => {
  test('an expired one is answered as it is, with no call to Temporal', async () => {
    const order = await idle.createOrder();
    await database.query('update orders set expires_at = created_at where id = $1', [order.id]);
    await expireOrder(database, order.id, new Date().toISOString());
    const answer = await idle.pay(order);
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ status: 'expired', payment_token: null });
  });

  test('one whose time is over, but whose row does not say so yet, is refused with order_expired', async () => {
    const order = await idle.createOrder();
    await database.query('update orders set expires_at = created_at where id = $1', [order.id]);
    const answer = await idle.pay(order);
    expect(answer.statusCode).toBe(409);
    expect(answer.json().code).toBe('order_expired');
  });

  test('one with news that contradicts its decline gives out no token and takes none', async () => {
    const order = await idle.createOrder();
    await claimAndSend(database, order, { attemptNumber: 1, ...METHOD });
    await record(database, { ...order, attemptNumber: 1 }, DECLINED);
    const next = (await idle.call({ url: `/v1/orders/${order.id}`, role: 'write' })).json().payment_token;
    await record(database, { ...order, attemptNumber: 1 }, approvalOf({ amount: { ...AMOUNT, minorUnits: 2_000 } }));

    const read = (await idle.call({ url: `/v1/orders/${order.id}`, role: 'write' })).json();
    expect(read).toMatchObject({ status: 'failed', needs_review: true, payment_token: null });
    const answer = await idle.pay({ id: order.id, token: next.token });
    expect(answer.statusCode).toBe(409);
    expect(answer.json().code).toBe('order_not_payable');
  });

  test('one in review goes on being waited for', async () => {
    const order = await silent.createOrder();
    await silent.pay(order);
    await putInReview(database, { orderId: order.id, reason: 'the schedule is over', now: new Date().toISOString() });
    expect((await silent.pay(order)).statusCode).toBe(202);
  });

  test('a token that is ahead of the row, as after an old backup, is refused', async () => {
    const order = await idle.createOrder();
    const expiresAt = Math.floor(Date.now() / 1_000) + 600;
    const ahead = createPaymentToken({ orderId: order.id, attemptNumber: 3, expiresAt }, SECRET);
    const answer = await idle.pay({ id: order.id, token: ahead });
    expect(answer.statusCode).toBe(401);
    expect(answer.json().code).toBe('payment_token_invalid');
  });

  test('a token of an order that is gone answers 404', async () => {
    const id = '01920000-0000-7000-8000-000000000001';
    const expiresAt = Math.floor(Date.now() / 1_000) + 600;
    const token = createPaymentToken({ orderId: id, attemptNumber: 1, expiresAt }, SECRET);
    expect((await idle.pay({ id, token })).json().code).toBe('order_not_found');
  });

  test('one whose workflow ends again and again is refused with a sentence for the operator', async () => {
    const api = await startedBy(async () => 'over');
    const answer = await api.pay(await api.createOrder());
    expect(answer.statusCode).toBe(409);
    expect(answer.json()).toMatchObject({ code: 'order_not_payable', detail: expect.stringContaining('operator') });
  });

  test('one whose workflow ended together with the order is answered from the row', async () => {
    const api = await startedBy(async (order) => {
      await database.query('update orders set expires_at = created_at where id = $1', [order.id]);
      await expireOrder(database, order.id, new Date().toISOString());
      return 'over';
    });
    expect((await api.pay(await api.createOrder())).json()).toMatchObject({ status: 'expired' });
  });
});

describe('an attempt that nobody has written about for a while', () => {
  const asked: string[] = [];
  const resuming = startTestApi(testDatabase, {
    purchases: {
      ...createStandIn(testDatabase, async () => undefined),
      resume: async ({ id }) => {
        asked.push(id);
        return 'resumed';
      },
    },
    settings: { payWaitSeconds: 0 },
  });

  test('gets its workflow back when somebody asks for its answer, and only then', async () => {
    const api = await resuming;
    const order = await api.createOrder();
    await api.pay(order);
    expect((await api.pay(order)).statusCode).toBe(202);
    expect(asked).toEqual([]);
    await database.query(`update orders set updated_at = updated_at - interval '1 minute' where id = $1`, [order.id]);
    expect((await api.pay(order)).statusCode).toBe(202);
    expect(asked).toEqual([order.id]);
  });
});

describe('tokens', () => {
  test('wrong, expired and foreign tokens answer 401 with the field, and start nothing', async () => {
    const order = await idle.createOrder();
    const other = await idle.createOrder();
    const expired = createPaymentToken({ orderId: order.id, attemptNumber: 1, expiresAt: 1_000 }, SECRET);
    const cases = [
      ['nonsense', 'payment_token_invalid'],
      [other.token, 'payment_token_invalid'],
      [expired, 'payment_token_expired'],
    ] as const;
    for (const [token, code] of cases) {
      const answer = await idle.pay({ id: order.id, token });
      expect(answer.statusCode).toBe(401);
      expect(answer.json()).toMatchObject({ code, errors: [{ field: 'payment_token' }] });
      expect(answer.body).not.toContain(token);
    }
  });

  test('a token never outlives its order by more than a second', async () => {
    const order = await idle.createOrder({ expires_in_seconds: 30 });
    const { expires_at, payment_token } = order.body as { expires_at: string; payment_token: { expires_at: string } };
    expect(Date.parse(payment_token.expires_at) - Date.parse(expires_at)).toBeLessThanOrEqual(1_000);
  });
});

test('when Temporal is away pay answers 503 with Retry-After, and the order can be paid later', async () => {
  const api = await startedBy(async () => {
    throw new CodedError('temporal_unavailable');
  });
  const order = await api.createOrder();
  const answer = await api.pay(order);
  expect(answer.statusCode).toBe(503);
  expect(answer.headers['retry-after']).toBe('5');
  expect(answer.json().code).toBe('temporal_unavailable');
  expect((await approving.pay(order)).json()).toMatchObject({ status: 'paid', attempt_number: 1 });
});

test('a process that shuts down tells whoever waits "not yet" at once', async () => {
  const api = await startTestApi(testDatabase, { purchases: SILENT });
  const order = await api.createOrder();
  const began = Date.now();
  const waiting = api.pay(order, { wait_seconds: 30 });
  while (SILENT.calls.at(-1) === undefined || !(await isProcessing(order.id))) await new Promise(setImmediate);
  await api.app.close();
  expect((await waiting).statusCode).toBe(202);
  expect(Date.now() - began).toBeLessThan(10_000);
});

async function isProcessing(id: string): Promise<boolean> {
  const { rows } = await database.query<{ status: string }>('select status from orders where id = $1', [id]);
  return rows[0]?.status === 'processing';
}
