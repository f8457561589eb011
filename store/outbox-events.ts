import { v7 as newId } from 'uuid';
import type { Queryable } from './database.ts';

export type OutboxEventKind = 'order.paid' | 'order.failed' | 'order.expired' | 'order.needs_review';

/**
 * Writes news for the world outside, in the transaction that makes it true. A second one of the same kind for the same
 * attempt is dropped: it is the same news, told by a step that ran twice.
 */
export async function insertOutboxEvent(
  transaction: Queryable,
  event: {
    readonly orderId: string;
    readonly attemptNumber: number | null;
    readonly kind: OutboxEventKind;
    readonly now: string;
  },
): Promise<void> {
  await transaction.query(
    `insert into outbox_events (id, order_id, attempt_number, kind, payload, created_at)
     select $1, id, $3, $4,
       jsonb_build_object('order_id', id, 'status', status, 'shop_reference', shop_reference,
         'amount', jsonb_build_object('minor_units', amount_minor_units, 'currency', currency)), $5
     from orders where id = $2
     on conflict do nothing`,
    [newId(), event.orderId, event.attemptNumber, event.kind, event.now],
  );
}
