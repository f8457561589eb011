import type { Money } from './money.ts';
import type { GatewayOutcome } from './outcome.ts';

/**
 * Money that a gateway holds for an order. These words are kept apart from those about charges, so that "authorized" can
 * never be taken for "paid": what asks for a charge cannot even be answered by it.
 */
interface Held {
  readonly kind: 'authorized';
  readonly gatewayReference: string;
  readonly amount: Money;
  /** ISO time at which the gateway releases it by itself; null: it does not say. */
  readonly expiresAt: string | null;
  readonly raw: string;
}

/** What the request for an authorization established. There is no `approved`: nothing is paid by it. */
export type AuthorizationOutcome = Exclude<GatewayOutcome, { readonly kind: 'approved' }> | Held;

/** How an authorization ended; `by` is the reference of our request, null where time or a person at the gateway ended it. */
export type EndOfAuthorization =
  | {
      readonly kind: 'captured';
      readonly by: string | null;
      readonly gatewayReference: string;
      readonly amount: Money;
      readonly raw: string;
    }
  | { readonly kind: 'voided'; readonly by: string | null; readonly gatewayReference: string; readonly raw: string }
  | { readonly kind: 'lapsed'; readonly gatewayReference: string; readonly raw: string };

/** What a capture or a void established. `not_processed` and `declined` leave the money held. */
export type FollowUpOutcome =
  | EndOfAuthorization
  | Extract<GatewayOutcome, { readonly kind: 'declined' | 'not_processed' | 'unknown' }>;

/** What an inquiry about an authorization established. */
export type AuthorizationAnswer =
  | {
      readonly kind: 'found';
      readonly outcome:
        | Exclude<AuthorizationOutcome, { readonly kind: 'not_processed' | 'unknown' }>
        | EndOfAuthorization;
    }
  /** The gateway knows nothing of this reference. Not "failed": our request may still be on its way. */
  | { readonly kind: 'absent'; readonly raw: string }
  | { readonly kind: 'unavailable'; readonly reason: string };
