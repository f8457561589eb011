import { v7 as newId } from 'uuid';
import type { Evidence } from '../../domain/evidence.ts';
import type { Queryable } from '../database.ts';

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

interface EvidenceRow {
  readonly id: string;
  readonly order_id: string;
  readonly attempt_number: number | null;
  readonly kind: Evidence['kind'];
  readonly proves_order_status: Evidence['provesOrderStatus'];
  readonly proves_attempt_status: Evidence['provesAttemptStatus'];
  readonly detail: string;
  readonly recorded_at: string;
}

/** The most that is read at once; a purchase leaves a handful, and only a gateway gone mad leaves more. */
const EVIDENCE_READ_MAX = 1_000;

/** What is known about an order and from whom, oldest first. */
export async function listEvidence(database: Queryable, orderId: string): Promise<Evidence[]> {
  const { rows } = await database.query<EvidenceRow>(
    `select id, order_id, attempt_number, kind, proves_order_status, proves_attempt_status, detail, recorded_at
     from evidence where order_id = $1 order by recorded_at, id limit $2`,
    [orderId, EVIDENCE_READ_MAX],
  );
  return rows.map((row) => ({
    id: row.id,
    orderId: row.order_id,
    attemptNumber: row.attempt_number,
    kind: row.kind,
    provesOrderStatus: row.proves_order_status,
    provesAttemptStatus: row.proves_attempt_status,
    detail: row.detail,
    recordedAt: row.recorded_at,
  }));
}
