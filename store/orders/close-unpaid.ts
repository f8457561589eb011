import type { AttemptStatus } from '../../domain/attempt.ts';
import type { EvidenceKind } from '../../domain/evidence.ts';
import type { OrderStatus } from '../../domain/order.ts';
import type { Queryable } from '../database.ts';
import { insertOutboxEvent } from '../deliveries/outbox-events.ts';
import { insertEvidence } from './evidence.ts';
import { notifyOrderChanged } from './order-changes.ts';

/** An order that is locked by the caller's transaction, with what proves that no attempt of it is alive. */
export interface UnpaidOrder {
  readonly orderId: string;
  readonly orderStatus: OrderStatus;
  /** Null before the first attempt. */
  readonly attemptStatus: AttemptStatus | null;
  readonly proof: {
    readonly evidenceId: string;
    readonly kind: EvidenceKind;
    readonly attemptNumber: number | null;
  } | null;
}

interface UnpaidRow {
  readonly attempt_status: AttemptStatus | null;
  readonly evidence_id: string | null;
  readonly kind: EvidenceKind | null;
  readonly attempt_number: number | null;
}

/** What proves that nothing came of an order: its own evidence or, while a further attempt was to follow, that of its attempt. */
export async function readUnpaid(
  transaction: Queryable,
  { orderId, orderStatus }: { readonly orderId: string; readonly orderStatus: OrderStatus },
): Promise<UnpaidOrder> {
  const { rows } = await transaction.query<UnpaidRow>(
    `select attempt.status as attempt_status, evidence.id as evidence_id, evidence.kind, evidence.attempt_number
     from orders
     left join payment_attempts attempt on (attempt.order_id, attempt.attempt_number) = (orders.id, current_attempt)
     left join evidence on evidence.id = coalesce(orders.evidence_id, attempt.evidence_id)
     where orders.id = $1`,
    [orderId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`There is no order ${orderId}`);
  const { evidence_id: evidenceId, kind, attempt_number: attemptNumber } = row;
  const proof = evidenceId === null || kind === null ? null : { evidenceId, kind, attemptNumber };
  return { orderId, orderStatus, attemptStatus: row.attempt_status, proof };
}

/** Nothing of the order is at the gateway: it was never tried, or its last attempt is proven dead. */
export function isUnpaid({ orderStatus, attemptStatus }: Pick<UnpaidOrder, 'orderStatus' | 'attemptStatus'>): boolean {
  return orderStatus === 'created' || orderStatus === 'failed' || isBetweenAttempts({ orderStatus, attemptStatus });
}

function isBetweenAttempts({
  orderStatus,
  attemptStatus,
}: Pick<UnpaidOrder, 'orderStatus' | 'attemptStatus'>): boolean {
  return orderStatus === 'processing' && attemptStatus === 'not_processed';
}

/**
 * Ends an unpaid order. The evidence is that nothing was ever sent, or else that of the last refusal, which is what proves that
 * no money came.
 */
export async function closeUnpaid(
  transaction: Queryable,
  order: UnpaidOrder,
  { status, detail, now }: { readonly status: 'expired' | 'cancelled'; readonly detail?: object; readonly now: string },
): Promise<void> {
  const { orderId } = order;
  // No move leads from `processing` to an end, because something could be alive; here nothing is, and `failed` says so.
  if (isBetweenAttempts(order)) await moveTo(transaction, order, { status: 'failed', now });
  await moveTo(transaction, order, { status, now, ...(detail !== undefined && { detail }) });
  await insertOutboxEvent(transaction, { orderId, attemptNumber: null, kind: `order.${status}`, now });
  await notifyOrderChanged(transaction, orderId);
}

async function moveTo(
  transaction: Queryable,
  { orderId, proof }: UnpaidOrder,
  {
    status,
    detail,
    now,
  }: { readonly status: 'failed' | 'expired' | 'cancelled'; readonly detail?: object; readonly now: string },
): Promise<void> {
  const rests = proof === null ? { reason: 'No attempt was ever made.' } : { rests_on_evidence: proof.evidenceId };
  const evidenceId = await insertEvidence(transaction, {
    orderId,
    attemptNumber: proof?.attemptNumber ?? null,
    kind: proof?.kind ?? 'never_sent',
    provesOrderStatus: status,
    provesAttemptStatus: null,
    detail: JSON.stringify({ ...rests, ...detail }),
    now,
  });
  await transaction.query(`update orders set status = $2, evidence_id = $3, updated_at = $4 where id = $1`, [
    orderId,
    status,
    evidenceId,
    now,
  ]);
}
