import type { EvidenceKind } from '../../domain/evidence.ts';
import { type Database, inTransaction } from '../database.ts';
import { insertOutboxEvent } from '../deliveries/outbox-events.ts';
import { insertEvidence } from './evidence.ts';
import { notifyOrderChanged } from './order-changes.ts';

/**
 * Fails an order whose further attempts are over because its time is: the last one provably never left, and no other can be
 * claimed. Its proof is that attempt's. Otherwise it would stay in processing, from where it can never expire.
 */
export async function failUnclaimable(database: Database, orderId: string, now: string): Promise<void> {
  await inTransaction(database, async (transaction) => {
    const { rows } = await transaction.query<{ evidence_id: string; kind: EvidenceKind; attempt_number: number }>(
      `select attempt.evidence_id, evidence.kind, attempt.attempt_number
       from orders
       join payment_attempts attempt on attempt.order_id = orders.id and attempt.attempt_number = current_attempt
       join evidence on evidence.id = attempt.evidence_id
       where orders.id = $1 and orders.status = 'processing' and attempt.status = 'not_processed' and expires_at <= $2
       for update of orders`,
      [orderId, now],
    );
    const [proof] = rows;
    if (proof === undefined) return;
    const attemptNumber = proof.attempt_number;
    const evidenceId = await insertEvidence(transaction, {
      orderId,
      attemptNumber,
      kind: proof.kind,
      provesOrderStatus: 'failed',
      provesAttemptStatus: null,
      detail: JSON.stringify({ rests_on_evidence: proof.evidence_id }),
      now,
    });
    await transaction.query(`update orders set status = 'failed', evidence_id = $2, updated_at = $3 where id = $1`, [
      orderId,
      evidenceId,
      now,
    ]);
    await insertOutboxEvent(transaction, { orderId, attemptNumber, kind: 'order.failed', now });
    await notifyOrderChanged(transaction, orderId);
  });
}
