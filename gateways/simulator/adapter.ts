import { z } from 'zod';
import type { GatewayCapabilities } from '../../domain/capabilities.ts';
import { toGatewayUnits } from '../../domain/currency-units.ts';
import type {
  CallScope,
  ChargeCommand,
  Gateway,
  InquiryCommand,
  PreparedCharge,
  PreparedRefund,
  RefundCommand,
  RefundInquiry,
} from '../../domain/gateway.ts';
import type { RawWebhook } from '../../domain/gateway-event.ts';
import type { GatewayOutcome, InquiryAnswer } from '../../domain/outcome.ts';
import { createHttpClient, type HttpResult } from '../http.ts';
import { rawAnswer, readJsonAnswer } from '../raw-answer.ts';
import { readSigningSecret } from '../standard-webhooks.ts';
import {
  ERROR_MEANINGS,
  type Expected,
  outcomeOfCharge,
  unknown,
  type WireCharge,
  wireCharge,
  wireError,
} from './answers.ts';
import { authorizing } from './authorizations.ts';
import { closeReference } from './closing.ts';
import type { Connection } from './connection.ts';
import { inquireRefund, prepareRefund, refund } from './refunds.ts';
import { readSimulatorSettings, type SimulatorSettings } from './settings.ts';
import { parseSimulatorWebhook, type WebhookReader } from './webhook.ts';

/** One configured account at the simulator; `settings` as in docs/gateways/simulator.md. */
export interface SimulatorAccount {
  readonly name: string;
  readonly settings: unknown;
}

/**
 * The adapter for the gateway simulator. It speaks the simulator's gateway face only and knows nothing of its ledger or
 * switches. @throws CodedError `configuration_invalid`
 */
export function createSimulatorGateway(
  { name, settings }: SimulatorAccount,
  variables: NodeJS.ProcessEnv = process.env,
): Gateway {
  const read = readSimulatorSettings(name, settings);
  const { baseUrl, apiKeyVariable, capabilities } = read;
  const connection = {
    http: createHttpClient(),
    baseUrl,
    apiKey: variables[apiKeyVariable] ?? 'sandbox',
    capabilities,
  };
  const reader = webhookReader(name, read, variables);
  const gateway: Gateway = {
    name,
    capabilities,
    prepareCharge: (command) => prepareCharge(capabilities, command),
    charge: (prepared, scope) => charge(connection, prepared, scope),
  };
  return {
    ...gateway,
    ...(capabilities.inquiry.by.length > 0 && {
      inquire: (command: InquiryCommand, scope: CallScope) => inquire(connection, command, scope),
    }),
    ...(capabilities.closing.by.length > 0 && {
      close: (command: InquiryCommand, scope: CallScope) => closeReference(connection, command, scope),
    }),
    ...(capabilities.refund !== null && {
      prepareRefund: (command: RefundCommand) => prepareRefund(capabilities, command),
      refund: (prepared: PreparedRefund, scope: CallScope) => refund(connection, prepared, scope),
      inquireRefund: (inquiry: RefundInquiry, scope: CallScope) => inquireRefund(connection, inquiry, scope),
    }),
    ...(capabilities.authorize !== null && authorizing(connection, (command) => prepareCharge(capabilities, command))),
    ...(reader.secrets.length > 0 && {
      parseWebhook: (webhook: RawWebhook, now: Date) => parseSimulatorWebhook(reader, webhook, now),
    }),
  };
}

/** A secret that is named and not there stops the process: without it every webhook would be refused, or believed. */
function webhookReader(
  name: string,
  { account, capabilities, webhookSecretVariables }: SimulatorSettings,
  variables: NodeJS.ProcessEnv,
): WebhookReader {
  const secrets = webhookSecretVariables.map((variable) =>
    readSigningSecret(variables[variable] ?? '', `The webhook secret of gateway ${name}, ${variable},`),
  );
  return { secrets, account, decimals: capabilities.currencyDecimals };
}

function prepareCharge({ currencyDecimals }: GatewayCapabilities, command: ChargeCommand): PreparedCharge {
  const { merchantReference, amount, paymentMethod, description, returnUrl } = command;
  const body = JSON.stringify({
    reference: merchantReference,
    amount: { minor_units: toGatewayUnits(amount, currencyDecimals), currency: amount.currency },
    payment_method: paymentMethod,
    description,
    return_url: returnUrl,
  });
  return { merchantReference, requestKey: merchantReference, body };
}

/** What we asked for, read from the bytes that were stored: after a crash they are all there is. */
const preparedBody = z.object({ amount: z.object({ currency: wireCharge.shape.amount.shape.currency }) });

