import { z } from 'zod';
import { maskCardNumbers } from '../../domain/card-number.ts';
import { fromGatewayUnits } from '../../domain/currency-units.ts';
import { DISPUTE_STATUSES } from '../../domain/dispute.ts';
import type { EventNews, GatewayEvent, RawWebhook, WebhookReading } from '../../domain/gateway-event.ts';
import { RAW_LENGTH_MAX } from '../../domain/outcome.ts';
import { readJsonAnswer } from '../raw-answer.ts';
import { type SigningSecret, verifyStandardWebhook } from '../standard-webhooks.ts';
import { type Expected, outcomeOfCharge, wireCharge } from './answers.ts';
import { outcomeOfRefund, wireRefund } from './refunds.ts';

/** What the account knows for reading its webhooks. */
export interface WebhookReader {
  readonly secrets: readonly SigningSecret[];
  /** The account's name at the gateway. */
  readonly account: string;
  readonly decimals: Expected['decimals'];
}

/** What an event says, by its type; whatever else comes is kept and not understood. Null: it does not say enough, and a thin event must erase nothing that is known. */
type ReadNews = (reader: WebhookReader, data: unknown, raw: string) => EventNews | null;

const NEWS: readonly (readonly [RegExp, ReadNews])[] = [
  [/^charge\.(approved|declined|pending|requires_action)$/, chargeNews],
  [/^refund\.(succeeded|failed|pending)$/, refundNews],
  [/^dispute\.(opened|won|lost)$/, disputeNews],
];

const envelope = z.object({
  type: z.string().regex(/^[a-z][a-z0-9_.]{0,99}$/),
  timestamp: z.iso.datetime().nullable().catch(null),
  account: z.string().min(1).max(64).nullable().catch(null),
  data: z.unknown(),
});

/**
 * Verifies and reads one webhook. Whatever is well signed is genuine, also when it says nothing that can be understood: the
 * gateway is told that it was taken, and a person can look at it.
 */
export function parseSimulatorWebhook(reader: WebhookReader, webhook: RawWebhook, now: Date): WebhookReading {
  const verdict = verifyStandardWebhook(webhook.headers, webhook.body, { secrets: reader.secrets, now });
  if (verdict.kind === 'rejected') return verdict;
  return { kind: 'genuine', event: { eventId: verdict.id, ...readEvent(reader, webhook.body) } };
}

function readEvent(reader: WebhookReader, body: Uint8Array): Omit<GatewayEvent, 'eventId'> {
  const text = new TextDecoder().decode(body);
  const parsed = envelope.safeParse(readJsonAnswer(text));
  if (!parsed.success) return { type: 'unreadable', occurredAt: null, news: null };
  const { type, timestamp: occurredAt, account, data } = parsed.data;
  const raw = maskCardNumbers(text).slice(0, RAW_LENGTH_MAX);
  const read = NEWS.find(([types]) => types.test(type))?.[1];
  const news = read?.(reader, data, raw) ?? null;
  if (news === null) return { type, occurredAt, news };
  return {
    type,
    occurredAt,
    news: { ...news, foreignAccount: account === reader.account ? null : (account ?? 'none') },
  };
}

const reference = z.string().min(1).max(255);

function chargeNews({ decimals }: WebhookReader, data: unknown, raw: string): EventNews | null {
  const charge = wireCharge.extend({ reference }).safeParse(data);
  if (!charge.success) return null;
  const { id: gatewayReference, reference: merchantReference, amount } = charge.data;
  // The order's currency is not known here; ours is compared with it when the event is applied.
  const expected = { merchantReference, currency: amount.currency, decimals };
  const outcome = outcomeOfCharge(charge.data, expected, raw);
  if (outcome.kind === 'unknown') return null;
  return { subject: 'charge', merchantReference, gatewayReference, outcome, foreignAccount: null };
}

function refundNews({ decimals }: WebhookReader, data: unknown, raw: string): EventNews | null {
  const refund = wireRefund.extend({ reference, charge: reference, charge_reference: reference }).safeParse(data);
  if (!refund.success) return null;
  const { id: refundGatewayReference, reference: refundReference, charge, charge_reference: ofCharge } = refund.data;
  const outcome = outcomeOfRefund(refund.data, {
    reference: refundReference,
    capabilities: { currencyDecimals: decimals },
    raw,
  });
  if (outcome.kind === 'unknown') return null;
  const named = { merchantReference: ofCharge, gatewayReference: charge, foreignAccount: null };
  return { subject: 'refund', ...named, refundReference, refundGatewayReference, outcome };
}

const wireDispute = z.object({
  id: reference,
  charge: reference,
  charge_reference: reference,
  status: z.enum(DISPUTE_STATUSES),
  amount: z.object({ minor_units: z.number().int().positive(), currency: z.string() }),
});

function disputeNews({ decimals }: WebhookReader, data: unknown, raw: string): EventNews | null {
  const dispute = wireDispute.safeParse(data);
  if (!dispute.success) return null;
  const { id: disputeGatewayReference, charge, charge_reference: ofCharge, status } = dispute.data;
  const { minor_units: minorUnits, currency } = dispute.data.amount;
  const amount = fromGatewayUnits(minorUnits, currency, decimals);
  if (amount === undefined) return null;
  const named = { merchantReference: ofCharge, gatewayReference: charge, foreignAccount: null };
  return { subject: 'dispute', ...named, disputeGatewayReference, amount, status, raw };
}
