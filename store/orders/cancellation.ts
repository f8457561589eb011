import { isClosed, type OrderStatus } from '../../domain/order.ts';
import { type Database, inTransaction, type Queryable } from '../database.ts';
import { closeUnpaid, isUnpaid, readUnpaid } from './close-unpaid.ts';
import { notifyOrderChanged } from './order-changes.ts';

export type Cancelled =
  /** The order is cancelled, by this call or one before. */
  | { readonly kind: 'cancelled' }
  /** Something is alive at the gateway. The wish stands on the row and is carried out when that turns out dead. */
  | { readonly kind: 'noted' }
  | { readonly kind: 'refused'; readonly orderStatus: OrderStatus; readonly needsReview: boolean };

/**
 * Cancels an order on which nothing is alive; on any other that is open the wish is written down. Undefined when there is no
 * such order. The row is locked first, so of a cancel, a claim and an expiry at the same moment one is first and the others
 * see what it did.
 */
export async function requestCancel(
  database: Database,
  { orderId, reason, now }: { readonly orderId: string; readonly reason: string; readonly now: string },
): Promise<Cancelled | undefined> {
  return inTransaction(database, async (transaction) => {
    const row = await lockOrder(transaction, orderId);
    if (row === undefined || row.status === 'cancelled') return row && { kind: 'cancelled' };
    const order = await readUnpaid(transaction, { orderId, orderStatus: row.status });
    // A doubt on a dead attempt may be money that came in after all; whether it did is for a person to say.
    if (isClosed(row.status) || (row.needs_review && isUnpaid(order))) {
      return { kind: 'refused', orderStatus: row.status, needsReview: row.needs_review };
    }
    await transaction.query(
      `update orders set cancel_requested_at = $3, cancel_reason = $2, updated_at = $3
       where id = $1 and cancel_requested_at is null`,
      [orderId, reason, now],
    );
    if (!isUnpaid(order)) {
      await notifyOrderChanged(transaction, orderId);
      return { kind: 'noted' };
    }
    await closeUnpaid(transaction, order, {
      status: 'cancelled',
      detail: { cancel_reason: row.cancel_reason ?? reason },
      now,
    });
    return { kind: 'cancelled' };
  });
}

/** Carries out a wish that stands on the row, once nothing of the order is alive any more; does nothing to any other order. */
export async function carryOutCancel(database: Database, orderId: string, now: string): Promise<void> {
  await inTransaction(database, async (transaction) => {
    const row = await lockOrder(transaction, orderId);
    if (row === undefined || row.cancel_reason === null || row.needs_review) return;
    const order = await readUnpaid(transaction, { orderId, orderStatus: row.status });
    if (!isUnpaid(order)) return;
    await closeUnpaid(transaction, order, { status: 'cancelled', detail: { cancel_reason: row.cancel_reason }, now });
  });
}

interface LockedRow {
  readonly status: OrderStatus;
  readonly needs_review: boolean;
  readonly cancel_reason: string | null;
}

async function lockOrder(transaction: Queryable, orderId: string): Promise<LockedRow | undefined> {
  const { rows } = await transaction.query<LockedRow>(
    'select status, needs_review, cancel_reason from orders where id = $1 for update',
    [orderId],
  );
  return rows[0];
}
