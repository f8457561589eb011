import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Database, inTransaction } from '../../store/database.ts';
import { insertOutboxEvent, OUTBOX_EVENTS } from '../../store/deliveries/outbox-events.ts';
import { createTestDatabase } from '../support/database.ts';
import { storeOrder } from '../support/rows.ts';

const { database } = await createTestDatabase();
const NOW = '2026-11-30T12:00:00.000Z';

async function eventsOf(orderId: string): Promise<string[]> {
  const { rows } = await database.query<{ sequence: number; kind: string }>(
    'select sequence, kind from outbox_events where order_id = $1 order by sequence',
    [orderId],
  );
  return rows.map(({ sequence, kind }) => `${sequence} ${kind}`);
}

function tell(target: Pick<Database, 'query'>, event: Partial<Parameters<typeof insertOutboxEvent>[1]>): Promise<void> {
  const whole = { orderId: '', attemptNumber: 1, kind: 'order.failed', now: NOW, ...event } as const;
  return insertOutboxEvent(target, whole);
}

test('the kinds that the database takes are those that the code names', async () => {
  const { rows } = await database.query<{ kind: string }>('select kind from outbox_event_kinds');
  expect(rows.map(({ kind }) => kind).sort()).toEqual(Object.keys(OUTBOX_EVENTS).sort());
});

test('the events of an order are counted from 1 without a gap, and one that is told already uses up no number', async () => {
  const orderId = await storeOrder(database);
  await tell(database, { orderId });
  await tell(database, { orderId });
  await tell(database, { orderId, kind: 'order.paid' });
  await tell(database, { orderId, kind: 'order.paid', attemptNumber: 2 });
  expect(await eventsOf(orderId)).toEqual(['1 order.failed', '2 order.paid']);
});

test('several refunds of one order are several events', async () => {
  const orderId = await storeOrder(database);
  const first = { orderId, kind: 'refund.succeeded', attemptNumber: null, subjectId: crypto.randomUUID() } as const;
  await tell(database, first);
  await tell(database, { ...first, subjectId: crypto.randomUUID() });
  await tell(database, first);
  expect(await eventsOf(orderId)).toEqual(['1 refund.succeeded', '2 refund.succeeded']);
});

test('two transactions that tell news of one order at once take turns, and both are told', async () => {
  const orderId = await storeOrder(database);
  let second: Promise<void> | undefined;
  await inTransaction(database, async (transaction) => {
    await tell(transaction, { orderId });
    second ??= tell(database, { orderId, kind: 'order.needs_review' });
    await pause(50);
  });
  await second;
  expect(await eventsOf(orderId)).toEqual(['1 order.failed', '2 order.needs_review']);
});
