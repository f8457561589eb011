import { v7 as newId } from 'uuid';
import { describe, expect, test } from 'vitest';
import type { CodedError } from '../../domain/errors.ts';
import { type Money, money } from '../../domain/money.ts';
import type { GatewayOutcome } from '../../domain/outcome.ts';
import { refundReference } from '../../domain/refund.ts';
import { inTransaction } from '../../store/database.ts';
import { recordNews } from '../../store/orders/records.ts';
import { type DisputeNews, recordDispute } from '../../store/refunds/disputes.ts';
import { putRefundInReview, recordRefundNews } from '../../store/refunds/refund-records.ts';
import {
  approveRefund,
  type RefundRequest,
  requestRefund,
  withdrawRefund,
} from '../../store/refunds/refund-requests.ts';
import { markRefundSent, markRefundSentAgain } from '../../store/refunds/refund-sends.ts';
import {
  findRefund,
  findRefundAtGateway,
  listRefunds,
  listRefundsInFlight,
  listRefundsOfOrder,
} from '../../store/refunds/refunds.ts';
import { createTestDatabase } from '../support/database.ts';
import { storeAttempt, updateRow } from '../support/rows.ts';

const { database } = await createTestDatabase({ poolSize: 20 });

const NOW = '2026-12-01T12:00:00.000Z';
const AMOUNT = money(1_999, 'EUR');

function approved(amount: Money = AMOUNT, gatewayReference: string = newId()): GatewayOutcome {
  return { kind: 'approved', amount, gatewayReference, raw: '{}' };
}

const DECLINED: GatewayOutcome = { kind: 'declined', decline: { code: 'other', retriable: false }, raw: '{}' };

/** An order of 19.99 that was charged and is paid, by the store's own way. */
async function storePaid(): Promise<string> {
  const orderId = await storeAttempt(database, 'sent');
  await updateRow(database, { table: 'orders', key: { id: orderId } }, { status: 'processing', current_attempt: 1 });
  const news = { orderId, attemptNumber: 1, kind: 'gateway_response', outcome: approved(), now: NOW } as const;
  expect(await recordNews(database, news)).toMatchObject({ kind: 'applied', orderStatus: 'paid' });
  return orderId;
}

async function request(orderId: string, changes: Partial<RefundRequest> = {}): Promise<string> {
  const id = newId();
  await inTransaction(database, (transaction) =>
    requestRefund(transaction, {
      ...{ id, orderId, minorUnits: 500, currency: undefined, reason: null, requestedBy: 'api-key:1' },
      ...{ approvalLimits: {}, now: NOW, ...changes },
    }),
  );
  return id;
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'done',
    (error: unknown) => (error as CodedError).code,
  );
}

async function send(refundId: string, orderId: string, oneAtATime = false): Promise<boolean> {
  const sendsBefore = (await findRefund(database, refundId))?.sends ?? 0;
  const bytes = { requestKey: refundReference(refundId), requestBody: '{}' };
  return markRefundSent(database, { refundId, orderId, sendsBefore, oneAtATime, now: NOW, ...bytes });
}

async function tell(refundId: string, outcome: GatewayOutcome) {
  return recordRefundNews(database, { refundId, kind: 'gateway_response', outcome, now: NOW });
}

async function succeed(refundId: string, orderId: string): Promise<void> {
  expect(await send(refundId, orderId)).toBe(true);
  const { amount } = (await findRefund(database, refundId)) ?? { amount: AMOUNT };
  expect(await tell(refundId, approved(amount))).toMatchObject({ kind: 'applied', status: 'succeeded' });
}

async function amountsOf(orderId: string) {
  const { rows } = await database.query<Record<string, unknown>>(
    `select captured_minor_units as captured, refund_reserved_minor_units as reserved, refunded_minor_units as refunded,
       disputed_minor_units as disputed, dispute_lost_minor_units as lost, status, needs_review as review
     from orders where id = $1`,
    [orderId],
  );
  return rows[0];
}

