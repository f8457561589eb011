import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { observeDeliveries } from '../../process/delivery-gauges.ts';
import { createEndpointSecrets } from '../../process/endpoint-secrets.ts';
import { createLog } from '../../process/log.ts';
import { countDeliveries } from '../../store/deliveries/deliveries.ts';
import { insertOutboxEvent } from '../../store/deliveries/outbox-events.ts';
import { disableEndpoint, insertEndpoint } from '../../store/deliveries/webhook-endpoints.ts';
import { openDeliveries } from '../../worker/open-deliveries.ts';
import { createTestDatabase } from '../support/database.ts';
import { storeOrder } from '../support/rows.ts';

const MASTER = 'a master secret of at least thirty-two characters';
const OTHER = 'another master secret of thirty-two characters';
const AT = '2026-11-30T12:00:00.000Z';
const log = createLog('silent', 'test');

async function openWith(database: Parameters<typeof openDeliveries>[1], master?: string): Promise<string> {
  const config = { ALLOW_INTERNAL_WEBHOOKS: false, WEBHOOK_MASTER_SECRET: master };
  try {
    const deliveries = await openDeliveries(config, database, log);
    await deliveries.stop();
    return 'started';
  } catch (error) {
    return String(error);
  }
}

test('a worker starts only with the master secret that the endpoints were added with', async () => {
  const { database } = await createTestDatabase();
  expect(await openWith(database)).toBe('started');
  const id = crypto.randomUUID();
  const secretHash = createEndpointSecrets(MASTER).secretFor(id, 1).hash;
  await insertEndpoint(database, { id, url: 'https://shop.example/', eventKinds: null, secretHash, createdAt: AT });
  expect(await openWith(database, MASTER)).toBe('started');
  expect(await openWith(database)).toMatch('set WEBHOOK_MASTER_SECRET to the secret that they were added with');
  const refusal = await openWith(database, OTHER);
  expect(refusal).toMatch(`Webhook endpoint ${id} was added with another WEBHOOK_MASTER_SECRET`);
  expect(refusal).not.toContain(OTHER);
  await disableEndpoint(database, { id, reason: 'no longer used', now: AT });
  expect(await openWith(database)).toBe('started');
});

test('secrets differ by endpoint, by generation and by master secret, and are long enough', () => {
  const secrets = createEndpointSecrets(MASTER);
  const all = [
    secrets.secretFor('a', 1),
    secrets.secretFor('a', 2),
    secrets.secretFor('b', 1),
    createEndpointSecrets(OTHER).secretFor('a', 1),
  ];
  expect(new Set(all.map(({ text }) => text)).size).toBe(4);
  expect(all.every(({ bytes }) => bytes.length === 32)).toBe(true);
  expect(secrets.secretFor('a', 1).text).toBe(all[0]?.text);
});

test('the metrics tell how far deliveries lag behind, and go on without the database', async () => {
  const { database } = await createTestDatabase();
  const secretHash = Buffer.alloc(32);
  const id = crypto.randomUUID();
  await insertEndpoint(database, { id, url: 'https://shop.example/', eventKinds: null, secretHash, createdAt: AT });
  const orderId = await storeOrder(database);
  await insertOutboxEvent(database, { orderId, attemptNumber: 1, kind: 'order.paid', now: AT });
  const metrics = new Registry();
  observeDeliveries(metrics, () => countDeliveries(database));
  const text = await metrics.metrics();
  expect(text).toContain('paidonce_deliveries{status="pending"} 1');
  expect(text).toContain('paidonce_deliveries{status="parked"} 0');
  const age = Number(/^paidonce_deliveries_oldest_pending_seconds (\S+)$/m.exec(text)?.[1]);
  expect(Math.abs(age - (Date.now() - Date.parse(AT)) / 1_000)).toBeLessThan(60);

  const away = new Registry();
  observeDeliveries(away, () => Promise.reject(new Error('away')));
  expect(await away.metrics()).toMatch(/paidonce_deliveries_oldest_pending_seconds Nan/i);
});
