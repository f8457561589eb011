import { createHmac, timingSafeEqual } from 'node:crypto';
import { toGatewayUnits } from '../../../domain/currency-units.ts';
import type { CallScope, ChargeCommand, Gateway, InquiryCommand, PreparedCharge } from '../../../domain/gateway.ts';
import type { RawWebhook, WebhookReading } from '../../../domain/gateway-event.ts';
import { money } from '../../../domain/money.ts';
import type { Decline, GatewayOutcome, InquiryAnswer } from '../../../domain/outcome.ts';
import type { HttpResult } from '../../../gateways/http.ts';
import { readJsonAnswer } from '../../../gateways/raw-answer.ts';
import type { PaperTransport } from './transport.ts';

export interface StripeParts {
  readonly transport: PaperTransport;
  readonly secretKey: string;
  readonly webhookSecret: string;
}

const INTENTS = 'https://api.stripe.com/v1/payment_intents';
const HOUR = 3_600;
/** Zero-decimal currencies that Stripe counts with two decimals for old times' sake. */
const DECIMALS = { ISK: 2, UGX: 2 };

/**
 * Stripe's PaymentIntents: two calls, each with a key that is kept for 24 hours. The intent's id is saved between them, so a
 * lost confirmation is asked for by that id; there is no inquiry by a merchant's reference. Source: Stripe's API reference.
 */
export function createPaperStripe(parts: StripeParts): Gateway {
  return {
    name: 'stripe',
    capabilities: {
      repeat: { by: 'key', windowSeconds: 24 * HOUR },
      inquiry: { by: ['gateway_reference'], absentConclusiveAfterSeconds: null },
      savesGatewayReferenceFirst: true,
      webhooks: 'signed',
      statements: true,
      closing: { by: ['gateway_reference'] },
      authorize: null,
      refund: { partial: true, repeat: { by: 'key', windowSeconds: 24 * 3_600 } },
      callTimeoutSeconds: 80,
      reference: { lengthMax: 500, pattern: '^.{1,500}$' },
      currencyDecimals: DECIMALS,
      timeZone: 'UTC',
    },
    prepareCharge,
    charge: (prepared, scope) => charge(parts, prepared, scope),
    inquire: (command) => inquire(parts, command),
    parseWebhook: (webhook) => parseWebhook(parts, webhook),
  };
}

function prepareCharge({ merchantReference, amount, paymentMethod, returnUrl }: ChargeCommand): PreparedCharge {
  const form = new URLSearchParams({
    amount: String(toGatewayUnits(amount, DECIMALS)),
    currency: amount.currency.toLowerCase(),
    payment_method: paymentMethod,
    'payment_method_types[]': 'card',
    'metadata[merchant_reference]': merchantReference,
    ...(returnUrl === null ? {} : { return_url: returnUrl }),
  });
  return { merchantReference, requestKey: merchantReference, body: form.toString() };
}

async function charge(
  { transport, secretKey }: StripeParts,
  prepared: PreparedCharge,
  scope: CallScope,
): Promise<GatewayOutcome> {
  const form = new URLSearchParams(prepared.body);
  const returnUrl = form.get('return_url');
  form.delete('return_url');
  const post = (url: string, key: string, body: string): Promise<HttpResult> =>
    transport.send({ url, headers: { authorization: `Bearer ${secretKey}`, 'idempotency-key': key }, body });
  const created = await post(INTENTS, `${prepared.requestKey}-create`, form.toString());
  const intent = intentIn(created);
  // Nothing can have moved: an intent charges only when it is confirmed.
  if (intent === undefined)
    return { kind: 'not_processed', declineCode: 'never_arrived', reason: 'no intent', raw: rawOf(created) };
  await scope.saveGatewayReference(intent.id);
  const confirmation = returnUrl === null ? '' : new URLSearchParams({ return_url: returnUrl }).toString();
  return outcomeOf(await post(`${INTENTS}/${intent.id}/confirm`, `${prepared.requestKey}-confirm`, confirmation));
}

interface Intent {
  readonly id: string;
  readonly status: string;
  readonly amount_received?: number;
  readonly currency?: string;
  readonly next_action?: { readonly redirect_to_url?: { readonly url?: string } } | null;
  readonly metadata?: { readonly merchant_reference?: string };
}

