import { afterEach, describe, expect, test } from 'vitest';
import { closeBreaker, openBreaker } from '../../store/gateway-health.ts';
import { createTestDatabase } from '../support/database.ts';
import { createStandIn, DECLINED, startTestApi } from './support.ts';

const testDatabase = await createTestDatabase();
const { database } = testDatabase;
const standIn = createStandIn(testDatabase, async () => DECLINED);
const api = await startTestApi(testDatabase, { purchases: standIn });

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toISOString();
/** How old an API process lets its knowledge of a closed breaker become. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 1_100));

async function open(probeInSeconds: number): Promise<void> {
  await openBreaker(database, { gateway: 'simulator', now: inSeconds(0), probeAt: inSeconds(probeInSeconds) });
  await pause();
}

describe('while the breaker of a gateway is open', () => {
  afterEach(async () => {
    await closeBreaker(database, 'simulator', inSeconds(0));
  });

  test('a new charge is refused before anything is started, with Retry-After', async () => {
    await open(60);
    const order = await api.createOrder();
    const begun = standIn.calls.length;
    const answer = await api.pay(order);
    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toMatchObject({ code: 'gateway_unavailable', detail: expect.stringContaining('simulator') });
    expect(answer.headers['retry-after']).toBe('10');
    expect(standIn.calls).toHaveLength(begun);
    const read = await api.call({ url: `/v1/orders/${order.id}`, role: 'read' });
    expect(read.json()).toMatchObject({ status: 'created', attempt_number: 0 });
    expect((await api.call({ url: '/metrics' })).body).toContain(
      'paidonce_gateway_breaker_open{gateway="simulator"} 1',
    );
    await closeBreaker(database, 'simulator', inSeconds(0));
    expect((await api.pay(order)).json()).toMatchObject({ status: 'failed' });
  });

  test('of many new charges one is let through when the probe is due', async () => {
    await open(-1);
    const orders = await Promise.all(Array.from({ length: 8 }, () => api.createOrder()));
    const statuses = (await Promise.all(orders.map((order) => api.pay(order)))).map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 503)).toHaveLength(7);
  });

  test('a repeat of an attempt that was made before is answered as ever', async () => {
    const order = await api.createOrder();
    await api.pay(order);
    await open(60);
    expect((await api.pay(order)).json()).toMatchObject({ status: 'failed', attempt_number: 1 });
  });

  test('another gateway takes its orders', async () => {
    await open(60);
    const order = await api.createOrder({ gateway: 'odd-units' });
    expect((await api.pay(order)).statusCode).toBe(200);
  });
});

describe('fallback gateways', () => {
  test('are kept with the order', async () => {
    const { body } = await api.createOrder({ fallback_gateways: ['odd-units'] });
    expect(body).toMatchObject({ gateway: 'simulator', fallback_gateways: ['odd-units'] });
  });

  test.for([
    ['one that is not configured', ['nobody'], 'gateway_unknown'],
    ["the order's own", ['simulator'], 'field_invalid'],
    ['the same twice', ['odd-units', 'odd-units'], 'field_invalid'],
    ['too many', ['a', 'b', 'c', 'd'], 'field_invalid'],
  ] as const)('are refused at once: %s', async ([, fallback_gateways, code]) => {
    const body = { amount: { minor_units: 100, currency: 'EUR' }, fallback_gateways };
    const answer = await api.call({ method: 'POST', url: '/v1/orders', role: 'write', body });
    expect(answer.json().code).toBe(code);
  });

  test('must be able to take the amount', async () => {
    const body = { amount: { minor_units: 12_345, currency: 'HUF' }, fallback_gateways: ['odd-units'] };
    const answer = await api.call({ method: 'POST', url: '/v1/orders', role: 'write', body });
    expect(answer.json().code).toBe('currency_unsupported');
  });
});
