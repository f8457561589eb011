import type { Currency } from '../../domain/currencies.ts';
import { CodedError } from '../../domain/errors.ts';
import { formatMoney, type Money } from '../../domain/money.ts';
import type { OrderStatus } from '../../domain/order.ts';
import { refundableMinorUnits } from '../../domain/refund.ts';
import { constraintOf, type Database, inTransaction, type Queryable } from '../database.ts';
import { insertEvidence } from '../orders/evidence.ts';
import { insertRefund } from './refunds.ts';

export interface RefundRequest {
  readonly id: string;
  readonly orderId: string;
  /** Undefined: all that is left. */
  readonly minorUnits: number | undefined;
  /** Undefined: that of the order. */
  readonly currency: Currency | undefined;
  readonly reason: string | null;
  readonly requestedBy: string;
  /** Amounts above it, per currency, need a second person. */
  readonly approvalLimits: Readonly<Partial<Record<Currency, number>>>;
  readonly now: string;
}

/**
 * Takes an amount of what can still be refunded and makes the refund's row, or says why not. The order's row is locked
 * first, so of any number of requests at once each sees what the ones before it have left.
 * @throws CodedError `order_not_found`, `order_not_paid`, `order_disputed`, `refund_exceeds_captured`, `refund_currency_mismatch`
 */
export async function requestRefund(transaction: Queryable, request: RefundRequest): Promise<Money> {
  const order = await lockOrder(transaction, request.orderId);
  if (order === undefined) throw new CodedError('order_not_found');
  if (order.attempt_number === null || order.captured_minor_units === 0) {
    throw new CodedError('order_not_paid', `The order is ${order.status}; only an order that is paid can be refunded.`);
  }
  if (order.disputed_minor_units > 0) throw new CodedError('order_disputed');
  const amount = amountOf(order, request);
  const limit = request.approvalLimits[amount.currency];
  await insertRefund(transaction, {
    id: request.id,
    orderId: request.orderId,
    attemptNumber: order.attempt_number,
    chargeGatewayReference: order.gateway_reference,
    overPaymentId: null,
    gateway: order.gateway,
    amount,
    reason: request.reason,
    requestedBy: request.requestedBy,
    needsApproval: limit !== undefined && amount.minorUnits > limit,
    now: request.now,
  });
  return amount;
}

interface LockedOrder {
  readonly status: OrderStatus;
  readonly currency: Currency;
  readonly gateway: string;
  readonly captured_minor_units: number;
  readonly refund_reserved_minor_units: number;
  readonly refunded_minor_units: number;
  readonly disputed_minor_units: number;
  readonly dispute_lost_minor_units: number;
  readonly attempt_number: number | null;
  readonly gateway_reference: string | null;
}

/** The lock first and the reading after it: a join in one statement would show what stood there before the wait. */
async function lockOrder(transaction: Queryable, orderId: string): Promise<LockedOrder | undefined> {
  await transaction.query('select from orders where id = $1 for update', [orderId]);
  const { rows } = await transaction.query<LockedOrder>(
    `select orders.status, currency, captured_minor_units, refund_reserved_minor_units, refunded_minor_units,
       disputed_minor_units, dispute_lost_minor_units, payment_attempts.gateway, attempt_number, gateway_reference
     from orders
     left join payment_attempts on order_id = id and payment_attempts.status = 'approved' and orders.status = 'paid'
     where id = $1`,
    [orderId],
  );
  return rows[0];
}

function amountOf(order: LockedOrder, { minorUnits, currency }: RefundRequest): Money {
  if (currency !== undefined && currency !== order.currency) {
    throw new CodedError('refund_currency_mismatch', `The order is in ${order.currency}.`, {
      field: 'amount.currency',
    });
  }
  const left = refundableMinorUnits({
    captured: order.captured_minor_units,
    refundReserved: order.refund_reserved_minor_units,
    refunded: order.refunded_minor_units,
    disputed: order.disputed_minor_units,
    disputeLost: order.dispute_lost_minor_units,
  });
  const wanted = minorUnits ?? left;
  if (wanted < 1 || wanted > left) {
    const words = left === 0 ? 'Nothing' : formatMoney({ minorUnits: left, currency: order.currency });
    throw new CodedError('refund_exceeds_captured', `${words} is left to refund; nothing was refunded.`, {
      field: 'amount.minor_units',
    });
  }
  return { minorUnits: wanted, currency: order.currency };
}

/**
 * Lets a refund that waits for a second person go. Approved twice by the same one, it counts as approved once.
 * @throws CodedError `refund_not_found`, `refund_approver_is_requester`, `refund_not_awaiting_approval`
 */
export async function approveRefund(
  database: Queryable,
  approval: { readonly id: string; readonly approvedBy: string; readonly now: string },
): Promise<void> {
  const { id, approvedBy, now } = approval;
  try {
    const { rowCount } = await database.query(
      `update refunds set status = 'requested', approved_by = $2, updated_at = $3
       where id = $1 and status = 'awaiting_approval'`,
      [id, approvedBy, now],
    );
    if (rowCount === 1) return;
  } catch (cause) {
    if (constraintOf(cause) !== 'refunds_approver_is_another') throw cause;
    throw new CodedError('refund_approver_is_requester', undefined, { cause });
  }
  const { rows } = await database.query<{ status: string; approved_by: string | null }>(
    'select status, approved_by from refunds where id = $1',
    [id],
  );
  const row = rows[0];
  if (row === undefined) throw new CodedError('refund_not_found');
  if (row.approved_by === approvedBy) return;
  throw new CodedError('refund_not_awaiting_approval', `The refund is ${row.status}.`);
}

/**
 * Takes back a refund of which nothing was ever sent; its amount can be refunded again.
 * @throws CodedError `refund_not_found`, `refund_already_sent`
 */
export async function withdrawRefund(
  database: Database,
  withdrawal: { readonly id: string; readonly by: string; readonly now: string },
): Promise<void> {
  const { id, by, now } = withdrawal;
  await inTransaction(database, async (transaction) => {
    await transaction.query('select from orders where id = (select order_id from refunds where id = $1) for update', [
      id,
    ]);
    const { rows } = await transaction.query<{
      order_id: string;
      attempt_number: number;
      status: string;
      sends: number;
    }>('select order_id, attempt_number, status, sends from refunds where id = $1 for update', [id]);
    const row = rows[0];
    if (row === undefined) throw new CodedError('refund_not_found');
    if (row.sends > 0 || !['awaiting_approval', 'requested'].includes(row.status))
      throw new CodedError('refund_already_sent', `The refund is ${row.status}.`);
    const evidenceId = await insertEvidence(transaction, {
      orderId: row.order_id,
      attemptNumber: row.attempt_number,
      kind: 'operator_decision',
      provesOrderStatus: null,
      provesAttemptStatus: null,
      detail: JSON.stringify({ refund_id: id, withdrawn_by: by }),
      now,
    });
    await transaction.query(
      `update refunds set status = 'failed', failure_code = 'withdrawn', evidence_id = $2, updated_at = $3 where id = $1`,
      [id, evidenceId, now],
    );
  });
}
