import { v7 as newId } from 'uuid';
import type { Queryable } from '../database.ts';

/**
 * What may be told to the world outside, and in which words. To add a kind: one line here and one row in
 * migrations/0007-deliveries-and-entitlements.sql (`outbox_event_kinds`); a test holds the two equal.
 */
export const OUTBOX_EVENTS = {
  'order.paid': 'The money for the order is there.',
  'order.failed': 'The last attempt was refused; the customer may try again until the order expires.',
  'order.expired': 'The time to pay is over and no money came.',
  'order.cancelled': 'The order was cancelled before any money came.',
  'order.authorized': 'The money is held for the order and not yet taken.',
  'order.voided': 'The money that was held for the order was let go.',
  'order.needs_review': 'A person has to look at the order.',
  'order.over_paid': 'Money came in that the order does not need; it goes back.',
  'refund.succeeded': 'Money of the order went back to the customer.',
  'refund.failed': 'A refund did not happen; the amount can be refunded again.',
  'dispute.opened': 'The customer disputes the charge.',
  'dispute.won': 'A dispute ended for the merchant.',
  'dispute.lost': 'A dispute ended for the customer, who has the money.',
  'entitlement.revoked': 'What the order entitled to was taken back.',
} as const satisfies Record<string, string>;

export type OutboxEventKind = keyof typeof OUTBOX_EVENTS;

export interface NewOutboxEvent {
  readonly orderId: string;
  readonly attemptNumber: number | null;
  readonly kind: OutboxEventKind;
  /** The id of the refund or dispute, or the kind of the entitlement: an order can have several, and each is news of its own. */
  readonly subjectId?: string;
  /** More for the receiver beside what is told of the order, in snake_case: `{ refund: { id, amount } }`. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly now: string;
}

/**
 * Writes news for the world outside, in the transaction that makes it true; the database itself addresses it to the endpoints
 * that are told of its kind. A second one of the same kind for the same attempt and subject is dropped: it is the same news,
 * told by a step that ran twice.
 */
export async function insertOutboxEvent(transaction: Queryable, event: NewOutboxEvent): Promise<void> {
  await transaction.query(
    `insert into outbox_events (id, order_id, attempt_number, kind, subject_id, payload, created_at)
     select $1, id, $3, $4, $5,
       $6::jsonb || jsonb_build_object('order_id', id, 'status', status, 'shop_reference', shop_reference,
         'amount', jsonb_build_object('minor_units', amount_minor_units, 'currency', currency),
         'entitlements', entitlement_kinds), $7
     from orders where id = $2
     on conflict do nothing`,
    [
      newId(),
      event.orderId,
      event.attemptNumber,
      event.kind,
      event.subjectId ?? null,
      JSON.stringify(event.details ?? {}),
      event.now,
    ],
  );
}

/** An event as it was told. */
export interface OutboxEvent {
  readonly id: string;
  readonly sequence: number;
  readonly kind: OutboxEventKind;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
}

/** All news of an order in its order, for whoever sees by the numbers that one is missing. */
export async function listEvents(database: Queryable, orderId: string): Promise<OutboxEvent[]> {
  const { rows } = await database.query<{
    id: string;
    sequence: number;
    kind: OutboxEventKind;
    payload: Record<string, unknown>;
    created_at: string;
  }>('select id, sequence, kind, payload, created_at from outbox_events where order_id = $1 order by sequence', [
    orderId,
  ]);
  return rows.map(({ created_at: createdAt, ...row }) => ({ ...row, createdAt }));
}
