import { v7 as newId } from 'uuid';
import { describe, expect, test } from 'vitest';
import type { CodedError } from '../../domain/errors.ts';
import type { DisputeEventNews, RefundEventNews } from '../../domain/gateway-event.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { money } from '../../domain/money.ts';
import type { GatewayOutcome } from '../../domain/outcome.ts';
import { refundReference } from '../../domain/refund.ts';
import { inTransaction } from '../../store/database.ts';
import { applyInboxEvent } from '../../store/inbox/apply-event.ts';
import { storeInboxEvent } from '../../store/inbox/inbox-events.ts';
import { recordNews } from '../../store/orders/records.ts';
import { recordRefundNews } from '../../store/refunds/refund-records.ts';
import { requestRefund } from '../../store/refunds/refund-requests.ts';
import { markRefundSent } from '../../store/refunds/refund-sends.ts';
import { findRefund, listRefundsOfOrder } from '../../store/refunds/refunds.ts';
import { createTestDatabase } from '../support/database.ts';
import { approved, declined, eventOf, later, sentOrder } from '../support/inbox.ts';

const { database } = await createTestDatabase();
const PART = money(400, 'EUR');

async function paidOrder(): Promise<string> {
  const orderId = await sentOrder(database);
  const news = { orderId, attemptNumber: 1, kind: 'gateway_response', outcome: approved(), now: later(0) } as const;
  await recordNews(database, news);
  return orderId;
}

async function request(orderId: string, minorUnits = PART.minorUnits): Promise<string> {
  const id = newId();
  const asked = { id, orderId, minorUnits, currency: undefined, reason: null, requestedBy: 'api-key:1' };
  await inTransaction(database, (transaction) =>
    requestRefund(transaction, { ...asked, approvalLimits: {}, now: later(0) }),
  );
  return id;
}

async function send(orderId: string): Promise<string> {
  const refundId = await request(orderId);
  const bytes = { requestKey: refundReference(refundId), requestBody: '{}', now: later(0) };
  await markRefundSent(database, { refundId, orderId, sendsBefore: 0, oneAtATime: false, ...bytes });
  return refundId;
}

/** What the gateway tells of the refund; applied at once. @returns how the event stands then */
async function tell(
  orderId: string,
  outcome: GatewayOutcome,
  changes: Partial<RefundEventNews> & { refundId: string },
) {
  const { refundId, ...others } = changes;
  const charge = { merchantReference: merchantReference(orderId, 1), gatewayReference: null, foreignAccount: null };
  const refund = { refundReference: refundReference(refundId), refundGatewayReference: `re_${refundId}` };
  const news: RefundEventNews = { subject: 'refund', ...charge, ...refund, outcome, ...others };
  return applyNews(orderId, news);
}

async function dispute(orderId: string, status: DisputeEventNews['status'], changes: Partial<DisputeEventNews> = {}) {
  const charge = { merchantReference: merchantReference(orderId, 1), gatewayReference: null, foreignAccount: null };
  const said = { disputeGatewayReference: `dp_${orderId}`, amount: money(1_999, 'EUR'), status, raw: '{}' };
  return applyNews(orderId, { subject: 'dispute', ...charge, ...said, ...changes });
}

async function applyNews(orderId: string, news: RefundEventNews | DisputeEventNews) {
  const { id } = await storeInboxEvent(database, { ...eventOf(orderId), type: 'money.back', news });
  return applyInboxEvent(database, { id, now: later(0) });
}

async function orderOf(orderId: string) {
  const { rows } = await database.query<Record<string, unknown>>(
    `select status, refund_reserved_minor_units as reserved, refunded_minor_units as refunded, needs_review as review,
       disputed_minor_units as disputed, dispute_lost_minor_units as lost
     from orders where id = $1`,
    [orderId],
  );
  return rows[0];
}

async function told(orderId: string): Promise<string[]> {
  const { rows } = await database.query<{ kind: string }>(
    `select kind from outbox_events where order_id = $1 and kind <> 'order.paid' order by sequence`,
    [orderId],
  );
  return rows.map(({ kind }) => kind);
}

