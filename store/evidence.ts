import { v7 as newId } from 'uuid';
import type { Evidence } from '../domain/evidence.ts';
import type { Queryable } from './database.ts';

/** Adds a piece of evidence and returns its id. Rows are never changed afterwards; the database refuses it. */
export async function insertEvidence(
  transaction: Queryable,
  evidence: Omit<Evidence, 'id' | 'recordedAt'> & { readonly now: string },
): Promise<string> {
  const id = newId();
  await transaction.query(
    `insert into evidence
       (id, order_id, attempt_number, kind, proves_order_status, proves_attempt_status, detail, recorded_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      id,
      evidence.orderId,
      evidence.attemptNumber,
      evidence.kind,
      evidence.provesOrderStatus,
      evidence.provesAttemptStatus,
      evidence.detail,
      evidence.now,
    ],
  );
  return id;
}
