import { createHmac, timingSafeEqual } from 'node:crypto';
import { toGatewayUnits } from '../../../domain/currency-units.ts';
import type { ChargeCommand, Gateway, PreparedCharge } from '../../../domain/gateway.ts';
import type { RawWebhook, WebhookReading } from '../../../domain/gateway-event.ts';
import { money } from '../../../domain/money.ts';
import type { GatewayOutcome } from '../../../domain/outcome.ts';
import type { HttpResult } from '../../../gateways/http.ts';
import { rawAnswer, readJsonAnswer } from '../../../gateways/raw-answer.ts';
import type { PaperTransport } from './transport.ts';

export interface AdyenParts {
  readonly transport: PaperTransport;
  readonly apiKey: string;
  /** Hexadecimal, as the customer area shows it. */
  readonly hmacKey: string;
}

const DAY = 24 * 3_600;
const DECIMALS = { CLP: 2, CVE: 0, IDR: 0, ISK: 2 };

/**
 * Adyen's Checkout: JSON with an idempotency key (kept 31 days by the older text; 7 are counted on), no inquiry at all. A lost
 * answer is found out by the same request again, or by the AUTHORISATION webhook. Source: Adyen's OpenAPI and webhook docs.
 */
export function createPaperAdyen(parts: AdyenParts): Gateway {
  return {
    name: 'adyen',
    capabilities: {
      repeat: { by: 'key', windowSeconds: 7 * DAY },
      inquiry: { by: [], absentConclusiveAfterSeconds: null },
      savesGatewayReferenceFirst: false,
      webhooks: 'signed',
      statements: true,
      closing: { by: [] },
      authorize: null,
      refund: { partial: true, repeat: { by: 'key', windowSeconds: 7 * 24 * 3_600 } },
      callTimeoutSeconds: 60,
      reference: { lengthMax: 80, pattern: '^.{1,80}$' },
      currencyDecimals: DECIMALS,
      timeZone: 'Europe/Amsterdam',
    },
    prepareCharge,
    charge: (prepared) => charge(parts, prepared),
    parseWebhook: (webhook) => parseWebhook(parts, webhook),
  };
}

function prepareCharge({ merchantReference, amount, paymentMethod, returnUrl }: ChargeCommand): PreparedCharge {
  const body = JSON.stringify({
    merchantAccount: 'PaidonceECOM',
    reference: merchantReference,
    amount: { value: toGatewayUnits(amount, DECIMALS), currency: amount.currency },
    paymentMethod: { type: 'scheme', storedPaymentMethodId: paymentMethod },
    returnUrl: returnUrl ?? undefined,
  });
  return { merchantReference, requestKey: merchantReference, body };
}

async function charge(
  { transport, apiKey }: AdyenParts,
  { requestKey, body }: PreparedCharge,
): Promise<GatewayOutcome> {
  const headers = { 'x-api-key': apiKey, 'idempotency-key': requestKey, 'content-type': 'application/json' };
  return outcomeOf(await transport.send({ url: 'https://checkout-test.adyen.com/v71/payments', headers, body }));
}

interface Answer {
  readonly resultCode?: string;
  readonly pspReference?: string;
  readonly refusalReasonCode?: string;
  readonly amount?: { readonly value: number; readonly currency: string };
  readonly action?: { readonly url?: string };
  readonly errorCode?: string;
}

function outcomeOf(result: HttpResult): GatewayOutcome {
  const raw = rawAnswer(result);
  if (result.kind === 'failed') {
    const { code: reason } = result;
    return result.sent
      ? { kind: 'unknown', reason, raw }
      : { kind: 'not_processed', declineCode: 'gateway_unreachable', reason, raw };
  }
  const answer = (readJsonAnswer(result.body) ?? {}) as Answer;
  const word = { gatewayReference: answer.pspReference ?? '', raw };
  // 704: the same key is being processed at this moment; how it ends is not known yet.
  if (result.status === 422 && answer.errorCode !== '704') {
    return { kind: 'not_processed', declineCode: 'refused_by_gateway', reason: answer.errorCode ?? '422', raw };
  }
  if (result.status !== 200 && result.status !== 201) return { kind: 'unknown', reason: `HTTP ${result.status}`, raw };
  switch (answer.resultCode) {
    case 'Authorised':
      if (answer.amount === undefined) return { kind: 'unknown', reason: 'no amount', raw };
      return { kind: 'approved', amount: money(answer.amount.value, answer.amount.currency), ...word };
    case 'Refused':
    case 'Cancelled':
      return { kind: 'declined', decline: refusal(answer.refusalReasonCode ?? ''), ...word };
    case 'RedirectShopper':
      if (answer.action?.url === undefined) return { kind: 'unknown', reason: 'no address', raw };
      return { kind: 'requires_action', action: { kind: 'redirect', url: answer.action.url }, ...word };
    case 'Pending':
    case 'Received':
      return { kind: 'pending', ...word };
    default:
      return { kind: 'unknown', reason: answer.resultCode ?? 'no result code', raw };
  }
}

function refusal(code: string) {
  const codes = { '6': 'expired_card', '12': 'insufficient_funds' } as const;
  const known = code === '6' || code === '12' ? codes[code] : 'card_declined';
  return { code: known, gatewayCode: code, retriable: true } as const;
}

interface Item {
  readonly pspReference: string;
  readonly originalReference?: string;
  readonly merchantAccountCode: string;
  readonly merchantReference: string;
  readonly amount: { readonly value: number; readonly currency: string };
  readonly eventCode: string;
  readonly success: string;
  readonly reason?: string;
  readonly additionalData?: { readonly hmacSignature?: string };
}

/** The signature stands inside the item and covers eight of its values; a JSON notification carries exactly one item. */
function parseWebhook({ hmacKey }: AdyenParts, { body }: RawWebhook): WebhookReading {
  const raw = Buffer.from(body).toString('utf8');
  const { notificationItems } = JSON.parse(raw) as { notificationItems: { NotificationRequestItem: Item }[] };
  const item = notificationItems[0]?.NotificationRequestItem;
  if (item === undefined || !isSigned(item, hmacKey)) return { kind: 'rejected', reason: 'signature' };
  const { pspReference: gatewayReference, eventCode, success, merchantReference } = item;
  const eventId = `${eventCode}:${gatewayReference}:${success}`;
  const amount = money(item.amount.value, item.amount.currency);
  const approved: GatewayOutcome = { kind: 'approved', amount, gatewayReference, raw };
  const declined: GatewayOutcome = { kind: 'declined', decline: refusal(''), gatewayReference, raw };
  const outcome = success === 'true' ? approved : declined;
  const charge = { subject: 'charge', merchantReference, gatewayReference, outcome, foreignAccount: null } as const;
  const news = eventCode === 'AUTHORISATION' ? charge : null;
  return { kind: 'genuine', event: { eventId, type: eventCode, occurredAt: null, news } };
}

function isSigned(item: Item, hmacKey: string): boolean {
  const {
    pspReference,
    originalReference = '',
    merchantAccountCode,
    merchantReference,
    amount,
    eventCode,
    success,
  } = item;
  const values = [
    pspReference,
    originalReference,
    merchantAccountCode,
    merchantReference,
    amount.value,
    amount.currency,
    eventCode,
    success,
  ];
  const mac = createHmac('sha256', Buffer.from(hmacKey, 'hex')).update(values.join(':')).digest();
  const given = Buffer.from(item.additionalData?.hmacSignature ?? '', 'base64');
  return given.length === mac.length && timingSafeEqual(given, mac);
}
