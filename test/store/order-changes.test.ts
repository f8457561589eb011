import { afterAll, expect, test } from 'vitest';
import { createDatabase, inTransaction } from '../../store/database.ts';
import { listenForOrderChanges, notifyOrderChanged } from '../../store/orders/order-changes.ts';
import { createTestDatabase } from '../support/database.ts';

const { database, url } = await createTestDatabase();

const APPLICATION = 'paidonce-test-listener';
const warnings: unknown[] = [];
const changes = listenForOrderChanges({
  url,
  applicationName: APPLICATION,
  log: { warn: (details) => warnings.push(details) },
});
afterAll(() => changes.close());
await changes.listening;

/** Longer than any test may take: a wait that ends was woken. */
const FOREVER_MS = 600_000;

/** Whether the wait is over by the next time that another notification has come through on the same connection. */
async function isOver(wait: Promise<void>): Promise<boolean> {
  let over = false;
  void wait.then(() => {
    over = true;
  });
  const marker = crypto.randomUUID();
  const seen = changes.waitForChange(marker, FOREVER_MS);
  await notifyOrderChanged(database, marker);
  await seen;
  return over;
}

test('a notification wakes everybody who waits for this order, and nobody else', async () => {
  const orderId = crypto.randomUUID();
  const waits = Array.from({ length: 50 }, () => changes.waitForChange(orderId, FOREVER_MS));
  const other = changes.waitForChange(crypto.randomUUID(), FOREVER_MS);
  await notifyOrderChanged(database, orderId);
  await Promise.all(waits);
  expect(await isOver(other)).toBe(false);
});

test('a notification comes with the commit and not before it', async () => {
  const orderId = crypto.randomUUID();
  const wait = changes.waitForChange(orderId, FOREVER_MS);
  await inTransaction(database, async (transaction) => {
    await notifyOrderChanged(transaction, orderId);
    expect(await isOver(wait)).toBe(false);
  });
  await wait;
});

test('a transaction that is rolled back notifies nobody', async () => {
  const orderId = crypto.randomUUID();
  const wait = changes.waitForChange(orderId, FOREVER_MS);
  const work = inTransaction(database, async (transaction) => {
    await notifyOrderChanged(transaction, orderId);
    throw new Error('on purpose');
  });
  await expect(work).rejects.toThrow('on purpose');
  expect(await isOver(wait)).toBe(false);
});

test('a wait for an order that does not change ends after its time', async () => {
  const before = performance.now();
  await changes.waitForChange(crypto.randomUUID(), 100);
  expect(performance.now() - before).toBeGreaterThanOrEqual(95);
});

test('a lost connection is replaced, and all who wait are woken when it is back', async () => {
  const first = changes.waitForChange(crypto.randomUUID(), FOREVER_MS);
  const second = changes.waitForChange(crypto.randomUUID(), FOREVER_MS);
  const { rowCount } = await database.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1',
    [APPLICATION],
  );
  expect(rowCount).toBe(1);
  await Promise.all([first, second]);
  expect(warnings).not.toEqual([]);

  const orderId = crypto.randomUUID();
  const wait = changes.waitForChange(orderId, FOREVER_MS);
  await notifyOrderChanged(database, orderId);
  await wait;
});

test('it listens as soon as the database is there, however long that takes', async () => {
  const name = `late_${crypto.randomUUID().replaceAll('-', '')}`;
  const late = Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const failures: unknown[] = [];
  const waiting = listenForOrderChanges({
    url: late,
    applicationName: 'late',
    log: { warn: (details) => failures.push(details) },
  });
  await expect.poll(() => failures.length).toBeGreaterThan(1);
  await database.query(`create database ${name}`);
  await waiting.listening;
  const orderId = crypto.randomUUID();
  const wait = waiting.waitForChange(orderId, FOREVER_MS);
  const there = createDatabase({ url: late, poolSize: 1, applicationName: 'there' });
  await notifyOrderChanged(there, orderId);
  await wait;
  await there.close();
  await waiting.close();
  await database.query(`drop database ${name}`);
});

test('closing ends every wait, and may come before the first connection', async () => {
  const listener = listenForOrderChanges({ url, applicationName: 'closing' });
  const early = listener.waitForChange(crypto.randomUUID(), FOREVER_MS);
  await listener.close();
  await early;

  const connected = listenForOrderChanges({ url, applicationName: 'closing' });
  await connected.listening;
  const wait = connected.waitForChange(crypto.randomUUID(), FOREVER_MS);
  await connected.close();
  await wait;
});
