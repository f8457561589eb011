import { describe, expect, test } from 'vitest';
import { merchantReference } from '../../domain/merchant-reference.ts';
import type { GatewayOutcome } from '../../domain/outcome.ts';
import { carryOutCancel, requestCancel } from '../../store/orders/cancellation.ts';
import { claimAttempt } from '../../store/orders/claims.ts';
import { expireOrder } from '../../store/orders/expiry.ts';
import { recordNews } from '../../store/orders/records.ts';
import { markSent } from '../../store/orders/sends.ts';
import { readPurchase } from '../../store/orders/standing.ts';
import { createTestDatabase } from '../support/database.ts';
import { insertRow, orderRow } from '../support/rows.ts';

const { database } = await createTestDatabase({ poolSize: 20 });
const NOW = '2026-11-30T12:30:00.000Z';
const LATER = '2026-12-02T12:00:00.000Z';
const REASON = 'The customer changed their mind.';
const DECLINED: GatewayOutcome = { kind: 'declined', decline: { code: 'card_declined', retriable: true }, raw: 'no' };
const APPROVED: GatewayOutcome = { kind: 'approved', amount: { minorUnits: 1_999, currency: 'EUR' }, raw: 'yes' };

async function newOrder(): Promise<string> {
  const row = orderRow();
  await insertRow(database, 'orders', row);
  return row.id;
}

function claim(orderId: string, attemptNumber = 1): Promise<boolean> {
  const reference = merchantReference(orderId, attemptNumber);
  const attempt = { orderId, attemptNumber, run: 'run-1', merchantReference: reference };
  return claimAttempt(database, { ...attempt, paymentMethod: 'tok', returnUrl: null, now: NOW });
}

async function send(orderId: string, attemptNumber = 1): Promise<void> {
  const request = { requestKey: merchantReference(orderId, attemptNumber), requestBody: '{}' };
  await markSent(database, { orderId, attemptNumber, run: 'run-1', ...request, now: NOW });
}

function tell(orderId: string, outcome: GatewayOutcome, anotherFollows = false) {
  return recordNews(database, {
    orderId,
    attemptNumber: 1,
    kind: 'gateway_response',
    outcome,
    now: NOW,
    anotherFollows,
  });
}

const cancel = (orderId: string) => requestCancel(database, { orderId, reason: REASON, now: NOW });
const status = async (orderId: string) => (await readPurchase(database, orderId)).orderStatus;

async function eventsOf(orderId: string): Promise<string[]> {
  const { rows } = await database.query<{ kind: string }>(
    'select kind from outbox_events where order_id = $1 order by id',
    [orderId],
  );
  return rows.map(({ kind }) => kind);
}

describe('an order on which nothing is alive', () => {
  test('is cancelled with its evidence and one event, however often it is asked', async () => {
    const id = await newOrder();
    expect(await cancel(id)).toEqual({ kind: 'cancelled' });
    expect(await cancel(id)).toEqual({ kind: 'cancelled' });
    expect(await readPurchase(database, id)).toMatchObject({ orderStatus: 'cancelled', provenBy: 'never_sent' });
    expect(await eventsOf(id)).toEqual(['order.cancelled']);
    expect(await claim(id)).toBe(false);
  });

  test('after a decline rests on what the gateway said', async () => {
    const id = await newOrder();
    await claim(id);
    await send(id);
    await tell(id, DECLINED);
    expect(await cancel(id)).toEqual({ kind: 'cancelled' });
    expect(await readPurchase(database, id)).toMatchObject({ orderStatus: 'cancelled', provenBy: 'gateway_response' });
    expect(await claim(id, 2)).toBe(false);
  });

  test('between two attempts that follow by themselves is cancelled, and the second is not made', async () => {
    const id = await newOrder();
    await claim(id);
    await send(id);
    const unreachable = {
      kind: 'not_processed',
      declineCode: 'gateway_unreachable',
      reason: 'refused',
      raw: '',
    } as const;
    await tell(id, unreachable, true);
    expect(await status(id)).toBe('processing');
    expect(await cancel(id)).toEqual({ kind: 'cancelled' });
    expect(await status(id)).toBe('cancelled');
    expect(await eventsOf(id)).toEqual(['order.cancelled']);
    expect(await claim(id, 2)).toBe(false);
  });
});

describe('an order with an attempt that is alive', () => {
  test('C46: keeps the wish; a decline carries it out and no further attempt is possible in between', async () => {
    const id = await newOrder();
    await claim(id);
    await send(id);
    expect(await cancel(id)).toEqual({ kind: 'noted' });
    await carryOutCancel(database, id, NOW);
    expect(await status(id)).toBe('processing');
    await tell(id, DECLINED);
    expect(await claim(id, 2)).toBe(false);
    await carryOutCancel(database, id, NOW);
    expect(await status(id)).toBe('cancelled');
    expect(await eventsOf(id)).toEqual(['order.failed', 'order.cancelled']);
  });

  test('C46: becomes paid when the money was quicker, and is never cancelled afterwards', async () => {
    const id = await newOrder();
    await claim(id);
    await send(id);
    expect(await cancel(id)).toEqual({ kind: 'noted' });
    await tell(id, APPROVED);
    await carryOutCancel(database, id, NOW);
    expect(await status(id)).toBe('paid');
    expect(await cancel(id)).toMatchObject({ kind: 'refused', orderStatus: 'paid' });
  });

  test('C48: is not cancelled because nobody knows', async () => {
    const id = await newOrder();
    await claim(id);
    await send(id);
    await tell(id, { kind: 'unknown', reason: 'time-out', raw: '' });
    expect(await cancel(id)).toEqual({ kind: 'noted' });
    await carryOutCancel(database, id, NOW);
    expect(await status(id)).toBe('unknown');
    await tell(id, APPROVED);
    expect(await status(id)).toBe('paid');
  });
});

test('an order that does not exist is not cancelled', async () => {
  expect(await cancel('01920000-0000-7000-8000-000000000009')).toBeUndefined();
});

describe('whoever comes first', () => {
  test('wins against a claim, in a hundred races, and both ways are seen', async () => {
    const seen = new Set<string>();
    for (let race = 0; race < 100; race += 1) {
      const id = await newOrder();
      const calls = race % 2 === 0 ? [cancel(id), claim(id)] : [claim(id), cancel(id)];
      const results = await Promise.all(calls);
      const claimed = results.includes(true);
      const cancelled = results.some((result) => typeof result === 'object' && result.kind === 'cancelled');
      expect(claimed).toBe(!cancelled);
      expect(await status(id)).toBe(claimed ? 'processing' : 'cancelled');
      seen.add(claimed ? 'claimed' : 'cancelled');
    }
    expect([...seen].sort()).toEqual(['cancelled', 'claimed']);
  });

  test('wins against expiry, in a hundred races, with one event, and both ways are seen', async () => {
    const seen = new Set<string>();
    for (let race = 0; race < 100; race += 1) {
      const id = await newOrder();
      const calls = [() => cancel(id), () => expireOrder(database, id, LATER)];
      if (race % 2 === 1) calls.reverse();
      await Promise.all(calls.map((call) => call()));
      const end = await status(id);
      expect(await eventsOf(id)).toEqual([`order.${end}`]);
      seen.add(end);
    }
    expect([...seen].sort()).toEqual(['cancelled', 'expired']);
  });
});
