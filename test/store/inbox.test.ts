import { describe, expect, test } from 'vitest';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { money } from '../../domain/money.ts';
import { applyInboxEvent } from '../../store/inbox/apply-event.ts';
import { findInboxEvent, listInboxEvents, storeInboxEvent } from '../../store/inbox/inbox-events.ts';
import {
  listStoredEvents,
  listUnappliedEvents,
  matchInboxEvents,
  poolUnmatchedEvents,
  reopenInboxEvent,
  setEventAside,
} from '../../store/inbox/inbox-upkeep.ts';
import { listEvidence } from '../../store/orders/evidence.ts';
import { expireOrder } from '../../store/orders/expiry.ts';
import { findOrder } from '../../store/orders/orders.ts';
import { recordNews } from '../../store/orders/records.ts';
import { createTestDatabase } from '../support/database.ts';
import {
  approved,
  declined,
  eventOf,
  later,
  newOrder,
  PRICE,
  receive,
  sendAttempt,
  sentOrder,
} from '../support/inbox.ts';

const { database } = await createTestDatabase();

const apply = (id: string) => applyInboxEvent(database, { id, now: later(0) });
const orderOf = async (id: string) => (await findOrder(database, id))!;

async function answer(orderId: string, outcome: ReturnType<typeof approved>, attemptNumber = 1): Promise<void> {
  await recordNews(database, { orderId, attemptNumber, kind: 'gateway_response', outcome, now: later(0) });
}

async function countOf(table: 'inbox_events' | 'outbox_events', orderId: string, kind = ''): Promise<number> {
  const text =
    table === 'inbox_events'
      ? "select count(*)::int as n from inbox_events where order_id = $1 and $2 = ''"
      : 'select count(*)::int as n from outbox_events where order_id = $1 and kind = $2';
  const { rows } = await database.query<{ n: number }>(text, [orderId, kind]);
  return rows[0]!.n;
}

describe('storing an event', () => {
  test('C28, C32: of many deliveries at once one is stored, and each is told where it lies', async () => {
    const event = eventOf(await sentOrder(database));
    const places = await Promise.all(Array.from({ length: 20 }, () => storeInboxEvent(database, event)));
    expect(new Set(places.map(({ id }) => id)).size).toBe(1);
    expect(places.every(({ state, orderId }) => state === 'stored' && orderId !== null)).toBe(true);
  });

  test('C30: a repeat 73 h later is the same event', async () => {
    const orderId = await sentOrder(database);
    const event = eventOf(orderId);
    const id = await receive(database, event);
    await apply(id);
    expect(await storeInboxEvent(database, { ...event, now: later(73 * 3_600) })).toMatchObject({
      id,
      state: 'applied',
    });
    expect(await countOf('inbox_events', orderId)).toBe(1);
  });

  test('finds the order by our reference, and else by the number of the gateway', async () => {
    const orderId = await sentOrder(database);
    await answer(orderId, { kind: 'pending', gatewayReference: 'ch_pending', raw: '' });
    const event = eventOf(orderId, { merchantReference: null, gatewayReference: 'ch_pending' });
    expect(await storeInboxEvent(database, event)).toMatchObject({ state: 'stored', orderId });
    const foreign = { ...event, eventId: 'evt_of_another', gateway: 'another' };
    expect(await storeInboxEvent(database, foreign)).toMatchObject({ state: 'unmatched', orderId: null });
  });

  test('keeps an event that says nothing we understand, and lists it', async () => {
    const event = { ...eventOf(await sentOrder(database)), type: 'customer.updated', news: null };
    const { id, state } = await storeInboxEvent(database, event);
    expect(state).toBe('not_understood');
    const listed = await listInboxEvents(database, { state: 'not_understood', orderId: null, before: null, limit: 10 });
    expect(listed.map((one) => one.id)).toContain(id);
    expect(await apply(id)).toBeUndefined();
  });

  test('C106: keeps the bytes as they came, whatever the alphabet', async () => {
    const text = '{"n":"Zoë Zoe\u0308 王小明 ₹ 🎫 \u2028 שלום 𝒳 a/b:c"}';
    const id = await receive(database, eventOf(await sentOrder(database), {}, { body: Buffer.from(text) }));
    expect((await findInboxEvent(database, id))!.body).toBe(text);
  });
});