/** What each account has received for an order; with the movements it must come to nothing. */
async function journalOf(orderId: string): Promise<Record<string, number>> {
  const { rows } = await database.query<{ account: string; sum: number }>(
    `select account, sum(amount_minor_units)::bigint as sum from journal_lines where order_id = $1
     group by account having sum(amount_minor_units) <> 0`,
    [orderId],
  );
  expect(rows.reduce((total, { sum }) => total + sum, 0)).toBe(0);
  return Object.fromEntries(rows.map(({ account, sum }) => [account, sum]));
}

async function eventsOf(orderId: string): Promise<string[]> {
  const { rows } = await database.query<{ kind: string }>(
    'select kind from outbox_events where order_id = $1 order by sequence',
    [orderId],
  );
  return rows.map(({ kind }) => kind);
}

describe('a refund', () => {
  test('takes its amount when it is asked for, and reaches the customer, the journal and the outbox when it succeeds', async () => {
    const orderId = await storePaid();
    expect(await amountsOf(orderId)).toMatchObject({ captured: 1_999, reserved: 0 });
    const refundId = await request(orderId);
    expect(await amountsOf(orderId)).toMatchObject({ reserved: 500, refunded: 0 });
    await succeed(refundId, orderId);
    expect(await amountsOf(orderId)).toMatchObject({ reserved: 500, refunded: 500, status: 'paid' });
    expect(await journalOf(orderId)).toEqual({ gateway: 1_499, sales: -1_999, refunds: 500 });
    expect(await eventsOf(orderId)).toEqual(['order.paid', 'refund.succeeded']);
    expect(await tell(refundId, approved(money(500, 'EUR')))).toEqual({ kind: 'nothing_new' });
    expect(await findRefund(database, refundId)).toMatchObject({ status: 'succeeded', waitsFor: null });
  });

  test('of no stated amount is of all that is left, and then nothing is left', async () => {
    const orderId = await storePaid();
    await request(orderId);
    const rest = await request(orderId, { minorUnits: undefined });
    expect((await findRefund(database, rest))?.amount).toEqual(money(1_499, 'EUR'));
    expect(await codeOf(request(orderId, { minorUnits: undefined }))).toBe('refund_exceeds_captured');
    expect(await codeOf(request(orderId, { minorUnits: 1 }))).toBe('refund_exceeds_captured');
  });

  test('C81: thirds add up to the whole', async () => {
    const orderId = await storePaid();
    for (const minorUnits of [666, 666, 667]) await succeed(await request(orderId, { minorUnits }), orderId);
    expect(await amountsOf(orderId)).toMatchObject({ captured: 1_999, refunded: 1_999 });
  });

  test('C79: of an order that is not paid is refused', async () => {
    expect(await codeOf(request(await storeAttempt(database, 'declined')))).toBe('order_not_paid');
    expect(await codeOf(request(newId()))).toBe('order_not_found');
  });

  test('C63: in another currency is refused', async () => {
    expect(await codeOf(request(await storePaid(), { currency: 'USD' }))).toBe('refund_currency_mismatch');
  });

  test('C74: fifty at once never take more than was captured', async () => {
    const orderId = await storePaid();
    const codes = await Promise.all(Array.from({ length: 50 }, () => codeOf(request(orderId, { minorUnits: 300 }))));
    expect(codes.filter((code) => code === 'done')).toHaveLength(6);
    expect(new Set(codes)).toEqual(new Set(['done', 'refund_exceeds_captured']));
    expect(await amountsOf(orderId)).toMatchObject({ captured: 1_999, reserved: 1_800 });
  });

  test('that fails gives its amount back', async () => {
    const orderId = await storePaid();
    const refundId = await request(orderId, { minorUnits: undefined });
    await send(refundId, orderId);
    expect(await tell(refundId, DECLINED)).toMatchObject({ status: 'failed', failureCode: 'refused_by_gateway' });
    expect(await amountsOf(orderId)).toMatchObject({ reserved: 0, refunded: 0, review: false });
    expect(await eventsOf(orderId)).toEqual(['order.paid', 'refund.failed']);
    await request(orderId, { minorUnits: undefined });
  });

  test('C77: that fails after it succeeded gives its amount back, tells the shop and a person, and leaves the order paid', async () => {
    const orderId = await storePaid();
    const refundId = await request(orderId);
    await succeed(refundId, orderId);
    expect(await tell(refundId, DECLINED)).toMatchObject({ status: 'failed', failureCode: 'returned_by_bank' });
    expect(await amountsOf(orderId)).toMatchObject({ reserved: 0, refunded: 0, status: 'paid', review: true });
    expect(await journalOf(orderId)).toEqual({ gateway: 1_999, sales: -1_999 });
    expect(await eventsOf(orderId)).toEqual(['order.paid', 'refund.succeeded', 'refund.failed', 'order.needs_review']);
    expect(await tell(refundId, DECLINED)).toEqual({ kind: 'nothing_new' });
  });

  test('of another amount than was asked for is put before a person, and keeps its amount', async () => {
    const orderId = await storePaid();
    const refundId = await request(orderId);
    await send(refundId, orderId);
    expect(await tell(refundId, approved(money(501, 'EUR')))).toMatchObject({ kind: 'doubted', status: 'unknown' });
    expect(await amountsOf(orderId)).toMatchObject({ reserved: 500, refunded: 0, review: true });
    expect(await findRefund(database, refundId)).toMatchObject({ waitsFor: 'person' });
    await tell(refundId, approved(money(500, 'EUR')));
    expect(await findRefund(database, refundId)).toMatchObject({ status: 'succeeded', reviewReason: null });
  });

  test('is sent once, however many try', async () => {
    const orderId = await storePaid();
    const refundId = await request(orderId);
    const sent = await Promise.all(Array.from({ length: 10 }, () => send(refundId, orderId)));
    expect(sent.filter(Boolean)).toHaveLength(1);
    const again = { refundId, sendsBefore: 1, now: NOW };
    const repeated = await Promise.all(Array.from({ length: 10 }, () => markRefundSentAgain(database, again)));
    expect(repeated.filter(Boolean)).toHaveLength(1);
  });

  test('goes one at a time where the gateway cannot tell two apart', async () => {
    const orderId = await storePaid();
    const ids = await Promise.all(Array.from({ length: 4 }, () => request(orderId, { minorUnits: 100 })));
    const sent = await Promise.all(ids.map((id) => send(id, orderId, true)));
    expect(sent.filter(Boolean)).toHaveLength(1);
    const [first = ''] = ids.filter((_, place) => sent[place]);
    await tell(first, approved(money(100, 'EUR')));
    const next = ids.find((id) => id !== first) ?? '';
    expect(await send(next, orderId, true)).toBe(true);
  });

  test('that the gateway certainly did not take is sent again with the same bytes', async () => {
    const orderId = await storePaid();
    const refundId = await request(orderId);
    await send(refundId, orderId);
    const away = { kind: 'not_processed', declineCode: 'gateway_unreachable', reason: 'refused', raw: '' } as const;
    expect(await tell(refundId, away)).toMatchObject({ kind: 'applied', status: 'requested' });
    expect(await send(refundId, orderId)).toBe(true);
    expect(await findRefund(database, refundId)).toMatchObject({ status: 'sent', sends: 2 });
  });
});

