import { describe, expect, test } from 'vitest';
import type { EvidenceKind } from '../../domain/evidence.ts';
import { money } from '../../domain/money.ts';
import { listEntitlements, redeemEntitlement, revokeEntitlement } from '../../store/deliveries/entitlements.ts';
import { listEvents } from '../../store/deliveries/outbox-events.ts';
import { recordNews } from '../../store/orders/records.ts';
import { createTestDatabase } from '../support/database.ts';
import { attemptRow, insertRow, moveAttempt, moveOrder, orderRow, storeOrder } from '../support/rows.ts';

const { database } = await createTestDatabase();
const AT = '2026-11-30T12:00:00.000Z';
const LATER = '2026-11-30T13:00:00.000Z';

/** An order whose first attempt was sent and is not answered yet. */
async function storeSent(entitlementKinds: readonly string[] = ['order']): Promise<string> {
  const order = orderRow({ entitlement_kinds: entitlementKinds });
  await insertRow(database, 'orders', order);
  await insertRow(database, 'payment_attempts', attemptRow(order.id, 1));
  await moveOrder(database, order.id, 'processing');
  await moveAttempt(database, order.id, 'sent');
  return order.id;
}

function approve(orderId: string, kind: EvidenceKind = 'webhook') {
  const outcome = { kind: 'approved', amount: money(1_999, 'EUR'), raw: 'approved' } as const;
  return recordNews(database, { orderId, attemptNumber: 1, kind, outcome, now: AT });
}

async function grantedTo(orderId: string): Promise<string[]> {
  return (await listEntitlements(database, orderId)).map(({ kind }) => kind);
}

async function eventsOf(orderId: string): Promise<string[]> {
  return (await listEvents(database, orderId)).map(({ kind }) => kind);
}

describe('what an order entitles to', () => {
  test('is granted when the order is paid, and nothing before', async () => {
    const orderId = await storeSent(['download', 'licence']);
    expect(await grantedTo(orderId)).toEqual([]);
    await approve(orderId);
    expect(await listEntitlements(database, orderId)).toMatchObject([
      { kind: 'download', grantedAt: AT, redeemedAt: null, revokedAt: null },
      { kind: 'licence' },
    ]);
  });

  test('C28, C18: granted and told once, when webhook, answer and inquiry bring the same news at once', async () => {
    const orderId = await storeSent(['download']);
    const news = ['webhook', 'gateway_response', 'webhook', 'inquiry'] as const;
    await Promise.all(news.map((kind) => approve(orderId, kind)));
    expect(await grantedTo(orderId)).toEqual(['download']);
    expect(await eventsOf(orderId)).toEqual(['order.paid']);
  });

  test('C38: a late repeat of the news changes nothing after it was taken back', async () => {
    const orderId = await storeSent(['download']);
    await approve(orderId);
    const key = { orderId, kind: 'download' };
    await revokeEntitlement(database, key, { reason: 'The money went back.', now: LATER });
    await approve(orderId);
    expect(await listEntitlements(database, orderId)).toMatchObject([{ kind: 'download', revokedAt: LATER }]);
    expect(await eventsOf(orderId)).toEqual(['order.paid', 'entitlement.revoked']);
  });

  test('C50: an order that is not paid entitles to nothing', async () => {
    for (const status of ['failed', 'expired', 'voided', 'unknown'] as const) {
      expect(await grantedTo(await storeOrder(database, status))).toEqual([]);
    }
  });
});

describe('redeeming', () => {
  test('uses an entitlement up once; of many at once one has it, and each is told who', async () => {
    const key = { orderId: await storeOrder(database, 'paid'), kind: 'order' };
    const redeemers = ['a', 'b', 'c', 'd', 'e'];
    const answers = await Promise.all(
      redeemers.map((redeemer) => redeemEntitlement(database, key, { redeemer, now: AT })),
    );
    expect(new Set(answers.map((entitlement) => entitlement?.redeemedBy)).size).toBe(1);
    expect(redeemers).toContain(answers[0]?.redeemedBy);
  });

  test('finds none where nothing was granted, and leaves alone what was taken back', async () => {
    const unpaid = { orderId: await storeOrder(database), kind: 'order' };
    expect(await redeemEntitlement(database, unpaid, { redeemer: 'a', now: AT })).toBeUndefined();
    const key = { orderId: await storeOrder(database, 'paid'), kind: 'order' };
    await revokeEntitlement(database, key, { reason: 'Sold by mistake.', now: AT });
    expect(await redeemEntitlement(database, key, { redeemer: 'a', now: LATER })).toMatchObject({
      redeemedBy: null,
      revokedReason: 'Sold by mistake.',
    });
  });
});

test('an entitlement is taken back once, with a reason and with news', async () => {
  const orderId = await storeOrder(database, 'paid');
  const key = { orderId, kind: 'order' };
  await redeemEntitlement(database, key, { redeemer: 'a', now: AT });
  const revoke = (reason: string) => revokeEntitlement(database, key, { reason, now: LATER });
  expect(await revoke('The money went back.')).toMatchObject({ revokedAt: LATER, redeemedBy: 'a' });
  expect(await revoke('Another reason.')).toMatchObject({ revokedReason: 'The money went back.' });
  const events = await listEvents(database, orderId);
  expect(events.map(({ kind, payload }) => [kind, payload.entitlement])).toEqual([
    ['entitlement.revoked', { kind: 'order', reason: 'The money went back.', redeemed: true }],
  ]);
  expect(await revokeEntitlement(database, { ...key, kind: 'yacht' }, { reason: 'None there.', now: AT })).toBe(
    undefined,
  );
});