describe('applying an event', () => {
  test('C28, C41: early: the order is paid by the event, and the answer that comes after it is nothing new', async () => {
    const orderId = await sentOrder(database);
    const outcome = approved();
    expect(await apply(await receive(database, eventOf(orderId, { outcome })))).toBe('applied');
    await answer(orderId, outcome);
    const { status, needsReview } = await orderOf(orderId);
    expect({ status, needsReview }).toEqual({ status: 'paid', needsReview: false });
    const proofs = (await listEvidence(database, orderId)).filter(
      ({ provesOrderStatus }) => provesOrderStatus === 'paid',
    );
    expect(proofs.map(({ kind }) => kind)).toEqual(['webhook']);
    expect(await countOf('outbox_events', orderId, 'order.paid')).toBe(1);
  });

  test('C35: the mark and the effect are one commit: neither is there when the commit fails', async () => {
    const orderId = await sentOrder(database);
    const id = await receive(database, eventOf(orderId));
    const dying: typeof database = {
      ...database,
      withConnection: (work) =>
        database.withConnection((connection) =>
          work({
            query: (text, values) => {
              if (text === 'commit') throw new Error('the process died');
              return connection.query(text, values);
            },
          }),
        ),
    };
    await expect(applyInboxEvent(dying, { id, now: later(0) })).rejects.toThrow('the process died');
    expect((await orderOf(orderId)).status).toBe('processing');
    expect(await listStoredEvents(database, orderId)).toEqual([id]);
    expect(await apply(id)).toBe('applied');
    expect((await orderOf(orderId)).status).toBe('paid');
  });

  test('applied by many at once it has its effect once', async () => {
    const orderId = await sentOrder(database);
    const id = await receive(database, eventOf(orderId));
    const results = await Promise.all(Array.from({ length: 10 }, () => apply(id)));
    expect(results.filter((state) => state === 'applied')).toHaveLength(1);
    expect(results.filter((state) => state === undefined)).toHaveLength(9);
    expect(await countOf('outbox_events', orderId, 'order.paid')).toBe(1);
  });

  test('C29: a second "paid" with another id, and a thin one without a charge, change nothing and erase nothing', async () => {
    const orderId = await sentOrder(database);
    const outcome = approved();
    await apply(await receive(database, eventOf(orderId, { outcome })));
    expect(await apply(await receive(database, eventOf(orderId, { outcome })))).toBe('nothing_new');
    await receive(database, { ...eventOf(orderId), news: null });
    expect((await orderOf(orderId)).status).toBe('paid');
    expect(await countOf('outbox_events', orderId, 'order.paid')).toBe(1);
  });

  test('C36: older steps that arrive last, with an equal or an earlier time, change nothing', async () => {
    const orderId = await sentOrder(database);
    const occurredAt = later(0);
    await apply(await receive(database, eventOf(orderId, {}, { occurredAt })));
    const action = { kind: 'redirect', url: 'https://bank.example' } as const;
    for (const outcome of [
      { kind: 'pending', raw: '' },
      { kind: 'requires_action', action, raw: '' },
    ] as const) {
      for (const time of [occurredAt, later(-10)]) {
        const id = await receive(database, eventOf(orderId, { outcome }, { occurredAt: time }));
        expect(await apply(id)).toBe('nothing_new');
      }
    }
    expect((await orderOf(orderId)).status).toBe('paid');
  });

  test('C37: the decline of attempt 1 that arrives after attempt 2 was paid concerns attempt 1 only', async () => {
    const orderId = await sentOrder(database);
    await answer(orderId, declined);
    await sendAttempt(database, orderId, 2);
    await answer(orderId, approved(), 2);
    expect(await apply(await receive(database, eventOf(orderId, { outcome: declined })))).toBe('nothing_new');
    const { status, needsReview } = await orderOf(orderId);
    expect({ status, needsReview }).toEqual({ status: 'paid', needsReview: false });
  });

  test('C38: "paid" that comes again long after changes nothing and tells nobody', async () => {
    const orderId = await sentOrder(database);
    const outcome = approved();
    await answer(orderId, outcome);
    const { updatedAt } = await orderOf(orderId);
    const id = await receive(database, eventOf(orderId, { outcome }, { now: later(7_200) }));
    expect(await applyInboxEvent(database, { id, now: later(7_200) })).toBe('nothing_new');
    expect((await orderOf(orderId)).updatedAt).toBe(updatedAt);
    expect(await countOf('outbox_events', orderId, 'order.paid')).toBe(1);
  });

  test('money that comes after a decline or after the end never moves the order back', async () => {
    const orderId = await sentOrder(database);
    await answer(orderId, declined);
    await expireOrder(database, orderId, later(4_000));
    await apply(await receive(database, eventOf(orderId)));
    expect((await orderOf(orderId)).status).toBe('expired');
  });

  test.each([
    ['C60, C64: another amount', { outcome: approved(money(1_998, 'EUR')) }, {}, '19.98 EUR'],
    ['C63, C64: another currency', { outcome: approved(money(1_999, 'USD')) }, {}, '19.99 USD'],
    ['C64, C65: another account of the gateway', { foreignAccount: 'other-shop' }, {}, 'other-shop'],
    ['another gateway', {}, { gateway: 'another' }, 'another'],
  ])('%s is never applied: a person looks at the order', async (_, news, event, reason) => {
    const orderId = await sentOrder(database);
    const id = await receive(database, eventOf(orderId, news, event));
    expect(await apply(id)).toBe('doubted');
    const { status, needsReview, reviewReason } = await orderOf(orderId);
    expect(status).not.toBe('paid');
    expect({ needsReview, reviewReason }).toEqual({ needsReview: true, reviewReason: expect.stringContaining(reason) });
    expect((await findInboxEvent(database, id))!.remark).toContain(reason);
  });

  test('another amount for what is already paid is put before a person, and the order stays paid', async () => {
    const orderId = await sentOrder(database);
    const gatewayReference = 'ch_same';
    await answer(orderId, approved(PRICE, gatewayReference));
    const outcome = approved(money(2_000, 'EUR'), gatewayReference);
    expect(await apply(await receive(database, eventOf(orderId, { outcome })))).toBe('doubted');
    expect(await orderOf(orderId)).toMatchObject({ status: 'paid', needsReview: true });
  });

  test('C118: an event before its workflow, about an attempt of ours that was never made, locks its order against a charge', async () => {
    const orderId = await newOrder(database);
    expect(await apply(await receive(database, eventOf(orderId)))).toBe('doubted');
    expect(await orderOf(orderId)).toMatchObject({ status: 'created', needsReview: true });
    await expect(sendAttempt(database, orderId)).rejects.toThrow('could not be claimed');
  });
});

