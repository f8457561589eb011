import { ulidOf } from './merchant-reference.ts';

/**
 * Every status a refund can have. `awaiting_approval`: a second person has to agree. `requested`: its amount is taken from
 * what can be refunded, and nothing is sent. `sent`: the request may be out.
 */
export const REFUND_STATUSES = [
  'awaiting_approval',
  'requested',
  'sent',
  'pending',
  'unknown',
  'succeeded',
  'failed',
] as const;

export type RefundStatus = (typeof REFUND_STATUSES)[number];

/**
 * Where a refund may go. Back to `requested` only when it is certain that the gateway did not take the request. `succeeded`
 * may still become `failed`: a bank refuses the money days later, and the amount can be refunded again.
 */
export const REFUND_TRANSITIONS: Readonly<Record<RefundStatus, readonly RefundStatus[]>> = {
  awaiting_approval: ['requested', 'failed'],
  requested: ['sent', 'failed'],
  sent: ['requested', 'pending', 'unknown', 'succeeded', 'failed'],
  pending: ['succeeded', 'failed'],
  unknown: ['requested', 'pending', 'succeeded', 'failed'],
  succeeded: ['failed'],
  failed: [],
};

/** The workflow of the refund has nothing more to do. The database wants an evidence row for each of these. */
const SETTLED_REFUND_STATUSES = ['succeeded', 'failed'] as const satisfies readonly RefundStatus[];

export function isRefundSettled(status: RefundStatus): boolean {
  return (SETTLED_REFUND_STATUSES as readonly RefundStatus[]).includes(status);
}

/** Why a refund failed, in words for the shop. */
export const REFUND_FAILURE_CODES = [
  'refused_by_gateway',
  'returned_by_bank',
  'withdrawn',
  'settled_by_operator',
] as const;

export type RefundFailureCode = (typeof REFUND_FAILURE_CODES)[number];

/** What a refund that was not sent yet waits for. */
export type RefundObstacle = 'approval' | 'dispute' | 'another_refund' | 'person';

/** How much of an order went back, in one word. */
export const REFUND_COVERAGES = ['none', 'partial', 'full'] as const;

export type RefundCoverage = (typeof REFUND_COVERAGES)[number];

/** The amounts beside an order's status, in minor units of its currency. */
export interface OrderAmounts {
  readonly captured: number;
  readonly refundReserved: number;
  readonly refunded: number;
  readonly disputed: number;
  readonly disputeLost: number;
}

export function refundCoverage({ captured, refunded }: Pick<OrderAmounts, 'captured' | 'refunded'>): RefundCoverage {
  if (refunded === 0) return 'none';
  return refunded < captured ? 'partial' : 'full';
}

/** What can still be refunded, in minor units: everything that earlier refunds and lost disputes have left. */
export function refundableMinorUnits({ captured, refundReserved, disputeLost }: OrderAmounts): number {
  return captured - refundReserved - disputeLost;
}

/**
 * Our number for one refund at the gateway, sent on every try: a function of the refund's row id and of nothing else, so
 * that a process that lost everything asks about, or repeats, the right refund.
 */
export function refundReference(refundId: string): string {
  return `${ulidOf(refundId)}RF`;
}