describe('a second person', () => {
  const above = { approvalLimits: { EUR: 400 } };

  test('has to agree above the limit, and cannot be the first', async () => {
    const orderId = await storePaid();
    const small = await request(orderId, { ...above, minorUnits: 400 });
    expect(await findRefund(database, small)).toMatchObject({ status: 'requested' });
    const large = await request(orderId, above);
    expect(await findRefund(database, large)).toMatchObject({ status: 'awaiting_approval', waitsFor: 'approval' });
    expect(await send(large, orderId)).toBe(false);
    const approve = (approvedBy: string) => codeOf(approveRefund(database, { id: large, approvedBy, now: NOW }));
    expect(await approve('api-key:1')).toBe('refund_approver_is_requester');
    expect(await approve('api-key:2')).toBe('done');
    expect(await approve('api-key:2'), 'a repeat').toBe('done');
    expect(await approve('api-key:3')).toBe('refund_not_awaiting_approval');
    expect(await send(large, orderId)).toBe(true);
    expect(await codeOf(approveRefund(database, { id: newId(), approvedBy: 'x', now: NOW }))).toBe('refund_not_found');
  });

  test('can take it back as long as nothing was sent', async () => {
    const orderId = await storePaid();
    const refundId = await request(orderId, above);
    const withdraw = () => codeOf(withdrawRefund(database, { id: refundId, by: 'api-key:2', now: NOW }));
    expect(await withdraw()).toBe('done');
    expect(await findRefund(database, refundId)).toMatchObject({ status: 'failed', failureCode: 'withdrawn' });
    expect(await amountsOf(orderId)).toMatchObject({ reserved: 0 });
    const sent = await request(orderId);
    await send(sent, orderId);
    expect(await codeOf(withdrawRefund(database, { id: sent, by: 'api-key:2', now: NOW }))).toBe('refund_already_sent');
  });
});

