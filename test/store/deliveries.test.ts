import { describe, expect, test } from 'vitest';
import type { Database } from '../../store/database.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  countDeliveries,
  listDeliveries,
  listStuckDeliveries,
  recordDelivery,
} from '../../store/deliveries/deliveries.ts';
import { insertOutboxEvent, type OutboxEventKind } from '../../store/deliveries/outbox-events.ts';
import { replayEvents } from '../../store/deliveries/replays.ts';
import {
  disableEndpoint,
  findEndpoint,
  insertEndpoint,
  rotateSecret,
} from '../../store/deliveries/webhook-endpoints.ts';
import { createTestDatabase } from '../support/database.ts';
import { storeOrder } from '../support/rows.ts';

const AT = '2026-11-30T12:00:00.000Z';
const LEASE_END = '2026-11-30T12:01:00.000Z';
const LATER = '2026-11-30T12:05:00.000Z';

async function addEndpoint(database: Database, eventKinds: readonly OutboxEventKind[] | null = null): Promise<string> {
  const id = crypto.randomUUID();
  const secretHash = Buffer.alloc(32, 1);
  await insertEndpoint(database, { id, url: 'https://shop.example/hooks', eventKinds, secretHash, createdAt: AT });
  return id;
}

function tell(
  database: Database,
  orderId: string,
  { kind = 'order.paid', now = AT }: { readonly kind?: OutboxEventKind; readonly now?: string } = {},
): Promise<void> {
  return insertOutboxEvent(database, { orderId, attemptNumber: 1, kind, now });
}

function claim(database: Database, changes: Partial<Parameters<typeof claimDeliveries>[1]> = {}) {
  const all = { now: AT, leaseEndsAt: LEASE_END, limit: 10, perEndpoint: 10, busyEndpoints: [] };
  return claimDeliveries(database, { ...all, ...changes });
}

const kindsOf = (claimed: readonly ClaimedDelivery[]): string[] => claimed.map(({ kind }) => kind);

describe('an event', () => {
  test('is addressed once to each endpoint that is told of its kind, and to none that is disabled', async () => {
    const { database } = await createTestDatabase();
    const all = await addEndpoint(database);
    const refunds = await addEndpoint(database, ['refund.succeeded']);
    const gone = await addEndpoint(database);
    await disableEndpoint(database, { id: gone, reason: 'no longer used', now: AT });
    const orderId = await storeOrder(database);
    await tell(database, orderId);
    await tell(database, orderId);
    const claimed = await claim(database);
    expect(claimed).toHaveLength(1);
    expect(claimed[0]).toMatchObject({ endpointId: all, orderId, sequence: 1, kind: 'order.paid', tries: 1 });
    expect(claimed[0]?.payload).toMatchObject({ order_id: orderId, entitlements: ['order'] });
    expect(await listDeliveries(database, { endpointId: refunds, status: null, limit: 10 })).toEqual([]);
  });
});

