import { describe, expect, test } from 'vitest';
import { readSigningSecret } from '../../gateways/standard-webhooks.ts';
import { insertOutboxEvent } from '../../store/deliveries/outbox-events.ts';
import { createTestDatabase } from '../support/database.ts';
import { NO_PURCHASES, startTestApi } from './support.ts';

const testDatabase = await createTestDatabase();
const { database } = testDatabase;
const api = await startTestApi(testDatabase, { purchases: NO_PURCHASES });

interface Endpoint {
  readonly id: string;
  readonly secret: string;
}

async function add(body: Record<string, unknown> = {}): Promise<Endpoint> {
  const answer = await post('/v1/webhook-endpoints', { url: 'https://shop.example/hooks', ...body });
  expect(answer.statusCode).toBe(201);
  return answer.json<Endpoint>();
}

function post(url: string, body: unknown) {
  return api.call({ method: 'POST', url, role: 'operate', body });
}

function get(url: string) {
  return api.call({ url, role: 'operate' });
}

async function tell(kind: 'order.paid' | 'order.failed' = 'order.paid'): Promise<string> {
  const { id: orderId } = await api.createOrder();
  await insertOutboxEvent(database, { orderId, attemptNumber: 1, kind, now: new Date().toISOString() });
  return orderId;
}

describe('adding an endpoint', () => {
  test('shows its secret once, in the form of Standard Webhooks, and stores and logs it nowhere', async () => {
    const { id, secret } = await add({ event_kinds: ['order.paid'] });
    expect(() => readSigningSecret(secret, 'the secret')).not.toThrow();
    const list = await get('/v1/webhook-endpoints');
    expect(list.json().webhook_endpoints.find((listed: Endpoint) => listed.id === id)).toMatchObject({
      ...{ id, url: 'https://shop.example/hooks', event_kinds: ['order.paid'] },
      ...{ secret_generation: 1, previous_secret_until: null, disabled_at: null },
    });
    const bare = secret.slice('whsec_'.length);
    const { rows } = await database.query<{ text: string }>(
      'select webhook_endpoints::text as text from webhook_endpoints',
    );
    for (const kept of [list.body, api.logged(), JSON.stringify(rows)]) expect(kept).not.toContain(bare);
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(bare, 'base64').toString('hex'));
  });

  test('gives each endpoint a secret of its own', async () => {
    expect((await add()).secret).not.toBe((await add()).secret);
  });

  test.each([
    ['http://shop.example/', 'https://'],
    ['https://127.0.0.1/', 'internal network'],
    ['https://2130706433/', 'internal network'],
    ['https://[::ffff:169.254.169.254]/latest', 'internal network'],
    ['https://inside.example/', 'internal network'],
    ['https://unknown.example/', 'no address'],
    ['https://user:word@shop.example/', 'user name'],
    ['shop.example', 'not a web address'],
  ])('refuses %s', async (url, reason) => {
    const answer = await post('/v1/webhook-endpoints', { url });
    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toMatchObject({ code: 'webhook_url_refused', errors: [{ field: 'url' }] });
    expect(answer.json().detail).toMatch(reason);
  });

  test('refuses kinds that there are not, and none', async () => {
    for (const kinds of [['order.lost'], []]) {
      const answer = await post('/v1/webhook-endpoints', { url: 'https://shop.example/', event_kinds: kinds });
      expect(answer.json()).toMatchObject({ status: 400, code: 'field_invalid' });
    }
  });

  test('is for operators', async () => {
    for (const role of ['read', 'write'] as const) {
      const answer = await api.call({ url: '/v1/webhook-endpoints', role });
      expect(answer.json()).toMatchObject({ status: 403, code: 'role_insufficient' });
    }
  });
});

describe('an endpoint', () => {
  test('gets a new secret; the one before signs on for as long as is said', async () => {
    const { id, secret } = await add();
    const rotated = await post(`/v1/webhook-endpoints/${id}/rotate-secret`, { overlap_seconds: 60 });
    expect(rotated.json()).toMatchObject({ id, secret_generation: 2 });
    expect(rotated.json().secret).not.toBe(secret);
    const until = Date.parse(rotated.json().previous_secret_until) - Date.now();
    expect(until).toBeGreaterThan(50_000);
    expect(until).toBeLessThanOrEqual(60_000);
  });

  test('that is removed stays in the list, disabled, and takes no rotation and no replay', async () => {
    const { id } = await add();
    const orderId = await tell();
    const removed = await api.call({ method: 'DELETE', url: `/v1/webhook-endpoints/${id}`, role: 'operate' });
    expect(removed.json()).toMatchObject({ id, disabled_reason: 'Removed by an operator.' });
    const parked = await get(`/v1/webhook-endpoints/${id}/deliveries?status=parked`);
    expect(parked.json().deliveries).toMatchObject([{ order_id: orderId, parked_reason: 'Removed by an operator.' }]);
    for (const [route, body] of [
      ['rotate-secret', {}],
      ['replays', { event_id: crypto.randomUUID() }],
    ] as const) {
      const answer = await post(`/v1/webhook-endpoints/${id}/${route}`, body);
      expect(answer.json()).toMatchObject({ status: 409, code: 'webhook_endpoint_disabled' });
    }
  });

  test('shows what it is to be told, and is told of the past when asked to', async () => {
    const { id: before } = await add();
    const orderId = await tell('order.failed');
    const shown = await get(`/v1/webhook-endpoints/${before}/deliveries`);
    expect(shown.json().deliveries[0]).toMatchObject({
      ...{ order_id: orderId, sequence: 1, kind: 'order.failed' },
      ...{ status: 'pending', tries: 0, last_answer: null },
    });
    const eventId = shown.json().deliveries[0].event_id;
    const { id: later } = await add({ event_kinds: ['order.failed'] });
    const replays = `/v1/webhook-endpoints/${later}/replays`;
    expect((await post(replays, { event_id: eventId })).json()).toEqual({ replayed: 1 });
    expect((await post(replays, { event_id: eventId })).json()).toEqual({ replayed: 0 });
    const range = { from: '2000-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
    expect((await post(`/v1/webhook-endpoints/${(await add()).id}/replays`, range)).json().replayed).toBeGreaterThan(0);
  });

  test.each([{}, { from: '2026-11-30T12:00:00Z' }, { event_id: crypto.randomUUID(), to: '2026-11-30T12:00:00Z' }])(
    'is replayed nothing for %j',
    async (body) => {
      const answer = await post(`/v1/webhook-endpoints/${(await add()).id}/replays`, body);
      expect(answer.json()).toMatchObject({ status: 400, code: 'field_invalid' });
    },
  );

  test('that is not there is not found', async () => {
    const url = `/v1/webhook-endpoints/${crypto.randomUUID()}`;
    const answers = [
      await api.call({ method: 'DELETE', url, role: 'operate' }),
      await get(`${url}/deliveries`),
      await post(`${url}/rotate-secret`, {}),
      await post(`${url}/replays`, { event_id: crypto.randomUUID() }),
    ];
    for (const answer of answers) expect(answer.json()).toMatchObject({ code: 'webhook_endpoint_not_found' });
  });
});

test('without a master secret no endpoint can be added', async () => {
  const endpoints = { secrets: null, addresses: { allowInternal: true }, overlapSeconds: 0 };
  const bare = await startTestApi(testDatabase, { purchases: NO_PURCHASES, endpoints });
  const body = { url: 'https://shop.example/' };
  const answer = await bare.call({ method: 'POST', url: '/v1/webhook-endpoints', role: 'operate', body });
  expect(answer.json()).toMatchObject({ status: 503, code: 'webhook_secret_unfit' });
});