describe('an over-payment', () => {
  const charge = (orderId: string, outcome: GatewayOutcome) =>
    recordNews(database, { orderId, attemptNumber: 1, kind: 'webhook', outcome, now: NOW });

  test('C76: a second charge of a paid order goes back once, and the order stays paid by the first', async () => {
    const orderId = await storePaid();
    const extra = approved();
    const reports = await Promise.all(Array.from({ length: 5 }, () => charge(orderId, extra)));
    expect(reports.map(({ kind }) => kind).sort()).toEqual([...Array(4).fill('nothing_new'), 'over_paid']);
    const refunds = await listRefundsOfOrder(database, orderId);
    expect(refunds).toHaveLength(1);
    expect(refunds[0]).toMatchObject({ requestedBy: 'automatic', amount: AMOUNT });
    expect(refunds[0]?.chargeGatewayReference).toBe((extra as { gatewayReference?: string }).gatewayReference);
    await succeed(refunds[0]?.id ?? '', orderId);
    expect(await amountsOf(orderId)).toMatchObject({ status: 'paid', captured: 1_999, reserved: 0, refunded: 0 });
    expect(await journalOf(orderId)).toEqual({ gateway: 1_999, sales: -1_999 });
    expect(await eventsOf(orderId)).toEqual(['order.paid', 'order.over_paid', 'refund.succeeded']);
  });

  test('money for a declined attempt goes back, and the order is not reopened', async () => {
    const orderId = await storeAttempt(database, 'declined');
    expect(await charge(orderId, approved())).toMatchObject({ kind: 'over_paid' });
    expect(await charge(orderId, { kind: 'approved', amount: AMOUNT, raw: '' })).toEqual({ kind: 'nothing_new' });
    expect(await amountsOf(orderId)).toMatchObject({ status: 'created', captured: 0, review: false });
    expect(await listRefundsOfOrder(database, orderId)).toHaveLength(1);
    expect(await journalOf(orderId)).toEqual({ gateway: 1_999, over_payments: -1_999 });
  });

  test('of another amount goes to a person and not back', async () => {
    const orderId = await storeAttempt(database, 'declined');
    expect(await charge(orderId, approved(money(2_000, 'EUR')))).toMatchObject({ kind: 'doubted' });
    expect(await listRefundsOfOrder(database, orderId)).toEqual([]);
    expect(await amountsOf(orderId)).toMatchObject({ review: true });
  });

  test('whose refund fails is put before a person', async () => {
    const orderId = await storeAttempt(database, 'declined');
    await charge(orderId, approved());
    const [refund] = await listRefundsOfOrder(database, orderId);
    await send(refund?.id ?? '', orderId);
    await tell(refund?.id ?? '', DECLINED);
    expect(await amountsOf(orderId)).toMatchObject({ review: true });
  });
});

