import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { revokeApiKey } from '../../store/api-keys.ts';
import { createTestDatabase } from '../support/database.ts';
import { readDocument } from './document.ts';
import { countRows, NO_PURCHASES, startTestApi } from './support.ts';

const testDatabase = await createTestDatabase();
const { database } = testDatabase;
const api = await startTestApi(testDatabase, { purchases: NO_PURCHASES });
const { id } = await api.createOrder();
const { operations } = await readDocument(api.app);

const ROLES = ['read', 'write', 'operate'] as const;
/** The role that each route behind a key needs; a new route must be added here on purpose. */
const NEEDED: Readonly<Record<string, (typeof ROLES)[number]>> = {
  'POST /v1/orders': 'write',
  'GET /v1/orders': 'read',
  'GET /v1/orders/{id}': 'read',
  'GET /v1/orders/{id}/attempts': 'read',
  'GET /v1/orders/{id}/evidence': 'read',
  'POST /v1/orders/{id}/cancel': 'write',
  'POST /v1/orders/{id}/decisions': 'operate',
  'GET /v1/orders/{id}/entitlements': 'read',
  'POST /v1/orders/{id}/entitlements/{kind}/redeem': 'write',
  'POST /v1/orders/{id}/entitlements/{kind}/revoke': 'operate',
  'GET /v1/orders/{id}/events': 'read',
  'GET /v1/orders/{id}/refunds': 'read',
  'POST /v1/orders/{id}/refunds': 'operate',
  'GET /v1/refunds': 'read',
  'GET /v1/refunds/{id}': 'read',
  'POST /v1/refunds/{id}/approve': 'operate',
  'POST /v1/refunds/{id}/withdraw': 'operate',
  'GET /v1/inbox-events': 'operate',
  'POST /v1/inbox-events/{event_id}/replay': 'operate',
  'GET /v1/webhook-endpoints': 'operate',
  'POST /v1/webhook-endpoints': 'operate',
  'DELETE /v1/webhook-endpoints/{id}': 'operate',
  'GET /v1/webhook-endpoints/{id}/deliveries': 'operate',
  'POST /v1/webhook-endpoints/{id}/replays': 'operate',
  'POST /v1/webhook-endpoints/{id}/rotate-secret': 'operate',
};
const OPEN = [
  'POST /v1/orders/{id}/pay',
  'GET /v1/orders/{id}/return',
  'POST /v1/webhooks/{gateway}',
  'GET /healthz',
  'GET /readyz',
  'GET /metrics',
];

const closed = operations.filter(({ behindAKey }) => behindAKey);

test('every route of the description is behind a key, but for pay (by its token), the way back and webhooks (signed) and health', () => {
  expect(closed.map(({ name }) => name).sort()).toEqual(Object.keys(NEEDED).sort());
  expect(
    operations
      .filter(({ behindAKey }) => !behindAKey)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(OPEN.sort());
});

describe.each(closed)('$name', ({ name, method, path }) => {
  const request = {
    method,
    url: path.replace(/\{(id|event_id)\}/, id).replace('{kind}', 'order'),
    ...(method === 'POST' && { body: {} }),
  };
  const needed = NEEDED[name] ?? 'operate';

  test('no key: 401', async () => {
    const before = await countRows(database);
    const answer = await api.call(request);
    expect(answer.statusCode).toBe(401);
    expect(answer.json().code).toBe('credentials_missing');
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expect(await countRows(database)).toEqual(before);
  });

  test('wrong keys: 401', async () => {
    const never = `paidonce_operate_${randomBytes(32).toString('base64url')}`;
    const { operate } = api.keys;
    const wrong = [
      ...[`Bearer ${never}`, `Bearer ${operate.slice(0, -1)}`, `Bearer ${operate}x`, `Bearer  ${operate}`],
      ...[`Bearer ${operate.replace('operate', 'read')}`, `Basic ${operate}`, operate, 'Bearer', 'Bearer x', ''],
    ];
    for (const authorization of wrong) {
      const answer = await api.call({ ...request, headers: { authorization } });
      expect(answer.statusCode).toBe(401);
      expect(answer.json().code).toBe('credentials_invalid');
      expect(answer.body).not.toContain(operate);
    }
  });

  test.each(ROLES)('role %s: as far as it reaches', async (role) => {
    const answer = await api.call({ ...request, role });
    const isEnough = ROLES.indexOf(role) >= ROLES.indexOf(needed);
    expect(answer.statusCode === 403).toBe(!isEnough);
    if (!isEnough)
      expect(answer.json()).toMatchObject({ code: 'role_insufficient', detail: expect.stringContaining(needed) });
  });
});

test('a key is asked for before the body is read', async () => {
  const answer = await api.call({ method: 'POST', url: '/v1/orders', text: 'x'.repeat(200_000) });
  expect(answer.statusCode).toBe(401);
});

test('a revoked key opens nothing from the next request on', async () => {
  const other = await startTestApi(testDatabase, { purchases: NO_PURCHASES });
  expect((await other.call({ url: '/v1/orders', role: 'read' })).statusCode).toBe(200);
  const { rows } = await database.query<{ id: string }>('select id from api_keys order by created_at');
  for (const key of rows) await revokeApiKey(database, key.id);
  const answer = await other.call({ url: '/v1/orders', role: 'read' });
  expect(answer.statusCode).toBe(401);
  expect(answer.json().code).toBe('credentials_invalid');
});
