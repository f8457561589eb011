import { expect, test } from 'vitest';
import type { PurchaseStarter } from '../../api/purchases.ts';
import { CodedError } from '../../domain/errors.ts';
import { recordNews } from '../../store/orders/records.ts';
import { createTestDatabase } from '../support/database.ts';
import { claimAndSend, DECLINED, NO_PURCHASES, record, startTestApi, type TestApi } from './support.ts';

const testDatabase = await createTestDatabase();
const { database } = testDatabase;
const decision = { outcome: 'paid', operator: 'Ada', reason: 'seen on the bank statement' } as const;

/** Writes what the order's workflow would have its activity write. */
const settles: PurchaseStarter['settle'] = async (orderId, { operator, reason }) => {
  const recorded = await recordNews(database, {
    orderId,
    attemptNumber: 1,
    kind: 'operator_decision',
    outcome: {
      kind: 'approved',
      amount: { minorUnits: 1_999, currency: 'EUR' },
      raw: JSON.stringify({ operator, reason }),
    },
    now: new Date().toISOString(),
    onlyWhile: 'unknown',
  });
  return recorded.kind === 'applied' ? 'settled' : 'refused';
};

const api = await startTestApi(testDatabase, { purchases: { ...NO_PURCHASES, settle: settles } });
const refusing = await startTestApi(testDatabase, {
  purchases: { ...NO_PURCHASES, settle: () => Promise.resolve('refused'), resume: () => Promise.resolve('running') },
});

async function unknownOrder(): Promise<string> {
  const { id } = await api.createOrder();
  await claimAndSend(database, { id }, { attemptNumber: 1, paymentMethod: 'tok', returnUrl: null });
  await record(database, { id, attemptNumber: 1 }, { kind: 'unknown', reason: 'no answer', raw: '' });
  return id;
}

function decide(to: TestApi, id: string) {
  return to.call({ method: 'POST', url: `/v1/orders/${id}/decisions`, role: 'operate', body: decision });
}

test('an unknown order is settled, and who decided and why is its evidence', async () => {
  const id = await unknownOrder();
  const answer = await decide(api, id);
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toMatchObject({ id, status: 'paid', payment_token: null });
  const { evidence } = (await api.call({ url: `/v1/orders/${id}/evidence`, role: 'read' })).json();
  expect(evidence.at(-1)).toMatchObject({ kind: 'operator_decision', proves_order_status: 'paid' });
  expect(evidence.at(-1).detail).toContain('seen on the bank statement');
});

test('a second decision is refused with how the order stands', async () => {
  const id = await unknownOrder();
  await decide(api, id);
  const answer = await decide(api, id);
  expect(answer.statusCode).toBe(409);
  expect(answer.json()).toMatchObject({ code: 'order_not_unknown', detail: expect.stringContaining('paid') });
});

test('an order whose workflow takes no decision is refused with the reason', async () => {
  const answer = await decide(refusing, await unknownOrder());
  expect(answer.statusCode).toBe(409);
  expect(answer.json().detail).toContain('workflow is not running');
});

test('an order that does not exist answers 404', async () => {
  expect((await decide(api, '01920000-0000-7000-8000-000000000002')).json().code).toBe('order_not_found');
});

test('an order whose workflow was ended gets it back, and that one takes the decision', async () => {
  let runs = false;
  const purchases: PurchaseStarter = {
    ...NO_PURCHASES,
    settle: (orderId, made) => (runs ? settles(orderId, made) : Promise.resolve('refused')),
    resume: async () => {
      runs = true;
      return 'resumed';
    },
  };
  const resuming = await startTestApi(testDatabase, { purchases });
  expect((await decide(resuming, await unknownOrder())).json()).toMatchObject({ status: 'paid' });
});

test('while Temporal turns decisions away, it is told so with Retry-After', async () => {
  const settle = () => Promise.reject(new CodedError('temporal_unavailable'));
  const away = await startTestApi(testDatabase, { purchases: { ...NO_PURCHASES, settle } });
  const answer = await decide(away, await unknownOrder());
  expect(answer.statusCode).toBe(503);
  expect(answer.headers['retry-after']).toBe('5');
});

test('a failed order leaves the review pool by an operator, who is kept as evidence, and takes attempts again', async () => {
  const { id } = await api.createOrder();
  const review = { ...decision, outcome: 'reviewed' };
  const mark = () => api.call({ method: 'POST', url: `/v1/orders/${id}/decisions`, role: 'operate', body: review });
  expect((await mark()).json()).toMatchObject({ code: 'order_not_in_review' });
  await claimAndSend(database, { id }, { attemptNumber: 1, paymentMethod: 'tok', returnUrl: null });
  await record(database, { id, attemptNumber: 1 }, DECLINED);
  await database.query(`update orders set needs_review = true, review_reason = 'Money was seen.' where id = $1`, [id]);
  const answer = await mark();
  expect(answer.json()).toMatchObject({ status: 'failed', needs_review: false, payment_token: { attempt_number: 2 } });
  const { evidence } = (await api.call({ url: `/v1/orders/${id}/evidence`, role: 'read' })).json();
  expect(evidence.at(-1)).toMatchObject({ kind: 'operator_decision', proves_order_status: null });
  expect(evidence.at(-1).detail).toContain('Money was seen.');
  expect((await mark()).statusCode).toBe(409);
});
