import type { AuthorizationAnswer, AuthorizationOutcome, FollowUpOutcome } from './authorization.ts';
import type { GatewayCapabilities } from './capabilities.ts';
import type { RawWebhook, WebhookReading } from './gateway-event.ts';
import type { Money } from './money.ts';
import type { CloseAnswer, GatewayOutcome, InquiryAnswer } from './outcome.ts';

/** What we want done, before a gateway's own words for it are found. Free of card data: `paymentMethod` is a token. */
export interface ChargeCommand {
  readonly merchantReference: string;
  readonly amount: Money;
  readonly paymentMethod: string;
  readonly description: string | null;
  /** Where a redirecting gateway sends the customer back to. */
  readonly returnUrl: string | null;
}

/**
 * The request as it is stored before it is sent, and sent again byte for byte if ever: no clock, no random part, no
 * secret. Credentials and card data are filled in by the adapter at the moment of sending (Payworks' form has both).
 */
export interface PreparedCharge {
  readonly merchantReference: string;
  /** The gateway's idempotency key, or the merchant reference again where it takes none. */
  readonly requestKey: string;
  readonly body: string;
}

/** What an adapter may use while it makes one call. */
export interface CallScope {
  /** The whole call, from connecting to the last byte of the answer, ends within this time. */
  readonly timeoutMs: number;
  /**
   * For gateways that charge in two steps (create an intent, then confirm it): saves the gateway's id durably before the
   * risky step, so that a lost answer can be asked for by that id. Resolves when the row is committed.
   */
  readonly saveGatewayReference: (gatewayReference: string) => Promise<void>;
}

/** What is known about a sent attempt when the gateway is asked about it. */
export interface InquiryCommand {
  readonly merchantReference: string;
  readonly gatewayReference: string | null;
  readonly amount: Money;
  /** ISO time of the first send: gateways that can only list need to know where to start. */
  readonly firstSentAt: string;
}

/** Which charge gives money back, and how much of it. */
export interface RefundCommand {
  /** Ours, one per refund, the same on every try. */
  readonly refundReference: string;
  readonly charge: { readonly merchantReference: string; readonly gatewayReference: string | null };
  readonly amount: Money;
}

/** A refund's request as it is stored before it is sent; see `PreparedCharge`. */
export interface PreparedRefund {
  readonly refundReference: string;
  readonly requestKey: string;
  readonly body: string;
}

/** What is known about a sent refund when the gateway is asked about it. */
export interface RefundInquiry extends RefundCommand {
  /** The gateway's number for the refund, where an answer has named it. */
  readonly gatewayReference: string | null;
}

/** Capture or release of an authorization, addressed like a refund. `amount`: what is to be taken, or all that is held. */
export interface FollowUpCommand {
  readonly kind: 'capture' | 'void';
  /** Ours, one per capture or void, the same on every try. */
  readonly followUpReference: string;
  readonly charge: { readonly merchantReference: string; readonly gatewayReference: string | null };
  readonly amount: Money;
}

/** A capture's or a void's request as it is stored before it is sent; see `PreparedCharge`. */
export interface PreparedFollowUp {
  readonly kind: FollowUpCommand['kind'];
  readonly followUpReference: string;
  readonly requestKey: string;
  readonly body: string;
}

export interface StatementLine {
  readonly kind: 'charge' | 'refund' | 'fee' | 'chargeback' | 'payout' | 'adjustment' | 'transfer';
  readonly merchantReference: string | null;
  readonly gatewayReference: string | null;
  readonly gross: Money;
  readonly lineNumber: number;
}

/**
 * One gateway. Only charging and asking are demanded; the other faces are there where the gateway has them, and what it
 * can do is declared in `capabilities`, never found out by trying. An adapter sends nothing on its own account: each
 * method makes the one call it is named for, with no retries inside, and turns every unclear answer into `unknown`.
 */
export interface Gateway {
  readonly name: string;
  readonly capabilities: GatewayCapabilities;

  /** Pure: the same command gives the same bytes for ever. */
  prepareCharge(command: ChargeCommand): PreparedCharge;
  charge(prepared: PreparedCharge, scope: CallScope): Promise<GatewayOutcome>;
  /** Absent where a gateway cannot be asked (Adyen): then `capabilities.inquiry.by` is empty. */
  inquire?(command: InquiryCommand, scope: CallScope): Promise<InquiryAnswer>;

  /**
   * Closes a reference, where `capabilities.closing` names a reference: from then on nothing under it can move, not even by a request
   * that is still on its way. What it was charged for before stays.
   */
  close?(command: InquiryCommand, scope: CallScope): Promise<CloseAnswer>;

  /** These three are there together, where `capabilities.refund` is not null. Pure, like `prepareCharge`. */
  prepareRefund?(command: RefundCommand): PreparedRefund;
  /** `approved`: the money is on its way back; `declined`: the gateway refuses, and nothing moves. */
  refund?(prepared: PreparedRefund, scope: CallScope): Promise<GatewayOutcome>;
  inquireRefund?(inquiry: RefundInquiry, scope: CallScope): Promise<InquiryAnswer>;

  /** These five are there together, where `capabilities.authorize` is not null. Both prepare methods are pure, like `prepareCharge`. */
  prepareAuthorization?(command: ChargeCommand): PreparedCharge;
  /** Holds the money; none moves. */
  authorize?(prepared: PreparedCharge, scope: CallScope): Promise<AuthorizationOutcome>;
  prepareFollowUp?(command: FollowUpCommand): PreparedFollowUp;
  /** Takes or releases what is held, as `prepared.kind` says. */
  followUp?(prepared: PreparedFollowUp, scope: CallScope): Promise<FollowUpOutcome>;
  /** Tells how an authorization stands; a lost capture or void is found out by it too. */
  inquireAuthorization?(command: InquiryCommand, scope: CallScope): Promise<AuthorizationAnswer>;

  /** Verifies and reads in one step, without I/O, so that nobody can read an event without verifying it. */
  parseWebhook?(webhook: RawWebhook, now: Date): WebhookReading;

  fetchStatement?(
    businessDate: string,
    scope: CallScope,
  ): Promise<
    | { readonly kind: 'file'; readonly bytes: Uint8Array }
    | { readonly kind: 'not_ready' }
    | { readonly kind: 'no_data' }
  >;
  readStatement?(bytes: Uint8Array): AsyncIterable<StatementLine>;
}
