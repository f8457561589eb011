import { type Database, inTransaction } from '../database.ts';
import { insertOutboxEvent } from '../deliveries/outbox-events.ts';
import { insertEvidence } from './evidence.ts';
import { notifyOrderChanged } from './order-changes.ts';

/**
 * Puts an order into the review pool: a person has to look. It stays locked against a new charge, because its status does
 * not change. An order that is in review already, or has been settled meanwhile, is left alone.
 */
export async function putInReview(
  database: Database,
  review: { readonly orderId: string; readonly reason: string; readonly now: string },
): Promise<void> {
  await inTransaction(database, async (transaction) => {
    const { rows } = await transaction.query<{ current_attempt: number }>(
      `update orders set needs_review = true, review_reason = $2, updated_at = $3
       where id = $1 and not needs_review and status in ('processing', 'requires_action', 'unknown')
       returning current_attempt`,
      [review.orderId, review.reason, review.now],
    );
    const row = rows[0];
    if (row === undefined) return;
    await insertOutboxEvent(transaction, {
      orderId: review.orderId,
      attemptNumber: row.current_attempt,
      kind: 'order.needs_review',
      now: review.now,
    });
    await notifyOrderChanged(transaction, review.orderId);
  });
}

/**
 * Takes an order out of the review pool by an operator's word, which is kept as evidence and proves nothing: the status stays
 * what it is. Only where the status is settled; an order in doubt leaves the pool by being settled. Returns whether it did.
 */
export async function clearReview(
  database: Database,
  review: { readonly orderId: string; readonly operator: string; readonly reason: string; readonly now: string },
): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    const { rows } = await transaction.query<{ current_attempt: number; review_reason: string }>(
      `update orders set needs_review = false, review_reason = null, updated_at = $2
       from (select id, review_reason as reviewed from orders where id = $1 for update) before
       where orders.id = before.id and needs_review and status in ('failed', 'paid', 'expired', 'cancelled', 'voided')
       returning current_attempt, before.reviewed as review_reason`,
      [review.orderId, review.now],
    );
    const row = rows[0];
    if (row === undefined) return false;
    const { operator, reason } = review;
    await insertEvidence(transaction, {
      orderId: review.orderId,
      attemptNumber: row.current_attempt === 0 ? null : row.current_attempt,
      kind: 'operator_decision',
      provesOrderStatus: null,
      provesAttemptStatus: null,
      detail: JSON.stringify({ outcome: 'reviewed', operator, reason, was_in_review_because: row.review_reason }),
      now: review.now,
    });
    await notifyOrderChanged(transaction, review.orderId);
    return true;
  });
}