function intentIn(result: HttpResult): Intent | undefined {
  if (result.kind === 'failed' || result.status !== 200) return undefined;
  const intent = readJsonAnswer(result.body) as Partial<Intent> | undefined;
  return typeof intent?.id === 'string' && typeof intent.status === 'string' ? (intent as Intent) : undefined;
}

function rawOf(result: HttpResult): string {
  return result.kind === 'failed' ? '' : result.body;
}

function outcomeOf(result: HttpResult): GatewayOutcome {
  const raw = rawOf(result);
  const intent = intentIn(result);
  if (intent !== undefined) return outcomeOfIntent(intent, raw);
  if (result.kind === 'answered' && result.status === 402) {
    const { error } = (readJsonAnswer(result.body) ?? {}) as { error?: { type?: string; decline_code?: string } };
    if (error?.type === 'card_error') return { kind: 'declined', decline: declineOf(error.decline_code), raw };
  }
  return { kind: 'unknown', reason: result.kind === 'failed' ? result.code : `HTTP ${result.status}`, raw };
}

function declineOf(code = 'generic_decline'): Decline {
  return {
    code: code === 'insufficient_funds' ? 'insufficient_funds' : 'card_declined',
    gatewayCode: code,
    retriable: true,
  };
}

function outcomeOfIntent(intent: Intent, raw: string): Exclude<GatewayOutcome, { kind: 'not_processed' }> {
  const word = { gatewayReference: intent.id, raw };
  const url = intent.next_action?.redirect_to_url?.url;
  switch (intent.status) {
    case 'succeeded':
      return {
        kind: 'approved',
        amount: money(intent.amount_received ?? 0, (intent.currency ?? '').toUpperCase()),
        ...word,
      };
    case 'processing':
      return { kind: 'pending', ...word };
    case 'requires_action':
      if (url !== undefined) return { kind: 'requires_action', action: { kind: 'redirect', url }, ...word };
      return { kind: 'unknown', reason: 'an action without an address', raw };
    case 'requires_payment_method':
    case 'canceled':
      return { kind: 'declined', decline: declineOf(), ...word };
    default:
      return { kind: 'unknown', reason: intent.status, raw };
  }
}

async function inquire(
  { transport, secretKey }: StripeParts,
  { gatewayReference }: InquiryCommand,
): Promise<InquiryAnswer> {
  if (gatewayReference === null) return { kind: 'unavailable', reason: 'the intent was not saved' };
  const headers = { authorization: `Bearer ${secretKey}` };
  const result = await transport.send({ url: `${INTENTS}/${gatewayReference}`, headers });
  const intent = intentIn(result);
  if (intent === undefined) return { kind: 'unavailable', reason: 'no readable intent' };
  return { kind: 'found', outcome: outcomeOfIntent(intent, rawOf(result)) };
}

/** `Stripe-Signature: t=…,v1=…`: an HMAC over the time, a point and the exact bytes. */
function parseWebhook({ webhookSecret }: StripeParts, { headers, body }: RawWebhook): WebhookReading {
  const parts = new Map(
    (headers['stripe-signature']?.[0] ?? '').split(',').map((part) => part.split('=', 2) as [string, string]),
  );
  const mac = createHmac('sha256', webhookSecret)
    .update(`${parts.get('t') ?? ''}.`)
    .update(body)
    .digest();
  const given = Buffer.from(parts.get('v1') ?? '', 'hex');
  if (given.length !== mac.length || !timingSafeEqual(given, mac)) return { kind: 'rejected', reason: 'signature' };
  const raw = Buffer.from(body).toString('utf8');
  const { id: eventId, type, data } = JSON.parse(raw) as { id: string; type: string; data: { object: Intent } };
  const merchantReference = data.object.metadata?.merchant_reference ?? null;
  const news = {
    subject: 'charge',
    merchantReference,
    gatewayReference: data.object.id,
    outcome: outcomeOfIntent(data.object, raw),
    foreignAccount: null,
  } as const;
  return { kind: 'genuine', event: { eventId, type, occurredAt: null, news } };
}
