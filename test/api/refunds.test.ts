import { describe, expect, test } from 'vitest';
import { createApiKey } from '../../store/api-keys.ts';
import type { StartableRefund } from '../../workflows/refund-start.ts';
import { createTestDatabase } from '../support/database.ts';
import { approvalOf, claimAndSend, NO_PURCHASES, record, startTestApi } from './support.ts';

const testDatabase = await createTestDatabase();
const { database } = testDatabase;
const started: StartableRefund[] = [];
const refunds = {
  start: async (refund: StartableRefund) => void started.push(refund),
  ended: async () => undefined,
};
const api = await startTestApi(testDatabase, {
  purchases: NO_PURCHASES,
  refunds,
  settings: { refundApprovalLimits: { EUR: 1_000 } },
});
const first = (await createApiKey(database, { role: 'operate', name: 'first' })).key;
const second = (await createApiKey(database, { role: 'operate', name: 'second' })).key;

async function paidOrder(): Promise<string> {
  const { id } = await api.createOrder();
  await claimAndSend(database, { id }, { attemptNumber: 1, paymentMethod: 'tok', returnUrl: null });
  const order = { amount: { minorUnits: 1_999, currency: 'EUR' } } as const;
  await record(database, { id, attemptNumber: 1 }, approvalOf(order));
  return id;
}

function call(method: 'GET' | 'POST', url: string, options: { body?: object; key?: string; headers?: object } = {}) {
  const { body, key = first, headers = {} } = options;
  const sent = { authorization: `Bearer ${key}`, ...headers };
  return api.app.inject({ method, url, headers: sent, ...(body !== undefined && { payload: body }) });
}

const euro = (minorUnits: number) => ({ amount: { minor_units: minorUnits, currency: 'EUR' } });

describe('a refund by the API', () => {
  test('is stored, started once, told with its order, and repeated under its key', async () => {
    const id = await paidOrder();
    const headers = { 'idempotency-key': `refund-${id}` };
    const made = await call('POST', `/v1/orders/${id}/refunds`, { body: euro(500), headers });
    expect(made.statusCode, made.body).toBe(201);
    expect(made.json()).toMatchObject({ status: 'requested', waits_for: null, ...euro(500) });
    const repeated = await call('POST', `/v1/orders/${id}/refunds`, { body: euro(500), headers });
    expect(repeated.json()).toEqual(made.json());
    const refundId = made.json<{ id: string }>().id;
    expect(started.filter((refund) => refund.refundId === refundId)).toHaveLength(1);
    const list = await call('GET', `/v1/orders/${id}/refunds`);
    expect(list.json<{ refunds: unknown[] }>().refunds).toHaveLength(1);
    expect((await call('GET', `/v1/refunds/${refundId}`)).json()).toEqual(made.json());
    expect((await call('GET', `/v1/orders/${id}`)).json()).toMatchObject({ status: 'paid', refund_status: 'none' });
  });

  test('C73, C74: with other keys at once never exceeds what was captured', async () => {
    const id = await paidOrder();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => call('POST', `/v1/orders/${id}/refunds`, { body: euro(700) })),
    );
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, 201, ...Array<number>(18).fill(409)]);
    expect(answers.find(({ statusCode }) => statusCode === 409)?.json()).toMatchObject({
      code: 'refund_exceeds_captured',
    });
  });

  test('above the limit waits for a second key, which cannot be the first', async () => {
    const id = await paidOrder();
    const made = (await call('POST', `/v1/orders/${id}/refunds`, { body: {} })).json<{ id: string }>();
    expect(made).toMatchObject({ status: 'awaiting_approval', waits_for: 'approval', ...euro(1_999) });
    expect(started.some(({ refundId }) => refundId === made.id)).toBe(false);
    const approve = (key: string) => call('POST', `/v1/refunds/${made.id}/approve`, { key });
    expect((await approve(first)).json()).toMatchObject({ code: 'refund_approver_is_requester', status: 403 });
    expect((await approve(second)).json()).toMatchObject({ status: 'requested' });
    expect(started.some(({ refundId }) => refundId === made.id)).toBe(true);
  });

  test('that nothing was sent of can be taken back', async () => {
    const id = await paidOrder();
    const made = (await call('POST', `/v1/orders/${id}/refunds`, { body: euro(100) })).json<{ id: string }>();
    const withdrawn = await call('POST', `/v1/refunds/${made.id}/withdraw`);
    expect(withdrawn.json()).toMatchObject({ status: 'failed', failure_code: 'withdrawn' });
  });

  test.for([
    ['C79: of an order that is not paid', euro(100), 409, 'order_not_paid'],
    ['C63: in another currency', { amount: { minor_units: 100, currency: 'USD' } }, 422, 'refund_currency_mismatch'],
    ['C52: of no number', { amount: { minor_units: 'abc', currency: 'EUR' } }, 400, 'amount_invalid'],
    ['C52: of less than nothing', euro(-1), 400, 'amount_invalid'],
    ['C81: of a part of the smallest unit', euro(33.3333), 400, 'amount_invalid'],
    ['of more than there is', euro(2_000), 409, 'refund_exceeds_captured'],
  ] as const)('%s is refused', async ([what, body, status, code]) => {
    const id = what.startsWith('C79') ? (await api.createOrder()).id : await paidOrder();
    const answer = await call('POST', `/v1/orders/${id}/refunds`, { body });
    expect(answer.json()).toMatchObject({ status, code });
    expect((await call('GET', `/v1/orders/${id}/refunds`)).json()).toEqual({ refunds: [] });
  });

  test('needs a key that may operate', async () => {
    const { key } = await createApiKey(database, { role: 'write', name: 'shop' });
    const answer = await call('POST', `/v1/orders/${await paidOrder()}/refunds`, { body: {}, key });
    expect(answer.json()).toMatchObject({ code: 'role_insufficient' });
  });
});
