import { formatMoney, type Money, sameMoney } from './money.ts';
import type { GatewayOutcome } from './outcome.ts';
import { isRefundSettled, REFUND_TRANSITIONS, type RefundFailureCode, type RefundStatus } from './refund.ts';

/** What the row says at the moment when news about a refund comes in. */
export interface RefundOnTrial {
  readonly status: RefundStatus;
  readonly amount: Money;
  /** It had succeeded, and the bank sent the money back: that it succeeded is old news. */
  readonly returned: boolean;
  /** The gateway's number in the news already belongs to another refund. */
  readonly gatewayReferenceTaken: boolean;
}

export type RefundRuling =
  | { readonly kind: 'nothing_new' }
  | { readonly kind: 'applied'; readonly status: RefundStatus; readonly failureCode: RefundFailureCode | null }
  /** The news cannot be true together with the row. It is kept, never applied, and a person looks at it. */
  | { readonly kind: 'doubted'; readonly status: RefundStatus; readonly reason: string };

/**
 * Decides what news about a refund means. First writer wins, with one exception that gateways make themselves: a refund
 * that succeeded may be reported as failed later. Money is never given back as "free to refund again" on a doubt.
 */
export function ruleOnRefund(refund: RefundOnTrial, outcome: GatewayOutcome): RefundRuling {
  const doubt = findDoubt(refund, outcome);
  if (doubt !== undefined) {
    return { kind: 'doubted', status: refund.status === 'sent' ? 'unknown' : refund.status, reason: doubt };
  }
  const next = statusAfter(refund, outcome);
  if (next === undefined || !REFUND_TRANSITIONS[refund.status].includes(next)) return { kind: 'nothing_new' };
  return { kind: 'applied', status: next, failureCode: next === 'failed' ? failureCodeOf(refund) : null };
}

function findDoubt(
  { status, amount, returned, gatewayReferenceTaken }: RefundOnTrial,
  outcome: GatewayOutcome,
): string | undefined {
  if (
    outcome.kind === 'approved' &&
    ((status === 'failed' && !returned) || status === 'requested' || status === 'awaiting_approval')
  ) {
    return `The gateway says that it refunded, and the refund is ${status}.`;
  }
  if (outcome.kind === 'approved' && !sameMoney(outcome.amount, amount)) {
    return `The gateway refunded ${formatMoney(outcome.amount)}, the refund is of ${formatMoney(amount)}.`;
  }
  if (gatewayReferenceTaken) return 'The gateway answered with a gateway reference that belongs to another refund.';
  return undefined;
}

function statusAfter({ status }: RefundOnTrial, outcome: GatewayOutcome): RefundStatus | undefined {
  switch (outcome.kind) {
    case 'approved':
      return 'succeeded';
    case 'declined':
      return 'failed';
    case 'pending':
      return 'pending';
    case 'not_processed':
      if (isRefundSettled(status)) return undefined;
      return outcome.declineCode === 'refused_by_gateway' ? 'failed' : 'requested';
    case 'unknown':
      return status === 'sent' ? 'unknown' : undefined;
    case 'requires_action':
      return undefined;
  }
}

function failureCodeOf({ status }: RefundOnTrial): RefundFailureCode {
  return status === 'succeeded' ? 'returned_by_bank' : 'refused_by_gateway';
}