async function charge(
  connection: Connection,
  prepared: PreparedCharge,
  { timeoutMs }: CallScope,
): Promise<GatewayOutcome> {
  const { http, baseUrl, apiKey, capabilities } = connection;
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    ...(capabilities.repeat.by === 'key' ? { 'idempotency-key': prepared.requestKey } : {}),
  };
  const { currency } = preparedBody.parse(JSON.parse(prepared.body)).amount;
  const expected = { merchantReference: prepared.merchantReference, currency, decimals: capabilities.currencyDecimals };
  const result = await http.call({
    method: 'POST',
    url: `${baseUrl}/v1/charges`,
    headers,
    body: prepared.body,
    timeoutMs,
  });
  return outcomeOf(result, expected);
}

function outcomeOf(result: HttpResult, expected: Expected): GatewayOutcome {
  const raw = rawAnswer(result);
  if (result.kind === 'failed') {
    const reason = `${result.code}: ${result.reason}`;
    return result.sent
      ? unknown(reason, raw)
      : { kind: 'not_processed', declineCode: 'gateway_unreachable', reason, raw };
  }
  const json = readJsonAnswer(result.body);
  if (result.status === 200 || result.status === 201) {
    const answer = wireCharge.safeParse(json);
    return answer.success ? outcomeOfCharge(answer.data, expected, raw) : unknown('the answer cannot be read', raw);
  }
  return outcomeOfError(result.status, json, raw);
}

function outcomeOfError(status: number, json: unknown, raw: string): GatewayOutcome {
  const error = wireError.safeParse(json);
  const word = `${status} ${error.success ? error.data.error.code : 'without a code'}`;
  switch (Object.hasOwn(ERROR_MEANINGS, word) ? ERROR_MEANINGS[word] : undefined) {
    case 'not_accepted':
      return { kind: 'not_processed', declineCode: 'gateway_unreachable', reason: word, raw };
    case 'refused':
      return { kind: 'not_processed', declineCode: 'refused_by_gateway', reason: word, raw };
    case 'seen_before':
      return unknown(`the gateway has seen this request before: ${word}`, raw);
    case undefined:
      return unknown(word, raw);
  }
}

async function inquire(
  connection: Connection,
  command: InquiryCommand,
  { timeoutMs }: CallScope,
): Promise<InquiryAnswer> {
  const { http, baseUrl, apiKey, capabilities } = connection;
  const { merchantReference, gatewayReference, amount } = command;
  const byId = gatewayReference !== null && capabilities.inquiry.by.includes('gateway_reference');
  if (!byId && !capabilities.inquiry.by.includes('merchant_reference')) {
    return { kind: 'unavailable', reason: 'the gateway can be asked only by its own reference, which is not known' };
  }
  const question = byId
    ? `/${encodeURIComponent(gatewayReference)}`
    : `?reference=${encodeURIComponent(merchantReference)}`;
  const headers = { authorization: `Bearer ${apiKey}` };
  const result = await http.call({ method: 'GET', url: `${baseUrl}/v1/charges${question}`, headers, timeoutMs });
  return answerOf(result, { merchantReference, currency: amount.currency, decimals: capabilities.currencyDecimals });
}

const wireList = z.object({ charges: z.array(wireCharge) });

/** Either form of a good answer, as a list. */
const foundCharges = z.union([
  wireList.transform(({ charges }) => charges),
  wireCharge.transform((single) => [single]),
]);

function answerOf(result: HttpResult, expected: Expected): InquiryAnswer {
  if (result.kind === 'failed') return { kind: 'unavailable', reason: `${result.code}: ${result.reason}` };
  const raw = rawAnswer(result);
  const json = readJsonAnswer(result.body);
  if (result.status === 404 && wireError.safeParse(json).data?.error.code === 'charge_not_found')
    return { kind: 'absent', raw };
  const found = foundCharges.safeParse(json);
  if (result.status !== 200 || !found.success)
    return { kind: 'unavailable', reason: `HTTP ${result.status} with no readable answer` };
  const [first] = [...found.data].sort((left, right) => RANK[left.status] - RANK[right.status]);
  if (first === undefined) return { kind: 'absent', raw };
  const outcome = outcomeOfCharge(first, expected, raw);
  return outcome.kind === 'unknown' ? { kind: 'unavailable', reason: outcome.reason } : { kind: 'found', outcome };
}

/** Where several charges stand under one reference, the one that took or may take money counts. `raw` keeps them all. */
const RANK: Readonly<Record<WireCharge['status'], number>> = {
  approved: 0,
  pending: 1,
  requires_action: 2,
  authorized: 3,
  declined: 4,
  voided: 5,
  lapsed: 6,
};
