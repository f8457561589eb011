import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { approvalOf, createStandIn, startTestApi } from './support.ts';

const testDatabase = await createTestDatabase();
const purchases = createStandIn(testDatabase, async (_, order) => approvalOf(order));
const api = await startTestApi(testDatabase, { purchases });

/** A paid order that entitles to a download and to a licence. */
async function buy(entitlements = ['download', 'licence']): Promise<string> {
  const order = await api.createOrder({ entitlements });
  const paid = await api.pay(order);
  expect(paid.json()).toMatchObject({ status: 'paid' });
  return order.id;
}

function redeem(orderId: string, redeemer: string, kind = 'download') {
  const url = `/v1/orders/${orderId}/entitlements/${kind}/redeem`;
  return api.call({ method: 'POST', url, role: 'write', body: { redeemer } });
}

function revoke(orderId: string, reason: string, role: 'write' | 'operate' = 'operate') {
  const url = `/v1/orders/${orderId}/entitlements/download/revoke`;
  return api.call({ method: 'POST', url, role, body: { reason } });
}

describe('what an order entitles to', () => {
  test('is named when it is created, "order" if nothing is, and granted when it is paid', async () => {
    expect((await api.createOrder()).body).toMatchObject({ entitlements: ['order'] });
    const order = await api.createOrder({ entitlements: ['download', 'licence'] });
    const url = `/v1/orders/${order.id}/entitlements`;
    expect((await api.call({ url, role: 'read' })).json()).toEqual({ entitlements: [] });
    await api.pay(order);
    expect((await api.call({ url, role: 'read' })).json().entitlements).toMatchObject([
      { kind: 'download', redeemed_at: null, revoked_at: null },
      { kind: 'licence' },
    ]);
  });

  test.each([
    [[]],
    [['Download']],
    [['a', 'a']],
    [['a b']],
    ['download'],
    [Array.from({ length: 21 }, (_, n) => `k${n}`)],
  ])('cannot be %j', async (entitlements) => {
    const body = { amount: { minor_units: 1, currency: 'EUR' }, entitlements };
    const answer = await api.call({ method: 'POST', url: '/v1/orders', role: 'write', body });
    expect(answer.json()).toMatchObject({ status: 400, code: 'field_invalid' });
  });

  test('C08: is granted and told once, however often the customer pays', async () => {
    const order = await api.createOrder({ entitlements: ['credit'] });
    await Promise.all([api.pay(order), api.pay(order), api.pay(order)]);
    await api.pay(order);
    const granted = await api.call({ url: `/v1/orders/${order.id}/entitlements`, role: 'read' });
    expect(granted.json().entitlements).toHaveLength(1);
    const { events } = (await api.call({ url: `/v1/orders/${order.id}/events`, role: 'read' })).json();
    expect(events).toMatchObject([{ sequence: 1, kind: 'order.paid', data: { entitlements: ['credit'] } }]);
  });
});

describe('redeeming', () => {
  test('gives it to one, the same answer to a repeat of that one, and a refusal to all others', async () => {
    const orderId = await buy();
    const answers = await Promise.all(['a', 'b', 'c'].map((redeemer) => redeem(orderId, redeemer)));
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409, 409]);
    const winner = answers.find(({ statusCode }) => statusCode === 200)!.json();
    expect((await redeem(orderId, winner.redeemed_by)).json()).toEqual(winner);
    expect((await redeem(orderId, 'somebody else')).json()).toMatchObject({ code: 'entitlement_redeemed' });
    expect((await redeem(orderId, 'somebody else', 'licence')).statusCode).toBe(200);
  });

  test('finds nothing before the order is paid, and nothing that was not sold', async () => {
    const unpaid = await api.createOrder({ entitlements: ['download'] });
    expect((await redeem(unpaid.id, 'a')).json()).toMatchObject({ status: 404, code: 'entitlement_not_found' });
    expect((await redeem(await buy(), 'a', 'yacht')).json()).toMatchObject({ code: 'entitlement_not_found' });
  });
});

describe('taking back', () => {
  test('is told, says why, and ends redeeming', async () => {
    const orderId = await buy();
    expect((await revoke(orderId, 'The money went back.')).json()).toMatchObject({
      revoked_reason: 'The money went back.',
    });
    expect((await redeem(orderId, 'a')).json()).toMatchObject({ status: 409, code: 'entitlement_revoked' });
    const { events } = (await api.call({ url: `/v1/orders/${orderId}/events`, role: 'read' })).json();
    expect(events.map(({ kind }: { kind: string }) => kind)).toEqual(['order.paid', 'entitlement.revoked']);
  });

  test('is for operators, and never without a reason', async () => {
    const orderId = await buy();
    expect((await revoke(orderId, 'The money went back.', 'write')).statusCode).toBe(403);
    expect((await revoke(orderId, 'so')).json()).toMatchObject({ status: 400, code: 'field_invalid' });
  });
});

test('events and entitlements of an order that is not there are not found', async () => {
  const id = crypto.randomUUID();
  for (const part of ['events', 'entitlements']) {
    const answer = await api.call({ url: `/v1/orders/${id}/${part}`, role: 'read' });
    expect(answer.json()).toMatchObject({ status: 404, code: 'order_not_found' });
  }
});