describe('claiming', () => {
  test('a delivery is taken by one of two workers, and by another one when its lease has ended', async () => {
    const { database } = await createTestDatabase();
    await addEndpoint(database);
    await tell(database, await storeOrder(database));
    const takes = await Promise.all([claim(database), claim(database), claim(database)]);
    const [first] = takes.flat();
    expect(takes.flat()).toHaveLength(1);
    expect(await claim(database, { now: '2026-11-30T12:00:59.999Z' })).toEqual([]);
    const [second] = await claim(database, { now: LEASE_END, leaseEndsAt: LATER });
    expect(second).toMatchObject({ eventId: first?.eventId, tries: 2 });
    expect(second?.lease).not.toBe(first?.lease);
  });

  test('a worker that was away longer than its lease cannot write over the one that took its place', async () => {
    const { database } = await createTestDatabase();
    const endpointId = await addEndpoint(database);
    await tell(database, await storeOrder(database));
    const [zombie] = await claim(database);
    const [living] = await claim(database, { now: LEASE_END, leaseEndsAt: LATER });
    const delivered = { result: { status: 'delivered' }, answer: '204', now: LATER } as const;
    expect(await recordDelivery(database, living!, delivered)).toBe(true);
    const refused = { result: { status: 'pending', nextTryAt: LATER }, answer: '500', now: LATER } as const;
    expect(await recordDelivery(database, zombie!, refused)).toBe(false);
    const [row] = await listDeliveries(database, { endpointId, status: null, limit: 10 });
    expect(row).toMatchObject({ status: 'delivered', deliveredAt: LATER, lastAnswer: '204', nextTryAt: null });
  });

  test('a later event of an order waits for the earlier one, and no longer once that is parked', async () => {
    const { database } = await createTestDatabase();
    await addEndpoint(database);
    const [orderId, other] = [await storeOrder(database), await storeOrder(database)];
    await tell(database, orderId, { kind: 'order.failed' });
    await tell(database, orderId, { kind: 'order.paid' });
    await tell(database, other, { kind: 'order.expired' });
    const taken = await claim(database);
    expect(kindsOf(taken).sort()).toEqual(['order.expired', 'order.failed']);
    const earlier = taken.find(({ kind }) => kind === 'order.failed')!;
    const again = { result: { status: 'pending', nextTryAt: LATER }, answer: '500', now: AT } as const;
    await recordDelivery(database, earlier, again);
    expect(await claim(database)).toEqual([]);
    const retaken = await claim(database, { now: LATER });
    const retried = retaken.find(({ kind }) => kind === 'order.failed');
    const parked = { result: { status: 'parked', reason: 'given up' }, answer: '500', now: LATER } as const;
    await recordDelivery(database, retried!, parked);
    expect(kindsOf(await claim(database))).toEqual(['order.paid']);
  });

  test('of one endpoint no more are taken than it may have, so that it holds up nobody else', async () => {
    const { database } = await createTestDatabase();
    const slow = await addEndpoint(database, ['order.failed']);
    const quick = await addEndpoint(database, ['order.paid']);
    for (let count = 0; count < 4; count += 1)
      await tell(database, await storeOrder(database), { kind: 'order.failed' });
    await tell(database, await storeOrder(database), { kind: 'order.paid' });
    const first = await claim(database, { perEndpoint: 2 });
    expect(first.map(({ endpointId }) => endpointId).sort()).toEqual([slow, slow, quick].sort());
    expect(await claim(database, { busyEndpoints: [slow] })).toEqual([]);
    expect(await claim(database, { limit: 1 })).toHaveLength(1);
  });
});

describe('an endpoint', () => {
  test('that is disabled is told of nothing any more, and what waited for it is parked', async () => {
    const { database } = await createTestDatabase();
    const id = await addEndpoint(database);
    const [underWay, waiting] = [await storeOrder(database), await storeOrder(database)];
    await tell(database, underWay);
    const [taken] = await claim(database);
    await tell(database, waiting);
    expect(await disableEndpoint(database, { id, reason: 'moved away', now: LATER })).toBe(true);
    expect(await disableEndpoint(database, { id, reason: 'another reason', now: LATER })).toBe(true);
    expect(await findEndpoint(database, id)).toMatchObject({ disabledAt: LATER, disabledReason: 'moved away' });
    const [parked] = await listDeliveries(database, { endpointId: id, status: 'parked', limit: 10 });
    expect(parked).toMatchObject({ orderId: waiting, parkedReason: 'moved away' });
    // The one that was being sent may still say so.
    const said = { result: { status: 'delivered' }, answer: '200', now: LATER } as const;
    expect(await recordDelivery(database, taken!, said)).toBe(true);
    expect(await disableEndpoint(database, { id: crypto.randomUUID(), reason: 'nobody', now: LATER })).toBe(false);
  });

  test('gets one new secret from two rotations at once', async () => {
    const { database } = await createTestDatabase();
    const id = await addEndpoint(database);
    const next = { secretHash: Buffer.alloc(32, 2), previousUntil: LATER };
    const rotate = () => rotateSecret(database, { id, secretGeneration: 1 }, next);
    const rotated = (await Promise.all([rotate(), rotate()])).filter((endpoint) => endpoint !== undefined);
    expect(rotated).toHaveLength(1);
    expect(rotated[0]).toMatchObject({ secretGeneration: 2, previousSecretUntil: LATER });
  });
});