describe('a dispute', () => {
  const dispute = (orderId: string, status: DisputeNews['status'], changes: Partial<DisputeNews> = {}) =>
    recordDispute(database, {
      ...{ orderId, attemptNumber: 1, gateway: 'simulator', gatewayReference: `dp_${orderId}`, amount: AMOUNT, status },
      ...{ kind: 'webhook', detail: '{}', now: NOW, ...changes },
    });

  test('keeps refunds from being asked for and from leaving, until it is won', async () => {
    const orderId = await storePaid();
    const refundId = await request(orderId);
    expect(await dispute(orderId, 'opened')).toBe('recorded');
    expect(await dispute(orderId, 'opened')).toBe('nothing_new');
    expect(await codeOf(request(orderId))).toBe('order_disputed');
    expect(await send(refundId, orderId)).toBe(false);
    expect(await findRefund(database, refundId)).toMatchObject({ waitsFor: 'dispute' });
    expect(await dispute(orderId, 'won')).toBe('recorded');
    expect(await send(refundId, orderId)).toBe(true);
    expect(await journalOf(orderId)).toEqual({ gateway: 1_999, sales: -1_999 });
    expect(await eventsOf(orderId)).toEqual(['order.paid', 'dispute.opened', 'dispute.won']);
  });

  test('C80: that is lost counts against what can be refunded', async () => {
    const orderId = await storePaid();
    await dispute(orderId, 'lost', { amount: money(1_600, 'EUR') });
    expect(await amountsOf(orderId)).toMatchObject({ disputed: 0, lost: 1_600, review: false });
    expect(await codeOf(request(orderId, { minorUnits: 400 }))).toBe('refund_exceeds_captured');
    await request(orderId, { minorUnits: 399 });
    expect(await journalOf(orderId)).toEqual({ gateway: 399, sales: -1_999, disputes_lost: 1_600 });
    expect(await eventsOf(orderId)).toEqual(['order.paid', 'dispute.opened', 'dispute.lost']);
  });

  test('that is lost after a refund is written down as it is, and a person is told', async () => {
    const orderId = await storePaid();
    await succeed(await request(orderId), orderId);
    await dispute(orderId, 'lost');
    expect(await amountsOf(orderId)).toMatchObject({ refunded: 500, lost: 1_499, review: true });
    expect(await journalOf(orderId)).toEqual({ gateway: -500, sales: -1_999, refunds: 500, disputes_lost: 1_999 });
  });

  test('whose end is told twice and differently goes to a person', async () => {
    const orderId = await storePaid();
    await dispute(orderId, 'won');
    expect(await dispute(orderId, 'lost')).toBe('doubted');
    expect(await dispute(orderId, 'opened')).toBe('nothing_new');
    expect(await amountsOf(orderId)).toMatchObject({ lost: 0, disputed: 0, review: true });
  });

  test('C63: in another currency is kept and put before a person', async () => {
    const orderId = await storePaid();
    expect(await dispute(orderId, 'opened', { amount: money(1_999, 'USD') })).toBe('doubted');
    expect(await amountsOf(orderId)).toMatchObject({ disputed: 0, review: true });
  });
});

test('those in flight are listed for the sweeper, and all for people', async () => {
  const orderId = await storePaid();
  const refundId = await request(orderId);
  const open = await listRefundsInFlight(database, { untouchedSince: NOW, limit: 1_000 });
  expect(open).toContainEqual({ refundId, orderId, gateway: 'simulator' });
  await putRefundInReview(database, { refundId, reason: 'Nobody can tell.', now: NOW });
  expect(await findRefund(database, refundId)).toMatchObject({ reviewReason: 'Nobody can tell.', waitsFor: 'person' });
  const [newest] = await listRefunds(database, { status: 'requested', before: null, limit: 1 });
  expect(newest?.id).toBe(refundId);
  const named = { gateway: 'simulator', refundReference: refundReference(refundId), gatewayReference: null };
  expect((await findRefundAtGateway(database, named))?.id).toBe(refundId);
});
