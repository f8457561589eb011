import { z } from 'zod';
import { maskCardNumbers } from '../../domain/card-number.ts';
import type { ChargeNews, GatewayEvent, RawWebhook, WebhookReading } from '../../domain/gateway-event.ts';
import { RAW_LENGTH_MAX } from '../../domain/outcome.ts';
import { readJsonAnswer } from '../raw-answer.ts';
import { type SigningSecret, verifyStandardWebhook } from '../standard-webhooks.ts';
import { type Expected, outcomeOfCharge, wireCharge } from './answers.ts';

/** What the account knows for reading its webhooks. */
export interface WebhookReader {
  readonly secrets: readonly SigningSecret[];
  /** The account's name at the gateway. */
  readonly account: string;
  readonly decimals: Expected['decimals'];
}

/** Types begin so when they are about a charge; whatever else comes is kept and not understood. */
const CHARGE_TYPE = /^charge\.(approved|declined|pending|requires_action)$/;

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
  const news = CHARGE_TYPE.test(type) ? chargeNews(reader, data, raw) : null;
  if (news === null) return { type, occurredAt, news };
  return {
    type,
    occurredAt,
    news: { ...news, foreignAccount: account === reader.account ? null : (account ?? 'none') },
  };
}

/** Null when it does not say enough: a thin event must erase nothing that is known. */
function chargeNews({ decimals }: WebhookReader, data: unknown, raw: string): ChargeNews | null {
  const charge = wireCharge.extend({ reference: z.string().min(1).max(255) }).safeParse(data);
  if (!charge.success) return null;
  const { id: gatewayReference, reference: merchantReference, amount } = charge.data;
  // The order's currency is not known here; ours is compared with it when the event is applied.
  const expected = { merchantReference, currency: amount.currency, decimals };
  const outcome = outcomeOfCharge(charge.data, expected, raw);
  if (outcome.kind === 'unknown') return null;
  return { subject: 'charge', merchantReference, gatewayReference, outcome, foreignAccount: null };
}
