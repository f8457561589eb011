import type { Currency } from '../../domain/currencies.ts';
import type { EvidenceKind } from '../../domain/evidence.ts';
import type { Money } from '../../domain/money.ts';
import { type GatewayOutcome, RAW_LENGTH_MAX } from '../../domain/outcome.ts';
import { isRefundSettled, type RefundStatus } from '../../domain/refund.ts';
import { type RefundRuling, ruleOnRefund } from '../../domain/refund-ruling.ts';
import { type Database, inTransaction, type Queryable } from '../database.ts';
import { insertOutboxEvent } from '../deliveries/outbox-events.ts';
import { insertEvidence } from '../orders/evidence.ts';
import { notifyOrderChanged } from '../orders/order-changes.ts';
import { insertMovement } from './journal.ts';

export interface RefundNews {
  readonly refundId: string;
  readonly kind: EvidenceKind;
  readonly outcome: GatewayOutcome;
  /** ISO time. */
  readonly now: string;
}

/**
 * Writes down what somebody said about a refund: refund, order, evidence, journal, outbox event and notification in one
 * transaction, or nothing. The order's row is locked first, as by everybody who touches its amounts; what the news means
 * is decided by domain/refund-ruling.ts alone.
 */
export async function recordRefundNews(database: Database, news: RefundNews): Promise<RefundRuling> {
  return inTransaction(database, (transaction) => recordRefundNewsWithin(transaction, news));
}

/** The same inside a transaction of the caller's, which marks there that the news was dealt with. */
export async function recordRefundNewsWithin(transaction: Queryable, news: RefundNews): Promise<RefundRuling> {
  const before = await lockRefund(transaction, news);
  const ruling = ruleOnRefund(before, news.outcome);
  if (ruling.kind !== 'nothing_new') await write(transaction, { news, before, ruling });
  return ruling;
}

interface LockedRefund {
  readonly orderId: string;
  readonly attemptNumber: number;
  readonly overPaymentId: string | null;
  readonly amount: Money;
  readonly status: RefundStatus;
  readonly returned: boolean;
  readonly gatewayReferenceTaken: boolean;
}

async function lockRefund(transaction: Queryable, { refundId, outcome }: RefundNews): Promise<LockedRefund> {
  await transaction.query('select from orders where id = (select order_id from refunds where id = $1) for update', [
    refundId,
  ]);
  const { rows } = await transaction.query<{
    order_id: string;
    attempt_number: number;
    over_payment_id: string | null;
    amount_minor_units: number;
    currency: Currency;
    status: RefundStatus;
    returned: boolean;
    reference_taken: boolean;
  }>(
    `select order_id, attempt_number, over_payment_id, amount_minor_units, currency, status,
       coalesce(failure_code = 'returned_by_bank', false) as returned,
       exists (select from refunds other
               where other.gateway = refunds.gateway and other.gateway_reference = $2 and other.id <> $1) as reference_taken
     from refunds where id = $1 for update`,
    [refundId, referenceIn(outcome)],
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`There is no refund ${refundId}`);
  return {
    orderId: row.order_id,
    attemptNumber: row.attempt_number,
    overPaymentId: row.over_payment_id,
    amount: { minorUnits: row.amount_minor_units, currency: row.currency },
    status: row.status,
    returned: row.returned,
    gatewayReferenceTaken: row.reference_taken,
  };
}

interface Writing {
  readonly news: RefundNews;
  readonly before: LockedRefund;
  readonly ruling: Exclude<RefundRuling, { kind: 'nothing_new' }>;
}

async function write(transaction: Queryable, writing: Writing): Promise<void> {
  const { news, before } = writing;
  const { orderId, attemptNumber } = before;
  const evidenceId = await insertEvidence(transaction, {
    orderId,
    attemptNumber,
    kind: news.kind,
    provesOrderStatus: null,
    provesAttemptStatus: null,
    detail: describe(news),
    now: news.now,
  });
  await updateRefund(transaction, writing, evidenceId);
  await moveMoney(transaction, writing);
  await tell(transaction, writing);
  const reason = reviewReasonOf(writing);
  if (reason !== undefined) await reviewOrder(transaction, { orderId, refundId: news.refundId, reason, now: news.now });
  await notifyOrderChanged(transaction, orderId);
}

