import { type Database, inTransaction } from './database.ts';
import { notifyOrderChanged } from './order-changes.ts';
import { insertOutboxEvent } from './outbox-events.ts';

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
