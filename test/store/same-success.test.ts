import { describe, expect, test } from 'vitest';
import { listEntitlements } from '../../store/deliveries/entitlements.ts';
import { listEvents } from '../../store/deliveries/outbox-events.ts';
import { applyInboxEvent } from '../../store/inbox/apply-event.ts';
import { listEvidence } from '../../store/orders/evidence.ts';
import { findOrder } from '../../store/orders/orders.ts';
import { recordNews } from '../../store/orders/records.ts';
import { createTestDatabase } from '../support/database.ts';
import { approved, declined, eventOf, later, PRICE, receive, sendAttempt, sentOrder } from '../support/inbox.ts';

/** One payment is told of by the answer, by events, by an inquiry and by whoever looks: it is taken once, whoever comes first. */
const { database } = await createTestDatabase({ poolSize: 20 });

const apply = (id: string) => applyInboxEvent(database, { id, now: later(0) });
const statusOf = async (orderId: string) => (await findOrder(database, orderId))?.status;

type Outcome = Parameters<typeof recordNews>[1]['outcome'];

interface Word {
  readonly kind: 'gateway_response' | 'inquiry';
  readonly outcome: Outcome;
  readonly attemptNumber?: number;
}

function tell(orderId: string, { kind, outcome, attemptNumber = 1 }: Word) {
  return recordNews(database, { orderId, attemptNumber, kind, outcome, now: later(0) });
}

async function countOf(text: string, orderId: string): Promise<number> {
  const { rows } = await database.query<{ n: number }>(`select count(*)::int as n from ${text}`, [orderId]);
  return rows[0]?.n ?? 0;
}

const ORDERS = 100;

test(`C19, C45: event, answer, inquiry and readers at the same instant, ${ORDERS} times: each effect once`, async () => {
  const orderIds = await Promise.all(Array.from({ length: ORDERS }, () => sentOrder(database)));
  await Promise.all(
    orderIds.map(async (orderId) => {
      const outcome = approved();
      const events = await Promise.all([1, 2].map(() => receive(database, eventOf(orderId, { outcome }))));
      await Promise.all([
        ...events.map(apply),
        tell(orderId, { kind: 'gateway_response', outcome }),
        tell(orderId, { kind: 'inquiry', outcome }),
        findOrder(database, orderId),
      ]);
    }),
  );
  for (const orderId of orderIds) {
    expect(await findOrder(database, orderId)).toMatchObject({ status: 'paid', needsReview: false });
    expect(await countOf('payment_attempts where order_id = $1', orderId)).toBe(1);
    expect((await listEvidence(database, orderId)).filter((row) => row.provesOrderStatus === 'paid')).toHaveLength(1);
    expect((await listEvents(database, orderId)).map(({ kind }) => kind)).toEqual(['order.paid']);
    expect(await listEntitlements(database, orderId)).toHaveLength(1);
  }
});

test('C22: an event that overtakes the answer belongs to the order that is there, and makes none', async () => {
  const orderId = await sentOrder(database);
  const orders = async () => (await database.query('select from orders')).rowCount;
  const before = await orders();
  const outcome = approved();
  expect(await apply(await receive(database, eventOf(orderId, { outcome })))).toBe('applied');
  expect(await tell(orderId, { kind: 'gateway_response', outcome })).toEqual({ kind: 'nothing_new' });
  expect(await orders()).toBe(before);
  expect(await countOf('payment_attempts where order_id = $1', orderId)).toBe(1);
});

describe('a payment that is known is not taken back by what is older', () => {
  const action = { kind: 'redirect', url: 'https://bank.example' } as const;

  test.each([
    ['pending', { kind: 'pending', raw: '' }],
    ['waiting for the customer', { kind: 'requires_action', action, raw: '' }],
    ['not known', { kind: 'unknown', reason: 'cut off', raw: '' }],
    ['not taken', { kind: 'not_processed', declineCode: 'gateway_unreachable', reason: 'refused', raw: '' }],
  ] as const)('C44: the event said paid, then the answer to the request says %s', async (_, outcome) => {
    const orderId = await sentOrder(database);
    await apply(await receive(database, eventOf(orderId)));
    for (const kind of ['gateway_response', 'inquiry'] as const) {
      expect(await tell(orderId, { kind, outcome })).toEqual({ kind: 'nothing_new' });
    }
    expect(await findOrder(database, orderId)).toMatchObject({ status: 'paid', needsReview: false });
  });
});

test('C43: three declines, then a success half a day later that is told by an event of another kind', async () => {
  const orderId = await sentOrder(database);
  for (const attemptNumber of [1, 2, 3]) {
    await tell(orderId, { kind: 'gateway_response', outcome: declined, attemptNumber });
    await sendAttempt(database, orderId, attemptNumber + 1);
  }
  await tell(orderId, { kind: 'gateway_response', outcome: { kind: 'pending', raw: '' }, attemptNumber: 4 });
  const told = { type: 'payment.settled', news: null, now: later(43_200) };
  const id = await receive(database, { ...eventOf(orderId), ...told });
  expect(await apply(id)).toBeUndefined();
  expect(await statusOf(orderId)).not.toBe('failed');
  expect(await tell(orderId, { kind: 'inquiry', outcome: approved(), attemptNumber: 4 })).toMatchObject({
    kind: 'applied',
    orderStatus: 'paid',
  });
  expect((await listEvents(database, orderId)).map(({ kind }) => kind)).toEqual([
    ...Array.from({ length: 3 }, () => 'order.failed'),
    'order.paid',
  ]);
});

test.each(['webhook', 'inquiry'] as const)(
  'C61: the charge that paid one order, told by %s, pays no second one',
  async (kind) => {
    const [first, second] = [await sentOrder(database), await sentOrder(database)];
    const outcome = approved(PRICE, `ch_${kind}_61`);
    await tell(first, { kind: 'gateway_response', outcome });
    const ruling =
      kind === 'inquiry'
        ? (await tell(second, { kind, outcome })).kind
        : await apply(await receive(database, eventOf(second, { outcome })));
    expect(ruling).toBe('doubted');
    expect(await statusOf(first)).toBe('paid');
    expect(await findOrder(database, second)).toMatchObject({ status: 'unknown', needsReview: true });
    expect(await listEntitlements(database, second)).toEqual([]);
  },
);
