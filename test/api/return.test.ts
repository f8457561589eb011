import { describe, expect, test } from 'vitest';
import { CodedError } from '../../domain/errors.ts';
import { createTestDatabase } from '../support/database.ts';
import {
  approvalOf,
  claimAndSend,
  createStandIn,
  NO_PURCHASES,
  PREVIOUS_SECRET,
  record,
  SECRET,
  startTestApi,
  type TestApi,
} from './support.ts';

const PUBLIC_URL = 'https://pay.shop.example';
const SHOP = 'https://shop.example/back?cart=a%20b&x=1';
const AMOUNT = { minorUnits: 1_999, currency: 'EUR' } as const;
const testDatabase = await createTestDatabase();
const { database } = testDatabase;
const asked: string[] = [];
const standIn = createStandIn(testDatabase, async () => undefined);
const purchases = { ...standIn, askNow: async (orderId: string) => void asked.push(orderId) };
const settings = { publicUrl: PUBLIC_URL, payWaitSeconds: 0 };
const api = await startTestApi(testDatabase, { purchases, settings });

/** The path of our link, as the gateway was given it. */
async function linkOf(order: { id: string; token: string }, on: TestApi = api, fields = {}): Promise<string> {
  await on.pay(order, fields);
  const sent = standIn.calls.at(-1)?.returnUrl ?? '';
  expect(sent.startsWith(`${PUBLIC_URL}/v1/orders/${order.id}/return?signature=`)).toBe(true);
  return sent.slice(PUBLIC_URL.length);
}

const requiresAction = (id: string) =>
  record(
    database,
    { id, attemptNumber: 1 },
    { kind: 'requires_action', action: { kind: 'redirect', url: 'https://bank.example/act' }, raw: 'act' },
  );
const asksFor = (id: string) => asked.filter((orderId) => orderId === id).length;

describe('a customer who comes back from the gateway', () => {
  test('is sent on to the shop once the order is paid, and the gateway is asked meanwhile', async () => {
    const order = await api.createOrder({ return_url: SHOP });
    const url = await linkOf(order);
    await requiresAction(order.id);
    const came = api.call({ url });
    await expect.poll(() => asksFor(order.id)).toBe(1);
    await record(database, { id: order.id, attemptNumber: 1 }, approvalOf({ amount: AMOUNT }));
    const answer = await came;
    expect(answer.statusCode).toBe(303);
    expect(answer.headers.location).toBe(`${SHOP}&order_id=${order.id}&order_status=paid`);
    expect(answer.headers['referrer-policy']).toBe('no-referrer');
    expect(answer.body).toBe('');
  });

  test('C20: twice at once asks once, and both are sent on alike', async () => {
    const order = await api.createOrder({ return_url: SHOP });
    const url = await linkOf(order);
    await requiresAction(order.id);
    const came = Array.from({ length: 10 }, () => api.call({ url }));
    await expect.poll(() => asksFor(order.id)).toBe(1);
    await record(database, { id: order.id, attemptNumber: 1 }, approvalOf({ amount: AMOUNT }));
    const answers = await Promise.all(came);
    expect(new Set(answers.map(({ headers }) => headers.location))).toEqual(
      new Set([`${SHOP}&order_id=${order.id}&order_status=paid`]),
    );
    expect(asksFor(order.id)).toBe(1);
    // Opened again when all is over: nobody is asked any more.
    expect((await api.call({ url })).statusCode).toBe(303);
    expect(asksFor(order.id)).toBe(1);
  });

  test('who is early waits a moment only, is asked for again meanwhile, and is told how it stands', async () => {
    const order = await api.createOrder({ return_url: 'https://shop.example/' });
    const url = await linkOf(order);
    await requiresAction(order.id);
    const answer = await api.call({ url: `${url}&gateway_says=${'x'.repeat(50)}` });
    expect(answer.headers.location).toBe(`https://shop.example/?order_id=${order.id}&order_status=requires_action`);
    expect(asksFor(order.id)).toBe(3);
  }, 15_000);

  test('while Temporal is away is sent on all the same', async () => {
    const away = { ...standIn, askNow: () => Promise.reject(new CodedError('temporal_unavailable')) };
    const lame = await startTestApi(testDatabase, { purchases: away, settings });
    const order = await lame.createOrder({ return_url: SHOP });
    const url = await linkOf(order, lame);
    const came = lame.call({ url });
    await record(database, { id: order.id, attemptNumber: 1 }, approvalOf({ amount: AMOUNT }));
    expect((await came).statusCode).toBe(303);
  });
});