describe('an event about a refund', () => {
  test("C72: that comes before the refund's own answer: one refund, and the answer is nothing new", async () => {
    const orderId = await paidOrder();
    const refundId = await send(orderId);
    const outcome = approved(PART, `re_${refundId}`);
    expect(await tell(orderId, outcome, { refundId })).toBe('applied');
    const answer = { refundId, kind: 'gateway_response', outcome, now: later(0) } as const;
    expect(await recordRefundNews(database, answer)).toEqual({ kind: 'nothing_new' });
    expect(await tell(orderId, outcome, { refundId }), 'again, under another id').toBe('nothing_new');
    const refunds = await listRefundsOfOrder(database, orderId);
    expect(refunds).toMatchObject([{ status: 'succeeded', gatewayReference: `re_${refundId}` }]);
    expect(await orderOf(orderId)).toMatchObject({ reserved: 400, refunded: 400, review: false });
    expect(await told(orderId)).toEqual(['refund.succeeded']);
  });

  test('C77: that it failed the next day: the amount can be refunded again, the merchant is told, the order stays paid', async () => {
    const orderId = await paidOrder();
    const refundId = await send(orderId);
    const outcome = approved(PART, `re_${refundId}`);
    await recordRefundNews(database, { refundId, kind: 'gateway_response', outcome, now: later(0) });
    expect(await tell(orderId, declined, { refundId })).toBe('applied');
    expect(await findRefund(database, refundId)).toMatchObject({ status: 'failed', failureCode: 'returned_by_bank' });
    expect(await orderOf(orderId)).toMatchObject({ status: 'paid', reserved: 0, refunded: 0, review: true });
    expect(await told(orderId)).toEqual(['refund.succeeded', 'refund.failed', 'order.needs_review']);
    expect(await tell(orderId, outcome, { refundId }), 'the old news comes late once more').toBe('nothing_new');
    expect(await tell(orderId, declined, { refundId })).toBe('nothing_new');
    await expect(request(orderId, 1_999)).resolves.toBeTypeOf('string');
  });

  test('C36: "pending" after "succeeded" changes nothing', async () => {
    const orderId = await paidOrder();
    const refundId = await send(orderId);
    await tell(orderId, approved(PART), { refundId });
    expect(await tell(orderId, { kind: 'pending', raw: '' }, { refundId })).toBe('nothing_new');
    expect(await findRefund(database, refundId)).toMatchObject({ status: 'succeeded' });
  });

  test.each([
    ['a refund that was not made here', { refundReference: 'FOREIGN', refundGatewayReference: 're_foreign' }],
    ['another account', { foreignAccount: 'other-shop' }],
  ])('C64: of %s is kept, never applied, and puts the order before a person', async (_, changes) => {
    const orderId = await paidOrder();
    const refundId = await send(orderId);
    expect(await tell(orderId, approved(PART), { refundId, ...changes })).toBe('doubted');
    expect(await findRefund(database, refundId)).toMatchObject({ status: 'sent' });
    expect(await orderOf(orderId)).toMatchObject({ status: 'paid', refunded: 0, review: true });
  });

  test('C64: over another amount is not applied', async () => {
    const orderId = await paidOrder();
    const refundId = await send(orderId);
    expect(await tell(orderId, approved(money(401, 'EUR')), { refundId })).toBe('doubted');
    expect(await orderOf(orderId)).toMatchObject({ reserved: 400, refunded: 0, review: true });
  });
});

describe('an event about a dispute', () => {
  test('C80: lost, it leaves nothing to refund; won, everything', async () => {
    const [lost, won] = [await paidOrder(), await paidOrder()];
    expect(await dispute(lost, 'opened')).toBe('applied');
    const refused = async () => request(lost, 1).catch((error: unknown) => (error as CodedError).code);
    expect(await refused()).toBe('order_disputed');
    expect(await dispute(lost, 'lost')).toBe('applied');
    expect(await dispute(lost, 'lost'), 'told twice').toBe('nothing_new');
    expect(await refused()).toBe('refund_exceeds_captured');
    expect(await orderOf(lost)).toMatchObject({ status: 'paid', disputed: 0, lost: 1_999 });
    await dispute(won, 'opened');
    await dispute(won, 'won');
    expect(await dispute(won, 'opened'), 'out of order').toBe('nothing_new');
    await expect(request(won, 1_999)).resolves.toBeTypeOf('string');
    expect(await told(won)).toEqual(['dispute.opened', 'dispute.won']);
  });

  test('C80: lost over a part, it leaves the rest', async () => {
    const orderId = await paidOrder();
    await dispute(orderId, 'lost', { amount: money(1_500, 'EUR') });
    const codeOf = async (minorUnits: number) =>
      request(orderId, minorUnits).catch((e: unknown) => (e as CodedError).code);
    expect(await codeOf(500)).toBe('refund_exceeds_captured');
    expect(await orderOf(orderId)).toMatchObject({ reserved: 0, lost: 1_500 });
    await expect(request(orderId, 499)).resolves.toBeTypeOf('string');
  });

  test.each([
    ['in another currency', { amount: money(1_999, 'USD') }],
    ['of another account', { foreignAccount: 'other-shop' }],
    ['about an attempt that was never made', 'no attempt'],
  ] as const)('%s is not applied: a person looks', async (_, changes) => {
    const orderId = await paidOrder();
    const said = changes === 'no attempt' ? { merchantReference: merchantReference(orderId, 9) } : changes;
    expect(await dispute(orderId, 'opened', said)).toBe('doubted');
    expect(await orderOf(orderId)).toMatchObject({ disputed: 0, review: true });
  });
});