describe('an event that found no order', () => {
  test('C33: waits, and is matched when its attempt appears', async () => {
    const gatewayReference = `ch_${Date.now()}`;
    const orderId = await sentOrder(database);
    const outcome = approved(PRICE, gatewayReference);
    const event = eventOf(orderId, { merchantReference: null, gatewayReference, outcome });
    const { id, state } = await storeInboxEvent(database, event);
    expect(state).toBe('unmatched');
    expect(await matchInboxEvents(database, { limit: 10 })).toBe(0);
    await answer(orderId, { kind: 'pending', gatewayReference, raw: '' });
    expect(await matchInboxEvents(database, { orderId, limit: 10 })).toBe(1);
    expect(await apply(id)).toBe('applied');
    expect((await orderOf(orderId)).status).toBe('paid');
  });

  test('is put before a person after a day, and still matched when its order appears', async () => {
    const stranger = '01JDXW3Z9QFQ2V7W6N8K4M5P2T01';
    const orderId = await newOrder(database);
    const reference = merchantReference(orderId, 1);
    const event = eventOf(orderId, { merchantReference: null, gatewayReference: stranger }, { now: later(-90_000) });
    const id = await receive(database, event);
    const young = await receive(database, eventOf(orderId, { merchantReference: stranger }));
    await poolUnmatchedEvents(database, { before: later(-86_400), limit: 10 });
    expect((await findInboxEvent(database, id))!.state).toBe('pooled');
    expect((await findInboxEvent(database, young))!.state).toBe('unmatched');
    await sendAttempt(database, orderId);
    await answer(orderId, { kind: 'pending', gatewayReference: stranger, raw: reference });
    await matchInboxEvents(database, { orderId, limit: 10 });
    expect(await apply(id)).toBe('applied');
  });
});

describe('what was left behind', () => {
  test('is listed for the sweeper once it is old enough', async () => {
    const orderId = await sentOrder(database);
    const id = await receive(database, eventOf(orderId, {}, { now: later(-120) }));
    const unapplied = async (before: string) =>
      (await listUnappliedEvents(database, { before, limit: 100 })).map((e) => e.id);
    expect(await unapplied(later(-60))).toContain(id);
    expect(await unapplied(later(-180))).not.toContain(id);
    await apply(id);
    expect(await unapplied(later(-60))).not.toContain(id);
  });

  test('what is stuck waits for a person and can be applied again', async () => {
    const orderId = await sentOrder(database);
    const id = await receive(database, eventOf(orderId));
    await setEventAside(database, { id, remark: 'It could not be read.' });
    expect(await apply(id)).toBeUndefined();
    expect(await findInboxEvent(database, id)).toMatchObject({ state: 'stuck', remark: 'It could not be read.' });
    await reopenInboxEvent(database, id);
    expect(await apply(id)).toBe('applied');
  });
});
