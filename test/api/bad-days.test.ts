import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { afterAll, describe, expect, test } from 'vitest';
import { createPurchaseStarter } from '../../api/purchases.ts';
import { createDatabase } from '../../store/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { approvalOf, countRows, createStandIn, NO_PURCHASES, startTestApi } from './support.ts';

const testDatabase = await createTestDatabase();
const { database } = testDatabase;
const purchases = createStandIn(testDatabase, async (_, order) => approvalOf(order));
const api = await startTestApi(testDatabase, { purchases });

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe('with the database away', async () => {
  const away = createDatabase({
    url: `postgres://nobody:none@127.0.0.1:${await closedPort()}/none`,
    poolSize: 2,
    applicationName: 'paidonce-test-away',
  });
  afterAll(() => away.close());
  const lame = await startTestApi(testDatabase, { purchases: NO_PURCHASES, database: away });

  test('every route that needs it answers 503 with Retry-After and a code', async () => {
    const order = await api.createOrder();
    const answers = [
      await lame.call({
        method: 'POST',
        url: '/v1/orders',
        role: 'write',
        body: { amount: { minor_units: 1, currency: 'EUR' } },
      }),
      await lame.call({ url: '/v1/orders', role: 'read' }),
      await lame.call({ url: `/v1/orders/${order.id}`, role: 'read' }),
      await lame.pay(order),
      await lame.pay(order, { wait_seconds: 0 }),
    ];
    for (const answer of answers) {
      expect(answer.statusCode).toBe(503);
      expect(answer.json()).toMatchObject({
        code: 'database_unavailable',
        detail: expect.stringContaining('nothing was written'),
      });
      expect(answer.headers['retry-after']).toBe('2');
      expect(answer.body).not.toMatch(/ECONNREFUSED|127\.0\.0\.1|none/);
    }
    expect(lame.logged()).toContain('ECONNREFUSED');
  });

  test('the process is alive but not ready, and says what is away', async () => {
    expect((await lame.call({ url: '/healthz' })).statusCode).toBe(200);
    const ready = await lame.call({ url: '/readyz' });
    expect(ready.statusCode).toBe(503);
    expect(ready.json()).toMatchObject({ code: 'database_unavailable', errors: [{ field: 'database' }] });
  });
});

describe('with Temporal away', async () => {
  const connection = Connection.lazy({ address: `127.0.0.1:${await closedPort()}` });
  afterAll(async () => {
    await starter.ended();
    await connection.close();
  });
  const settings = { handoverAfterMs: 3_000, inquiryScheduleSeconds: [5] };
  const starter = createPurchaseStarter({ client: new Client({ connection }), eager: false, settings });
  const lame = await startTestApi(testDatabase, { purchases: starter });

  test('pay answers 503 with Retry-After instead of waiting for it, writes nothing, and works when it is back', async () => {
    const order = await lame.createOrder();
    const before = await countRows(database);
    const began = Date.now();
    const answers = await Promise.all([lame.pay(order), lame.pay(order)]);
    expect(Date.now() - began).toBeLessThan(15_000);
    for (const answer of answers) {
      expect(answer.statusCode).toBe(503);
      expect(answer.json().code).toBe('temporal_unavailable');
      expect(answer.headers['retry-after']).toBe('5');
    }
    expect(await countRows(database)).toEqual(before);
    expect((await api.pay(order)).json()).toMatchObject({ status: 'paid', attempt_number: 1 });
    expect((await lame.pay(order)).json()).toMatchObject({ status: 'paid' });
  });

  test('orders can be made and read, and the process says that it is not ready', async () => {
    const order = await lame.createOrder();
    expect((await lame.call({ url: `/v1/orders/${order.id}`, role: 'read' })).statusCode).toBe(200);
    const ready = await lame.call({ url: '/readyz' });
    expect(ready.statusCode).toBe(503);
    expect(ready.json()).toMatchObject({ code: 'temporal_unavailable', errors: [{ field: 'temporal' }] });
  });
});

test('with everything there the process is ready, and its measurements can be read', async () => {
  expect((await api.call({ url: '/readyz' })).json()).toEqual({ status: 'ok', database: 'ok', temporal: 'ok' });
  const order = await api.createOrder();
  await api.pay(order);
  await api.pay(order);
  const metrics = await api.call({ url: '/metrics' });
  expect(metrics.headers['content-type']).toMatch(/^text\/plain/);
  expect(metrics.body).toMatch(/paidonce_pay_requests_total\{way="already_final"\} [1-9]/);
  expect(metrics.body).toContain('route="/v1/orders/:id/pay"');
  expect(metrics.body).not.toContain(order.id);
});

describe('on a real connection', async () => {
  const served = await startTestApi(testDatabase, { purchases });
  const address = new URL(await served.app.listen({ host: '127.0.0.1', port: 0 }));

  async function say(text: string): Promise<string> {
    const socket = connect(Number(address.port), '127.0.0.1');
    socket.end(text);
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    return answer;
  }

  test.each([
    'nonsense\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    `GET /healthz HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
  ])('what is not HTTP is answered with a problem', async (text) => {
    const answer = await say(text);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('Content-Type: application/problem+json');
    expect(answer).toContain('"code":"request_malformed"');
  });

  test('a body without an end is cut off at the limit', async () => {
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    const head = `POST /v1/orders HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${served.keys.write}\r\ncontent-type: application/json\r\n`;
    const answer = await say(`${head}transfer-encoding: chunked\r\n\r\n${chunk.repeat(8)}`);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('"code":"body_too_large"');
  });

  test('closing lets a running request finish', async () => {
    const order = await served.createOrder();
    const waiting = fetch(new URL(`/v1/orders/${order.id}/pay`, address), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ payment_token: order.token, payment_method: 'tok' }),
    });
    const calls = purchases.calls.length;
    while (purchases.calls.length === calls) await new Promise(setImmediate);
    await served.app.close();
    expect([200, 202]).toContain((await waiting).status);
  });
});
