import type { Money } from './money.ts';

/** What the customer has to do before the gateway goes on: follow a redirect, or show a code to scan. */
export interface CustomerAction {
  readonly kind: 'redirect' | 'show_code';
  readonly url: string;
}

/** Why a charge was refused, in words for the shop: a stable code of ours, and the gateway's own code beside it. */
export interface Decline {
  readonly code: DeclineCode;
  readonly gatewayCode?: string;
  /** Whether another try by the customer can make sense (other card, later), or never can. */
  readonly retriable: boolean;
}

export const DECLINE_CODES = [
  'card_declined',
  'insufficient_funds',
  'expired_card',
  'invalid_payment_method',
  'possible_duplicate',
  'refused_by_gateway',
  'gateway_unreachable',
  'never_arrived',
  'settled_by_operator',
  'closed_at_gateway',
  'other',
] as const;

export type DeclineCode = (typeof DECLINE_CODES)[number];

/** What every statement of a gateway carries: its own number for the charge, and its words as they came, without card data. */
interface GatewayWord {
  readonly gatewayReference?: string;
  /** What the gateway said, as text (at most RAW_LENGTH_MAX characters), kept as evidence. */
  readonly raw: string;
}

/**
 * What one call to a gateway established. There is no "failed": a time-out, a 500, a page of HTML or a cut connection
 * can only be `unknown`, and the type leaves no other way to write it.
 */
export type GatewayOutcome =
  | (GatewayWord & { readonly kind: 'approved'; readonly amount: Money })
  | (GatewayWord & { readonly kind: 'declined'; readonly decline: Decline })
  | (GatewayWord & { readonly kind: 'requires_action'; readonly action: CustomerAction })
  | (GatewayWord & { readonly kind: 'pending' })
  /**
   * It is certain that this request moved nothing: the connection was refused, the gateway's limiter turned it away, or the
   * gateway found it malformed (`refused_by_gateway`). It speaks of one request: for a repeat it says nothing about the first.
   */
  | {
      readonly kind: 'not_processed';
      readonly declineCode: 'gateway_unreachable' | 'never_arrived' | 'refused_by_gateway';
      readonly reason: string;
      readonly raw: string;
    }
  /** It may have happened. Only an inquiry, a webhook, a statement or a person may settle it. */
  | { readonly kind: 'unknown'; readonly reason: string; readonly raw: string };

export type OutcomeKind = GatewayOutcome['kind'];

export const OUTCOME_KINDS = [
  'approved',
  'declined',
  'requires_action',
  'pending',
  'not_processed',
  'unknown',
] as const satisfies readonly OutcomeKind[];

/** What an inquiry established: a statement about the charge, its absence, or no answer at all. */
export type InquiryAnswer =
  | { readonly kind: 'found'; readonly outcome: Exclude<GatewayOutcome, { kind: 'not_processed' }> }
  /** The gateway knows nothing of this reference. Not "failed": our request may still be on its way. */
  | { readonly kind: 'absent'; readonly raw: string }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** What the closing of a reference established. */
export type CloseAnswer =
  /** Nothing has moved under it, and nothing can any more. */
  | { readonly kind: 'closed'; readonly raw: string }
  /** Too late: this is what it came to before. */
  | Extract<InquiryAnswer, { kind: 'found' }>
  | { readonly kind: 'unavailable'; readonly reason: string };

/** Evidence texts are cut here, so that a gateway that sends megabytes cannot fill the books. */
export const RAW_LENGTH_MAX = 4_000;
