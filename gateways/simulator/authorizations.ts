import { z } from 'zod';
import type { AuthorizationAnswer, AuthorizationOutcome, FollowUpOutcome } from '../../domain/authorization.ts';
import { fromGatewayUnits, toGatewayUnits } from '../../domain/currency-units.ts';
import type {
  CallScope,
  ChargeCommand,
  FollowUpCommand,
  Gateway,
  InquiryCommand,
  PreparedCharge,
  PreparedFollowUp,
} from '../../domain/gateway.ts';
import type { HttpCall, HttpResult } from '../http.ts';
import { rawAnswer, readJsonAnswer } from '../raw-answer.ts';
import { ERROR_MEANINGS, outcomeOfCharge, unknown, type WireCharge, wireCharge, wireError } from './answers.ts';
import { askByReference, type Connection } from './connection.ts';

type Authorizing = Required<
  Pick<Gateway, 'prepareAuthorization' | 'authorize' | 'prepareFollowUp' | 'followUp' | 'inquireAuthorization'>
>;

/** The five methods of an account that can hold money. @param prepareCharge what the same command is as a charge */
export function authorizing(
  connection: Connection,
  prepareCharge: (command: ChargeCommand) => PreparedCharge,
): Authorizing {
  return {
    prepareAuthorization: (command) => asAuthorization(prepareCharge(command)),
    authorize: (prepared, scope) => authorize(connection, prepared, scope),
    prepareFollowUp: (command) => prepareFollowUp(connection, command),
    followUp: (prepared, scope) => followUp(connection, prepared, scope),
    inquireAuthorization: (command, scope) => inquire(connection, command, scope),
  };
}

function asAuthorization(charge: PreparedCharge): PreparedCharge {
  const body = JSON.stringify({ ...(JSON.parse(charge.body) as object), capture: false });
  return { ...charge, body };
}

/** What is known of the charge that holds, or is to hold, the money. */
interface Asked {
  readonly merchantReference: string;
  readonly currency: string;
  readonly connection: Connection;
}

const preparedBody = z.object({
  charge_reference: z.string().optional(),
  amount: z.object({ minor_units: z.number().int(), currency: z.string() }),
});

async function authorize(
  connection: Connection,
  prepared: PreparedCharge,
  scope: CallScope,
): Promise<AuthorizationOutcome> {
  const { merchantReference, requestKey, body } = prepared;
  const key = connection.capabilities.repeat.by === 'key' ? requestKey : null;
  const result = await post(connection, { path: 'charges', body, key }, scope);
  const charge = chargeIn(result);
  if ('kind' in charge) return charge;
  const { currency } = preparedBody.parse(JSON.parse(body)).amount;
  const outcome = meaningOf(charge, { merchantReference, currency, connection }, rawAnswer(result));
  // Whoever has ended it has ended it later: a repeat that finds it so establishes nothing about what it was asked for.
  return isEnded(outcome) ? unknown(`the authorization is ${outcome.kind}`, outcome.raw) : outcome;
}

function prepareFollowUp({ capabilities }: Connection, command: FollowUpCommand): PreparedFollowUp {
  const { kind, followUpReference, charge, amount } = command;
  const body = JSON.stringify({
    reference: followUpReference,
    charge: charge.gatewayReference,
    charge_reference: charge.merchantReference,
    amount: { minor_units: toGatewayUnits(amount, capabilities.currencyDecimals), currency: amount.currency },
  });
  return { kind, followUpReference, requestKey: followUpReference, body };
}

const PATHS = { capture: 'captures', void: 'voids' } as const;
const ENDS = { capture: 'captured', void: 'voided' } as const;

async function followUp(
  connection: Connection,
  { kind, followUpReference, body }: PreparedFollowUp,
  scope: CallScope,
): Promise<FollowUpOutcome> {
  const result = await post(connection, { path: PATHS[kind], body, key: null }, scope);
  const charge = chargeIn(result);
  if ('kind' in charge) return charge;
  const { charge_reference: merchantReference = '', amount } = preparedBody.parse(JSON.parse(body));
  const raw = rawAnswer(result);
  const outcome = meaningOf(charge, { merchantReference, currency: amount.currency, connection }, raw);
  if (outcome.kind !== ENDS[kind]) return unknown(`a ${kind} was asked for, and the answer says ${outcome.kind}`, raw);
  if (outcome.by !== followUpReference) return unknown('the answer is about another request', raw);
  const isOtherAmount = outcome.kind === 'captured' && charge.amount.minor_units !== amount.minor_units;
  return isOtherAmount ? unknown('the answer names another amount', raw) : outcome;
}

type Found = Extract<AuthorizationAnswer, { readonly kind: 'found' }>['outcome'];
type Ended = Extract<Found, { readonly kind: 'captured' | 'voided' | 'lapsed' }>;

function isEnded(outcome: Found | AuthorizationOutcome): outcome is Ended {
  return outcome.kind === 'captured' || outcome.kind === 'voided' || outcome.kind === 'lapsed';
}

