import type { SettledAttemptStatus } from './attempt.ts';
import type { EvidencedOrderStatus } from './order.ts';

/** Where a piece of evidence comes from. "Retries exhausted" is not among them on purpose. */
export const EVIDENCE_KINDS = [
  'gateway_response',
  'webhook',
  'inquiry',
  'statement_line',
  'operator_decision',
  'never_sent',
] as const;

export type EvidenceKind = (typeof EVIDENCE_KINDS)[number];

/**
 * Which kinds may prove which status. `never_sent` proves only that no money can have moved, so it can never stand
 * behind `paid`; the database holds the same rule as a CHECK.
 */
export const EVIDENCE_FOR_ORDER: Readonly<Record<EvidencedOrderStatus, readonly EvidenceKind[]>> = {
  paid: ['gateway_response', 'webhook', 'inquiry', 'statement_line', 'operator_decision'],
  failed: EVIDENCE_KINDS,
  expired: EVIDENCE_KINDS,
  cancelled: EVIDENCE_KINDS,
  voided: ['gateway_response', 'webhook', 'inquiry', 'statement_line', 'operator_decision'],
};

/** What an evidence row says and what it proves. `detail` is the source's own words, without card data. */
export interface Evidence {
  readonly id: string;
  readonly orderId: string;
  readonly attemptNumber: number | null;
  readonly kind: EvidenceKind;
  readonly provesOrderStatus: EvidencedOrderStatus | null;
  readonly provesAttemptStatus: SettledAttemptStatus | null;
  readonly detail: string;
  readonly recordedAt: string;
}
