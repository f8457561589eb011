import type { DisputeStatus } from './dispute.ts';
import type { Money } from './money.ts';
import type { GatewayOutcome } from './outcome.ts';

/** A webhook as it came: the exact bytes, because signatures are over bytes and not over re-written JSON. */
export interface RawWebhook {
  /** By lower-case name, each with all the values it came with: a doubled header is a forger's tool and must be seen. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: Uint8Array;
}

/** Which charge an event is about, also one that tells of its refund or its dispute: so every event finds its order. */
interface ChargeNamed {
  /** At least one of the two references is there. */
  readonly merchantReference: string | null;
  readonly gatewayReference: string | null;
  /** The gateway account that the event names, when it is not the one it came in for: such news is never applied. */
  readonly foreignAccount: string | null;
}

/** What a gateway's event says of a charge. */
export interface ChargeNews extends ChargeNamed {
  readonly subject: 'charge';
  readonly outcome: GatewayOutcome;
}

/** What it says of a refund; at least one of the refund's two references is there. */
export interface RefundEventNews extends ChargeNamed {
  readonly subject: 'refund';
  readonly refundReference: string | null;
  /** The gateway's number for the refund. */
  readonly refundGatewayReference: string | null;
  readonly outcome: GatewayOutcome;
}

/** What it says of a dispute. */
export interface DisputeEventNews extends ChargeNamed {
  readonly subject: 'dispute';
  /** The gateway's number for the dispute. */
  readonly disputeGatewayReference: string;
  readonly amount: Money;
  readonly status: DisputeStatus;
  /** The gateway's own words, without card data. */
  readonly raw: string;
}

/** Another subject is one more member here and one more line in store/inbox/apply-event.ts. */
export type EventNews = ChargeNews | RefundEventNews | DisputeEventNews;

/** One genuine event of a gateway. */
export interface GatewayEvent {
  /** The gateway's own, the same over all tries of the event. */
  readonly eventId: string;
  /** The gateway's word for what happened. */
  readonly type: string;
  /** When it happened, by the gateway's clock; often only to the second, so it cannot put events in order. */
  readonly occurredAt: string | null;
  /** Null for an event of a kind that we do not know, or one that does not say enough: it is kept and shown, no more. */
  readonly news: EventNews | null;
}

export type WebhookReading =
  | { readonly kind: 'genuine'; readonly event: GatewayEvent }
  | { readonly kind: 'rejected'; readonly reason: string };

/**
 * How far an event has come. `stored`: durable, to be applied. `applied`: it changed something. `nothing_new`: the order
 * knew already, or knew better. `doubted`: it cannot be true together with the order; a person looks at the order.
 * `unmatched`: nothing of ours carries its reference yet; after a day `pooled`, for a person. `not_understood`: no kind that
 * we know. `stuck`: applying it failed for a reason that will not go away by itself.
 */
export const INBOX_EVENT_STATES = [
  'stored',
  'applied',
  'nothing_new',
  'doubted',
  'unmatched',
  'pooled',
  'not_understood',
  'stuck',
] as const;

export type InboxEventState = (typeof INBOX_EVENT_STATES)[number];
