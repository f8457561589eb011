import { z } from 'zod';
import type { GatewayCapabilities } from '../../domain/capabilities.ts';
import { fromGatewayUnits, toGatewayUnits } from '../../domain/currency-units.ts';
import type { CallScope, PreparedRefund, RefundCommand, RefundInquiry } from '../../domain/gateway.ts';
import type { GatewayOutcome, InquiryAnswer } from '../../domain/outcome.ts';
import type { HttpResult } from '../http.ts';
import { rawAnswer, readJsonAnswer } from '../raw-answer.ts';
import { ERROR_MEANINGS, unknown, wireError } from './answers.ts';
import { askByReference, type Connection } from './connection.ts';

/** A refund as the gateway tells it. Fields that are not named here may come and go. */
export const wireRefund = z.object({
  id: z.string().regex(/^[A-Za-z0-9_]{1,64}$/),
  reference: z.string(),
  status: z.enum(['succeeded', 'failed', 'pending']),
  amount: z.object({ minor_units: z.number().int(), currency: z.string() }),
  failure_code: z.string().nullable(),
});

type WireRefund = z.infer<typeof wireRefund>;

export function prepareRefund({ currencyDecimals }: GatewayCapabilities, command: RefundCommand): PreparedRefund {
  const { refundReference, charge, amount } = command;
  const body = JSON.stringify({
    reference: refundReference,
    charge: charge.gatewayReference,
    charge_reference: charge.merchantReference,
    amount: { minor_units: toGatewayUnits(amount, currencyDecimals), currency: amount.currency },
  });
  return { refundReference, requestKey: refundReference, body };
}

export async function refund(
  { http, baseUrl, apiKey, capabilities }: Connection,
  prepared: PreparedRefund,
  { timeoutMs }: CallScope,
): Promise<GatewayOutcome> {
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    ...(capabilities.refund?.repeat.by === 'key' ? { 'idempotency-key': prepared.requestKey } : {}),
  };
  const call = { method: 'POST', url: `${baseUrl}/v1/refunds`, headers, body: prepared.body, timeoutMs } as const;
  const result = await http.call(call);
  const raw = rawAnswer(result);
  if (result.kind === 'failed') {
    const reason = `${result.code}: ${result.reason}`;
    if (result.sent) return unknown(reason, raw);
    return { kind: 'not_processed', declineCode: 'gateway_unreachable', reason, raw };
  }
  const json = readJsonAnswer(result.body);
  if (result.status !== 200 && result.status !== 201) return outcomeOfError(result, json);
  const answer = wireRefund.safeParse(json);
  if (!answer.success) return unknown('the answer cannot be read', raw);
  return outcomeOfRefund(answer.data, { reference: prepared.refundReference, capabilities, raw });
}

/** What the gateway refuses for good, beside what it refuses of charges. */
const REFUSED: ReadonlySet<string> = new Set(['422 refund_exceeds_charge', '404 charge_not_found']);

function outcomeOfError(result: HttpResult & { readonly kind: 'answered' }, json: unknown): GatewayOutcome {
  const raw = rawAnswer(result);
  const error = wireError.safeParse(json);
  const reason = `${result.status} ${error.success ? error.data.error.code : 'without a code'}`;
  const meaning = Object.hasOwn(ERROR_MEANINGS, reason) ? ERROR_MEANINGS[reason] : undefined;
  if (meaning === 'not_accepted') return { kind: 'not_processed', declineCode: 'gateway_unreachable', reason, raw };
  if (meaning === 'refused' || REFUSED.has(reason))
    return { kind: 'not_processed', declineCode: 'refused_by_gateway', reason, raw };
  return unknown(meaning === 'seen_before' ? `the gateway has seen this request before: ${reason}` : reason, raw);
}

interface Asked {
  readonly reference: string;
  readonly capabilities: Pick<GatewayCapabilities, 'currencyDecimals'>;
  readonly raw: string;
}

/** What a refund object means; one about another refund is nobody's answer. */
export function outcomeOfRefund(answer: WireRefund, { reference, capabilities, raw }: Asked) {
  if (answer.reference !== reference) return unknown('the answer is about another refund', raw);
  const word = { gatewayReference: answer.id, raw };
  switch (answer.status) {
    case 'succeeded': {
      const { minor_units: minorUnits, currency } = answer.amount;
      const amount = fromGatewayUnits(minorUnits, currency, capabilities.currencyDecimals);
      if (amount === undefined) return unknown('the answer names no amount', raw);
      return { kind: 'approved', amount, ...word } as const;
    }
    case 'failed': {
      const decline = { code: 'other', gatewayCode: answer.failure_code ?? 'other', retriable: false } as const;
      return { kind: 'declined', decline, ...word } as const;
    }
    case 'pending':
      return { kind: 'pending', ...word } as const;
  }
}

const wireList = z.object({ refunds: z.array(wireRefund) });
/** Where several refunds stand under one reference, the one that gave or may give money back counts. */
const RANK: Readonly<Record<WireRefund['status'], number>> = { succeeded: 0, pending: 1, failed: 2 };

export async function inquireRefund(
  connection: Connection,
  { refundReference }: RefundInquiry,
  { timeoutMs }: CallScope,
): Promise<InquiryAnswer> {
  const read = (json: unknown): readonly WireRefund[] | undefined => wireList.safeParse(json).data?.refunds;
  const question = { path: '/v1/refunds', reference: refundReference, read, rank: RANK };
  const told = await askByReference(connection, question, timeoutMs);
  if (told.kind !== 'found') return told;
  const { item, raw } = told;
  const { capabilities } = connection;
  const outcome = outcomeOfRefund(item, { reference: refundReference, capabilities, raw });
  return outcome.kind === 'unknown' ? { kind: 'unavailable', reason: outcome.reason } : { kind: 'found', outcome };
}