describe('a replay', () => {
  test('makes delivered and parked events due again, and those from before the endpoint was there', async () => {
    const { database } = await createTestDatabase();
    const orderId = await storeOrder(database);
    await tell(database, orderId, { kind: 'order.failed', now: AT });
    const endpointId = await addEndpoint(database);
    await tell(database, orderId, { kind: 'order.paid', now: LATER });
    const [paid] = await claim(database, { now: LATER });
    await recordDelivery(database, paid!, { result: { status: 'delivered' }, answer: '204', now: LATER });
    const range = { from: AT, to: '2026-12-01T00:00:00.000Z' };
    expect(await replayEvents(database, { endpointId, replay: range, now: LATER })).toBe(2);
    expect(await replayEvents(database, { endpointId, replay: range, now: LATER })).toBe(0);
    const [again] = await claim(database, { now: LATER });
    expect(again).toMatchObject({ kind: 'order.failed', tries: 1, triesSince: LATER });
    expect(await replayEvents(database, { endpointId, replay: { eventId: paid!.eventId }, now: LATER })).toBe(0);
    await recordDelivery(database, again!, { result: { status: 'delivered' }, answer: '204', now: LATER });
    const [repeated] = await claim(database, { now: LATER });
    expect(repeated).toMatchObject({ eventId: paid?.eventId, tries: 1 });
    expect(repeated?.payload).toEqual(paid?.payload);
  });

  test('of a range takes only kinds that the endpoint is told of, and the end of the range is not in it', async () => {
    const { database } = await createTestDatabase();
    const endpointId = await addEndpoint(database, ['order.paid']);
    const orderId = await storeOrder(database);
    await tell(database, orderId, { kind: 'order.failed', now: AT });
    await tell(database, orderId, { kind: 'order.paid', now: LATER });
    const [paid] = await claim(database, { now: LATER });
    await recordDelivery(database, paid!, { result: { status: 'delivered' }, answer: '204', now: LATER });
    expect(await replayEvents(database, { endpointId, replay: { from: AT, to: LATER }, now: LATER })).toBe(0);
    expect(await replayEvents(database, { endpointId, replay: { eventId: paid!.eventId }, now: LATER })).toBe(1);
    await disableEndpoint(database, { id: endpointId, reason: 'moved away', now: LATER });
    expect(await replayEvents(database, { endpointId, replay: { eventId: paid!.eventId }, now: LATER })).toBe(0);
  });
});

describe('what is stuck', () => {
  test('is what is long overdue and could be sent, and what was given up; both are counted', async () => {
    const { database } = await createTestDatabase();
    await addEndpoint(database);
    const [overdue, givenUp] = [await storeOrder(database), await storeOrder(database)];
    await tell(database, givenUp, { kind: 'order.failed' });
    const [taken] = await claim(database);
    await recordDelivery(database, taken!, {
      result: { status: 'parked', reason: 'given up' },
      answer: '500',
      now: AT,
    });
    await tell(database, overdue, { kind: 'order.failed' });
    await tell(database, overdue, { kind: 'order.paid' });
    const stuck = await listStuckDeliveries(database, { overdueSince: LATER, limit: 10 });
    expect(stuck.map(({ orderId, status, kind }) => ({ orderId, status, kind }))).toEqual([
      { orderId: givenUp, status: 'parked', kind: 'order.failed' },
      { orderId: overdue, status: 'pending', kind: 'order.failed' },
    ]);
    expect(await listStuckDeliveries(database, { overdueSince: AT, limit: 10 })).toHaveLength(1);
    expect(await countDeliveries(database)).toEqual({ pending: 2, parked: 1, oldestPendingAt: AT });
  });
});
