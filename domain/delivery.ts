/** How news reaches a merchant's endpoint: how often it is tried, and what an answer means. */

export const DELIVERY_STATUSES = ['pending', 'delivered', 'parked'] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Seconds between the end of a try and the next one; the last is repeated. */
const PAUSES_SECONDS = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200] as const;
/** Three days: a merchant who is away over a weekend misses nothing. */
export const DELIVERY_WINDOW_SECONDS = 72 * 3_600;
/** Endpoints that came back at one moment are not all called at another one. */
const SPREAD = 0.1;

/** What came of one try. `no_answer`: nothing came, or not in time; the endpoint may have acted on it all the same. */
export type EndpointAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly text: string }
  | { readonly kind: 'no_answer'; readonly reason: string }
  /** Nothing was sent, because the endpoint points to where merchants' endpoints must not be. */
  | { readonly kind: 'points_inward'; readonly reason: string };

export type DeliveryRuling =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'again'; readonly nextTryAt: string }
  | { readonly kind: 'parked'; readonly reason: string }
  /** The receiver says that it is gone for good: it is told of nothing any more. */
  | { readonly kind: 'endpoint_gone'; readonly reason: string };

export interface TriedDelivery {
  /** This try included. */
  readonly tries: number;
  /** ISO time. */
  readonly triesSince: string;
  readonly now: string;
  /** From 0 to 1, for the spread. */
  readonly random: number;
}

/**
 * What is to be done after a try. Only a 2xx counts as delivered, so a redirect does not: it is not followed, because it could
 * lead to where endpoints must not be, and a moved endpoint is the merchant's to put right.
 */
export function ruleOnDelivery(answer: EndpointAnswer, delivery: TriedDelivery): DeliveryRuling {
  if (answer.kind === 'answered' && answer.status >= 200 && answer.status < 300) return { kind: 'delivered' };
  if (answer.kind === 'answered' && answer.status === 410) {
    return { kind: 'endpoint_gone', reason: 'The endpoint answered 410: it is gone for good.' };
  }
  const nextTryAt = nextTry(delivery);
  if (nextTryAt !== null) return { kind: 'again', nextTryAt };
  const tries = delivery.tries === 1 ? '1 try' : `${delivery.tries} tries`;
  return { kind: 'parked', reason: `Not accepted within ${DELIVERY_WINDOW_SECONDS / 3_600} hours and ${tries}.` };
}

function nextTry({ tries, triesSince, now, random }: TriedDelivery): string | null {
  const pause = PAUSES_SECONDS[Math.min(tries, PAUSES_SECONDS.length) - 1] ?? PAUSES_SECONDS[0];
  const at = Date.parse(now) + pause * 1_000 * (1 + SPREAD * random);
  const end = Date.parse(triesSince) + DELIVERY_WINDOW_SECONDS * 1_000;
  return at > end ? null : new Date(at).toISOString();
}

/** How far deliveries lag behind. */
export interface DeliveryFigures {
  readonly pending: number;
  readonly parked: number;
  /** When the oldest event was told that is still to be delivered; null when there is none. */
  readonly oldestPendingAt: string | null;
}

/** In words, for whoever looks at a delivery. */
export function describeAnswer(answer: EndpointAnswer): string {
  return answer.kind === 'answered' ? `${answer.status} ${answer.text}`.trim() : answer.reason;
}