async function updateRefund(transaction: Queryable, { news, ruling }: Writing, evidenceId: string): Promise<void> {
  await transaction.query(
    `update refunds
     set status = $2, gateway_reference = coalesce(gateway_reference, $4),
       evidence_id = case when status <> $2 then $3 else evidence_id end,
       failure_code = case when status <> $2 then $5 else failure_code end,
       review_reason = $6, updated_at = $7
     where id = $1`,
    [
      news.refundId,
      ruling.status,
      isRefundSettled(ruling.status) ? evidenceId : null,
      ruling.kind === 'applied' ? referenceIn(news.outcome) : null,
      ruling.kind === 'applied' ? ruling.failureCode : null,
      ruling.kind === 'doubted' ? ruling.reason : null,
      news.now,
    ],
  );
}

/** The money leaves when the refund succeeds, and comes back when the gateway takes its word back. */
async function moveMoney(transaction: Queryable, { news, before, ruling }: Writing): Promise<void> {
  const { orderId, amount, overPaymentId } = before;
  const beneficiary = overPaymentId === null ? 'refunds' : 'over_payments';
  const movement = { orderId, amount, now: news.now };
  if (ruling.status === 'succeeded' && before.status !== 'succeeded') {
    const name = `refund:${news.refundId}:succeeded`;
    await insertMovement(transaction, { ...movement, movement: name, from: 'gateway', to: beneficiary });
  }
  if (ruling.status !== 'succeeded' && before.status === 'succeeded') {
    const name = `refund:${news.refundId}:returned`;
    await insertMovement(transaction, { ...movement, movement: name, from: beneficiary, to: 'gateway' });
  }
}

async function tell(transaction: Queryable, { news, before, ruling }: Writing): Promise<void> {
  const { orderId, attemptNumber, amount } = before;
  if (ruling.status === before.status) return;
  const kind = { succeeded: 'refund.succeeded', failed: 'refund.failed' } as const;
  if (ruling.status !== 'succeeded' && ruling.status !== 'failed') return;
  const failureCode = ruling.kind === 'applied' ? ruling.failureCode : null;
  const refund = { id: news.refundId, minor_units: amount.minorUnits, currency: amount.currency };
  const details = { refund: { ...refund, status: ruling.status, failure_code: failureCode } };
  const subject = { subjectId: news.refundId, details, now: news.now };
  await insertOutboxEvent(transaction, { orderId, attemptNumber, kind: kind[ruling.status], ...subject });
}

/** An over-payment whose refund failed is a customer's money that nobody sends back by himself any more. */
function reviewReasonOf({ before, ruling }: Writing): string | undefined {
  if (ruling.kind === 'doubted') return ruling.reason;
  if (ruling.status !== 'failed') return undefined;
  if (before.overPaymentId !== null) return 'The refund of an over-payment failed; the customer is still owed it.';
  return before.status === 'succeeded' ? 'A refund that had succeeded was returned by the bank.' : undefined;
}

/** A person has to look at a refund of this order. The order's status is not touched: it stays paid. */
async function reviewOrder(
  transaction: Queryable,
  review: { readonly orderId: string; readonly refundId: string; readonly reason: string; readonly now: string },
): Promise<void> {
  const { orderId, refundId, reason, now } = review;
  await transaction.query(
    `update orders set needs_review = true, review_reason = coalesce(review_reason, $2), updated_at = $3 where id = $1`,
    [orderId, reason, now],
  );
  const details = { refund: { id: refundId }, review_reason: reason };
  await insertOutboxEvent(transaction, {
    orderId,
    attemptNumber: null,
    kind: 'order.needs_review',
    subjectId: refundId,
    details,
    now,
  });
}

/** Puts a refund before a person: its inquiries are over, or it cannot even be put into a request. */
export async function putRefundInReview(
  database: Database,
  review: { readonly refundId: string; readonly reason: string; readonly now: string },
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    const { rows } = await transaction.query<{ order_id: string }>('select order_id from refunds where id = $1', [
      review.refundId,
    ]);
    const orderId = rows[0]?.order_id;
    if (orderId === undefined) return;
    await transaction.query('select from orders where id = $1 for update', [orderId]);
    const { rowCount } = await transaction.query(
      `update refunds set review_reason = $2, updated_at = $3
       where id = $1 and review_reason is null and status not in ('succeeded', 'failed')`,
      [review.refundId, review.reason, review.now],
    );
    if (rowCount === 0) return;
    await reviewOrder(transaction, { ...review, orderId });
    await notifyOrderChanged(transaction, orderId);
  });
}

function referenceIn(outcome: GatewayOutcome): string | null {
  return 'gatewayReference' in outcome ? (outcome.gatewayReference ?? null) : null;
}

function describe({ refundId, outcome }: RefundNews): string {
  const { raw, ...said } = outcome;
  const text = { refund_id: refundId, ...said, raw: raw.slice(0, RAW_LENGTH_MAX) };
  return JSON.stringify(text).slice(0, 2 * RAW_LENGTH_MAX);
}