/**
 * What a charge object means to somebody who has asked for an authorization. One that was never held and is approved has
 * taken the money at once, which nobody asked for.
 */
function meaningOf(
  charge: WireCharge,
  { merchantReference, currency, connection }: Asked,
  raw: string,
): Found | ReturnType<typeof unknown> {
  const { currencyDecimals: decimals } = connection.capabilities;
  const { id: gatewayReference, status, authorized, ended_by: by = null } = charge;
  if (status === 'declined' || status === 'pending' || status === 'requires_action') {
    const outcome = outcomeOfCharge(charge, { merchantReference, currency, decimals }, raw);
    return outcome.kind === 'approved' ? unknown('the answer says approved', raw) : outcome;
  }
  if (charge.reference !== merchantReference) return unknown('the answer is about another reference', raw);
  if (authorized == null) return unknown('the answer is about a charge that was never held', raw);
  const amount = fromGatewayUnits(charge.amount.minor_units, charge.amount.currency, decimals);
  if (amount?.currency !== currency) return unknown('the answer names no amount in our currency', raw);
  switch (status) {
    case 'authorized':
      return { kind: 'authorized', amount, expiresAt: authorized.lapses_at, gatewayReference, raw };
    case 'approved':
      return { kind: 'captured', by, amount, gatewayReference, raw };
    case 'voided':
      return { kind: 'voided', by, gatewayReference, raw };
    case 'lapsed':
      return { kind: 'lapsed', gatewayReference, raw };
  }
}

interface Post {
  readonly path: string;
  readonly body: string;
  readonly key: string | null;
}

function post(
  { http, baseUrl, apiKey }: Connection,
  { path, body, key }: Post,
  { timeoutMs }: CallScope,
): Promise<HttpResult> {
  const headers: HttpCall['headers'] = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    ...(key === null ? {} : { 'idempotency-key': key }),
  };
  return http.call({ method: 'POST', url: `${baseUrl}/v1/${path}`, headers, body, timeoutMs });
}

type NoCharge = Extract<FollowUpOutcome, { readonly kind: 'declined' | 'not_processed' | 'unknown' }>;

/** What the gateway refuses of captures and voids for good, beside what it refuses of charges. */
const REFUSED: ReadonlySet<string> = new Set(['422 amount_not_held', '404 authorization_not_found']);

/** The charge of a good answer, or what an answer without one establishes. */
function chargeIn(result: HttpResult): WireCharge | NoCharge {
  const raw = rawAnswer(result);
  if (result.kind === 'failed') {
    const reason = `${result.code}: ${result.reason}`;
    if (result.sent) return unknown(reason, raw);
    return { kind: 'not_processed', declineCode: 'gateway_unreachable', reason, raw };
  }
  const json = readJsonAnswer(result.body);
  if (result.status === 200 || result.status === 201) {
    return wireCharge.safeParse(json).data ?? unknown('the answer cannot be read', raw);
  }
  const reason = `${result.status} ${wireError.safeParse(json).data?.error.code ?? 'without a code'}`;
  const meaning = Object.hasOwn(ERROR_MEANINGS, reason) ? ERROR_MEANINGS[reason] : undefined;
  if (meaning === 'not_accepted') return { kind: 'not_processed', declineCode: 'gateway_unreachable', reason, raw };
  if (meaning === 'refused' || REFUSED.has(reason))
    return { kind: 'not_processed', declineCode: 'refused_by_gateway', reason, raw };
  if (reason === '402 follow_up_declined')
    return { kind: 'declined', decline: { code: 'other', gatewayCode: 'follow_up_declined', retriable: true }, raw };
  // `409 authorization_over` too: a request of ours that was stuck on its way may have ended it, and an inquiry tells.
  return unknown(meaning === 'seen_before' ? `the gateway has seen this request before: ${reason}` : reason, raw);
}

const wireList = z.object({ charges: z.array(wireCharge) });

/** Where several stand under one reference, the one that took money counts first, then the one that holds some. */
const RANK: Readonly<Record<WireCharge['status'], number>> = {
  approved: 0,
  authorized: 1,
  pending: 2,
  requires_action: 3,
  voided: 4,
  lapsed: 5,
  declined: 6,
};

async function inquire(
  connection: Connection,
  { merchantReference, amount }: InquiryCommand,
  { timeoutMs }: CallScope,
): Promise<AuthorizationAnswer> {
  const read = (json: unknown): readonly WireCharge[] | undefined => wireList.safeParse(json).data?.charges;
  const question = { path: '/v1/charges', reference: merchantReference, read, rank: RANK };
  const told = await askByReference(connection, question, timeoutMs);
  if (told.kind !== 'found') return told;
  const { item, raw } = told;
  const outcome = meaningOf(item, { merchantReference, currency: amount.currency, connection }, raw);
  return outcome.kind === 'unknown' ? { kind: 'unavailable', reason: outcome.reason } : { kind: 'found', outcome };
}
