import type { Currency } from '../../domain/currencies.ts';
import type { Money } from '../../domain/money.ts';
import {
  type RefundFailureCode,
  type RefundObstacle,
  type RefundStatus,
  refundReference,
} from '../../domain/refund.ts';
import type { Queryable } from '../database.ts';

/** A refund as its row says it, without the bytes that were sent. Times are ISO strings. */
export interface Refund {
  readonly id: string;
  readonly orderId: string;
  readonly attemptNumber: number;
  readonly merchantReference: string;
  readonly chargeGatewayReference: string | null;
  /** Null: a refund of the order; otherwise it returns this over-payment. */
  readonly overPaymentId: string | null;
  readonly gateway: string;
  readonly refundReference: string;
  readonly gatewayReference: string | null;
  readonly amount: Money;
  readonly reason: string | null;
  readonly status: RefundStatus;
  readonly requestedBy: string;
  readonly approvedBy: string | null;
  readonly sends: number;
  readonly firstSentAt: string | null;
  readonly lastSentAt: string | null;
  readonly failureCode: RefundFailureCode | null;
  readonly reviewReason: string | null;
  /** Why it is not sent; null when nothing is in its way. */
  readonly waitsFor: RefundObstacle | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface NewRefund
  extends Pick<
    Refund,
    | 'id'
    | 'orderId'
    | 'attemptNumber'
    | 'chargeGatewayReference'
    | 'overPaymentId'
    | 'gateway'
    | 'amount'
    | 'reason'
    | 'requestedBy'
  > {
  readonly needsApproval: boolean;
  readonly now: string;
}

/** Makes a refund's row, which takes its amount from its order at once; the database refuses it where too little is left. */
export async function insertRefund(transaction: Queryable, refund: NewRefund): Promise<void> {
  await transaction.query(
    `insert into refunds (id, order_id, attempt_number, charge_gateway_reference, over_payment_id, gateway,
       refund_reference, amount_minor_units, currency, reason, status, requested_by, needs_approval, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
       case when $12::boolean then 'awaiting_approval' else 'requested' end, $11, $12, $13, $13)`,
    [
      refund.id,
      refund.orderId,
      refund.attemptNumber,
      refund.chargeGatewayReference,
      refund.overPaymentId,
      refund.gateway,
      refundReference(refund.id),
      refund.amount.minorUnits,
      refund.amount.currency,
      refund.reason,
      refund.requestedBy,
      refund.needsApproval,
      refund.now,
    ],
  );
}

interface Row {
  readonly id: string;
  readonly order_id: string;
  readonly attempt_number: number;
  readonly merchant_reference: string;
  readonly charge_gateway_reference: string | null;
  readonly over_payment_id: string | null;
  readonly gateway: string;
  readonly refund_reference: string;
  readonly gateway_reference: string | null;
  readonly amount_minor_units: number;
  readonly currency: Currency;
  readonly reason: string | null;
  readonly status: RefundStatus;
  readonly requested_by: string;
  readonly approved_by: string | null;
  readonly sends: number;
  readonly sent_at: string | null;
  readonly last_sent_at: string | null;
  readonly failure_code: RefundFailureCode | null;
  readonly review_reason: string | null;
  readonly waits_for: RefundObstacle | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** `another_refund` is not told here: whether refunds of one order go one by one depends on the gateway. */
const SELECT_REFUND = `select refunds.id, refunds.order_id, refunds.attempt_number, merchant_reference,
    charge_gateway_reference, over_payment_id, refunds.gateway, refund_reference, refunds.gateway_reference,
    refunds.amount_minor_units, refunds.currency, refunds.reason, refunds.status, requested_by, approved_by, refunds.sends,
    refunds.sent_at, refunds.last_sent_at, failure_code, refunds.review_reason,
    case when refunds.status = 'awaiting_approval' then 'approval'
         when refunds.status in ('succeeded', 'failed') then null
         when refunds.review_reason is not null then 'person'
         when refunds.status = 'requested' and disputed_minor_units > 0 then 'dispute' end as waits_for,
    refunds.created_at, refunds.updated_at
  from refunds
  join orders on orders.id = refunds.order_id
  join payment_attempts on payment_attempts.order_id = refunds.order_id
    and payment_attempts.attempt_number = refunds.attempt_number`;

export async function findRefund(database: Queryable, id: string): Promise<Refund | undefined> {
  const { rows } = await database.query<Row>(`${SELECT_REFUND} where refunds.id = $1`, [id]);
  return rows[0] === undefined ? undefined : readRefund(rows[0]);
}

/** Which refund does a gateway mean? By our number, or else by its own. */
export async function findRefundAtGateway(
  database: Queryable,
  named: {
    readonly gateway: string;
    readonly refundReference: string | null;
    readonly gatewayReference: string | null;
  },
): Promise<Refund | undefined> {
  const { rows } = await database.query<Row>(
    `${SELECT_REFUND} where refunds.gateway = $1 and (refund_reference = $2 or refunds.gateway_reference = $3)
     order by (refund_reference = $2) desc nulls last limit 1`,
    [named.gateway, named.refundReference, named.gatewayReference],
  );
  return rows[0] === undefined ? undefined : readRefund(rows[0]);
}

/** The refunds of an order, the first first; no order has many. */
const REFUNDS_READ_MAX = 1_000;

export async function listRefundsOfOrder(database: Queryable, orderId: string): Promise<Refund[]> {
  const { rows } = await database.query<Row>(
    `${SELECT_REFUND} where refunds.order_id = $1 order by refunds.id limit $2`,
    [orderId, REFUNDS_READ_MAX],
  );
  return rows.map(readRefund);
}

/** Newest first. @param filter `before`: only refunds made before the one with this id */
export async function listRefunds(
  database: Queryable,
  filter: { readonly status: RefundStatus | null; readonly before: string | null; readonly limit: number },
): Promise<Refund[]> {
  const { rows } = await database.query<Row>(
    `${SELECT_REFUND}
     where ($1::text is null or refunds.status = $1) and ($2::uuid is null or refunds.id < $2)
     order by refunds.id desc limit $3`,
    [filter.status, filter.before, filter.limit],
  );
  return rows.map(readRefund);
}

export interface RefundInFlight {
  readonly refundId: string;
  readonly orderId: string;
  readonly gateway: string;
}

/**
 * Refunds that should have a running workflow and were not touched since `untouchedSince`: what the sweeper looks after.
 * Those that wait for a second person have none yet, and those in review have no more.
 */
export async function listRefundsInFlight(
  database: Queryable,
  { untouchedSince, limit }: { readonly untouchedSince: string; readonly limit: number },
): Promise<RefundInFlight[]> {
  const { rows } = await database.query<{ id: string; order_id: string; gateway: string }>(
    `select id, order_id, gateway from refunds
     where status in ('requested', 'sent', 'pending', 'unknown') and updated_at <= $1
     order by updated_at limit $2`,
    [untouchedSince, limit],
  );
  return rows.map((row) => ({ refundId: row.id, orderId: row.order_id, gateway: row.gateway }));
}

function readRefund(row: Row): Refund {
  return {
    id: row.id,
    orderId: row.order_id,
    attemptNumber: row.attempt_number,
    merchantReference: row.merchant_reference,
    chargeGatewayReference: row.charge_gateway_reference,
    overPaymentId: row.over_payment_id,
    gateway: row.gateway,
    refundReference: row.refund_reference,
    gatewayReference: row.gateway_reference,
    amount: { minorUnits: row.amount_minor_units, currency: row.currency },
    reason: row.reason,
    status: row.status,
    requestedBy: row.requested_by,
    approvedBy: row.approved_by,
    sends: row.sends,
    firstSentAt: row.sent_at,
    lastSentAt: row.last_sent_at,
    failureCode: row.failure_code,
    reviewReason: row.review_reason,
    waitsFor: row.waits_for,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
