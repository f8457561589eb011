import type { EvidenceKind } from '../domain/evidence.ts';
import { type Database, inTransaction, type Queryable } from './database.ts';
import { insertEvidence } from './evidence.ts';
import { notifyOrderChanged } from './order-changes.ts';
import { insertOutboxEvent } from './outbox-events.ts';

/**
 * Closes an order that nobody paid in time. Only from `created` and `failed`, so only when no attempt of it is alive: an
 * order whose money is in doubt never expires. The evidence is that nothing was ever sent, or else that of the last
 * refusal, which is what proves that no money came. Returns whether this call closed it.
 */
export async function expireOrder(database: Database, orderId: string, now: string): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    const proof = await lockExpired(transaction, orderId, now);
    if (proof === undefined) return false;
    const evidenceId = await insertEvidence(transaction, {
      orderId,
      attemptNumber: proof.attempt_number,
      kind: proof.kind ?? 'never_sent',
      provesOrderStatus: 'expired',
      provesAttemptStatus: null,
      detail: JSON.stringify(
        proof.evidence_id === null ? { reason: 'No attempt was ever made.' } : { rests_on_evidence: proof.evidence_id },
      ),
      now,
    });
    await transaction.query(`update orders set status = 'expired', evidence_id = $2, updated_at = $3 where id = $1`, [
      orderId,
      evidenceId,
      now,
    ]);
    await insertOutboxEvent(transaction, { orderId, attemptNumber: null, kind: 'order.expired', now });
    await notifyOrderChanged(transaction, orderId);
    return true;
  });
}

interface ExpiredRow {
  readonly evidence_id: string | null;
  readonly kind: EvidenceKind | null;
  readonly attempt_number: number | null;
}

async function lockExpired(transaction: Queryable, orderId: string, now: string): Promise<ExpiredRow | undefined> {
  const { rows } = await transaction.query<ExpiredRow>(
    `select orders.evidence_id, evidence.kind, evidence.attempt_number
     from orders left join evidence on evidence.id = orders.evidence_id
     where orders.id = $1 and status in ('created', 'failed') and expires_at <= $2
     for update of orders`,
    [orderId, now],
  );
  return rows[0];
}

/** Unpaid orders whose time is over, oldest first. */
export async function listExpired(database: Queryable, now: string, limit: number): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `select id from orders where status in ('created', 'failed') and expires_at <= $1 order by expires_at limit $2`,
    [now, limit],
  );
  return rows.map(({ id }) => id);
}