describe('the link', () => {
  test('leads only where the shop has said with the order, whatever is asked for in it', async () => {
    const order = await api.createOrder({ return_url: SHOP });
    const url = await linkOf(order);
    await record(database, { id: order.id, attemptNumber: 1 }, approvalOf({ amount: AMOUNT }));
    for (const extra of ['&return_url=https://evil.example', '&order_status=x', '&to=//evil.example']) {
      const { headers } = await api.call({ url: `${url}${extra}` });
      expect(headers.location).toBe(`${SHOP}&order_id=${order.id}&order_status=paid`);
    }
  });

  test('is not made for an address that came with a pay: whoever pays could send others anywhere by it', async () => {
    const order = await api.createOrder({ return_url: SHOP });
    await api.pay(order, { return_url: 'https://evil.example/' });
    expect(standIn.calls.at(-1)?.returnUrl).toBe('https://evil.example/');
  });

  test('is made when the pay repeats the address of the order, and is the same at each call', async () => {
    const order = await api.createOrder({ return_url: SHOP });
    const url = await linkOf(order, api, { return_url: SHOP });
    expect(await linkOf(order)).toBe(url);
  });

  test('is not made without PUBLIC_URL, or where the order has no address', async () => {
    const bare = await startTestApi(testDatabase, { purchases, settings: { payWaitSeconds: 0 } });
    await bare.pay(await bare.createOrder({ return_url: SHOP }));
    expect(standIn.calls.at(-1)?.returnUrl).toBe(SHOP);
    await api.pay(await api.createOrder());
    expect(standIn.calls.at(-1)?.returnUrl).toBeNull();
  });

  test('with a wrong signature answers as for an order that is not there, and asks nobody', async () => {
    const [order, other] = [await api.createOrder({ return_url: SHOP }), await api.createOrder({ return_url: SHOP })];
    const url = await linkOf(order);
    const signature = url.split('signature=')[1]!;
    const absent = '01a22f0a-8316-760c-bf7a-6d6895e1c0dd';
    const wrong = [
      `/v1/orders/${other.id}/return?signature=${signature}`,
      `/v1/orders/${absent}/return?signature=${signature}`,
      `/v1/orders/${order.id}/return?signature=${signature.slice(0, -2)}`,
      `/v1/orders/${order.id}/return?signature=A`,
      `/v1/orders/${order.id}/return?signature=${order.token}`,
    ];
    for (const path of wrong) {
      const answer = await api.call({ url: path });
      expect(answer.statusCode).toBe(404);
      expect(answer.json()).toMatchObject({ code: 'order_not_found' });
    }
    expect((await api.call({ url: `/v1/orders/${order.id}/return` })).statusCode).toBe(400);
    expect([asksFor(order.id), asksFor(other.id)]).toEqual([0, 0]);
  });

  test('is believed after the secret was changed', async () => {
    const before = await startTestApi(testDatabase, {
      purchases,
      settings: { ...settings, paymentTokenSecrets: [PREVIOUS_SECRET] },
    });
    const order = await before.createOrder({ return_url: SHOP });
    const url = await linkOf(order, before);
    await claimAndSend(database, order, { attemptNumber: 1, paymentMethod: 'tok', returnUrl: null });
    await record(database, { id: order.id, attemptNumber: 1 }, approvalOf({ amount: AMOUNT }));
    expect((await api.call({ url })).statusCode).toBe(303);
    const after = await startTestApi(testDatabase, {
      purchases: NO_PURCHASES,
      settings: { ...settings, paymentTokenSecrets: [SECRET] },
    });
    expect((await after.call({ url })).statusCode).toBe(404);
  });
});
