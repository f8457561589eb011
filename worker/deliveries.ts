import { setTimeout as pause } from 'node:timers/promises';
import { type DeliveryRuling, describeAnswer, type EndpointAnswer, ruleOnDelivery } from '../domain/delivery.ts';
import type { EndpointCall, EndpointClient } from '../gateways/merchant-endpoint.ts';
import { signStandardWebhook } from '../gateways/standard-webhooks.ts';
import type { EndpointSecrets } from '../process/endpoint-secrets.ts';
import type { Logger } from '../process/log.ts';
import type { Database } from '../store/database.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  type DeliveryResult,
  recordDelivery,
} from '../store/deliveries/deliveries.ts';
import { disableEndpoint } from '../store/deliveries/webhook-endpoints.ts';

export interface DeliveryParts {
  readonly database: Database;
  /** Null: no master secret is set. Nothing can be signed then, and there are no endpoints. */
  readonly secrets: EndpointSecrets | null;
  readonly endpoints: EndpointClient;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly settings?: Partial<DeliverySettings>;
}

export interface DeliverySettings {
  readonly idlePauseMs: number;
  /** Longer than a call can take; after it a row counts as left behind by a process that died. */
  readonly leaseMs: number;
  readonly inFlightMax: number;
  readonly inFlightPerEndpoint: number;
}

const SETTINGS: DeliverySettings = {
  idlePauseMs: 1_000,
  leaseMs: 60_000,
  inFlightMax: 50,
  inFlightPerEndpoint: 10,
};

export interface RunningDeliveries {
  /** Takes nothing new and waits for the calls on their way, which are short. */
  stop(): Promise<void>;
}

/**
 * Sends outbox events to merchants' endpoints for as long as the process runs; any number of processes share the rows. At
 * least once: when this process dies after an answer and before the mark, another one sends the event again under the same
 * `webhook-id`, by which the receiver drops it.
 */
export function startDeliveries(parts: DeliveryParts): RunningDeliveries {
  const stopping = new AbortController();
  const ended = runUntil(stopping.signal, parts);
  return {
    stop: async () => {
      stopping.abort();
      await ended;
    },
  };
}

async function runUntil(stopped: AbortSignal, parts: DeliveryParts): Promise<void> {
  const settings = { ...SETTINGS, ...parts.settings };
  const inFlight = new Map<Promise<void>, string>();
  while (!stopped.aborted) {
    const taken = await take(parts, settings, [...inFlight.values()]);
    for (const delivery of taken) {
      const call = deliver(parts, delivery).finally(() => inFlight.delete(call));
      inFlight.set(call, delivery.endpointId);
    }
    // After a call that has ended there is room, and perhaps the next event of the same order.
    if (taken.length === 0) await Promise.race([idle(settings.idlePauseMs, stopped), ...inFlight.keys()]);
  }
  await Promise.all(inFlight.keys());
}

async function idle(pauseMs: number, stopped: AbortSignal): Promise<void> {
  await pause(pauseMs, undefined, { signal: stopped }).catch(() => undefined);
}

async function take(
  { database, log }: DeliveryParts,
  settings: DeliverySettings,
  busy: readonly string[],
): Promise<ClaimedDelivery[]> {
  const free = settings.inFlightMax - busy.length;
  if (free <= 0) return [];
  const now = Date.now();
  try {
    return await claimDeliveries(database, {
      now: new Date(now).toISOString(),
      leaseEndsAt: new Date(now + settings.leaseMs).toISOString(),
      limit: free,
      perEndpoint: settings.inFlightPerEndpoint,
      busyEndpoints: fullEndpoints(busy, settings.inFlightPerEndpoint),
    });
  } catch (error) {
    log.warn({ err: error }, 'the deliveries that are due could not be read; they are tried again');
    return [];
  }
}

function fullEndpoints(busy: readonly string[], max: number): string[] {
  return [...new Set(busy)].filter((id) => busy.filter((other) => other === id).length >= max);
}

/** One try, from the signature to the mark. Whatever fails on our side leaves the row to the end of its lease. */
async function deliver(parts: DeliveryParts, delivery: ClaimedDelivery): Promise<void> {
  const { database, log } = parts;
  const line = { event_id: delivery.eventId, endpoint_id: delivery.endpointId, order_id: delivery.orderId };
  try {
    const { answer, ruling } = await sendOnce(parts, delivery);
    const now = new Date().toISOString();
    const said = { result: resultOf(ruling), answer, now };
    const written = await recordDelivery(database, delivery, said);
    if (!written) log.warn(line, 'another process took the delivery meanwhile');
    if (ruling.kind === 'endpoint_gone') {
      await disableEndpoint(database, { id: delivery.endpointId, reason: ruling.reason, now });
    }
    if (ruling.kind === 'delivered') log.info({ ...line, tries: delivery.tries }, 'an event was delivered');
    else log.warn({ ...line, tries: delivery.tries, answer, ruling: ruling.kind }, 'an event was not accepted');
  } catch (error) {
    log.error({ ...line, err: error }, 'what came of a delivery could not be written down; it is sent again');
  }
}

async function sendOnce(
  { secrets, endpoints }: DeliveryParts,
  delivery: ClaimedDelivery,
): Promise<{ answer: string; ruling: DeliveryRuling }> {
  if (delivery.disabledReason !== null) {
    const reason = delivery.disabledReason;
    return { answer: 'Nothing was sent: the endpoint is disabled.', ruling: { kind: 'parked', reason } };
  }
  if (secrets === null) throw new Error('WEBHOOK_MASTER_SECRET is not set, so nothing can be signed');
  const answer: EndpointAnswer = await endpoints.send(callFor(delivery, secrets, Date.now()));
  const { tries, triesSince } = delivery;
  const now = new Date().toISOString();
  const ruling = ruleOnDelivery(answer, { tries, triesSince, now, random: Math.random() });
  return { answer: describeAnswer(answer), ruling };
}

/** The same bytes at each try but for the time of the signature. While a secret is changed, both secrets sign. */
function callFor(delivery: ClaimedDelivery, secrets: EndpointSecrets, nowMs: number): EndpointCall {
  const { eventId, endpointId, secretGeneration, previousSecretUntil } = delivery;
  const body = JSON.stringify({
    type: delivery.kind,
    timestamp: delivery.createdAt,
    sequence: delivery.sequence,
    data: delivery.payload,
  });
  const present = secrets.secretFor(endpointId, secretGeneration);
  const overlaps = previousSecretUntil !== null && Date.parse(previousSecretUntil) > nowMs;
  const older = overlaps ? [secrets.secretFor(endpointId, secretGeneration - 1)] : [];
  const message = { id: eventId, timestampSeconds: Math.floor(nowMs / 1_000), body };
  return {
    url: delivery.url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'paidonce',
      ...signStandardWebhook(message, [present, ...older]),
    },
    body,
  };
}

function resultOf(ruling: DeliveryRuling): DeliveryResult {
  if (ruling.kind === 'delivered') return { status: 'delivered' };
  if (ruling.kind === 'again') return { status: 'pending', nextTryAt: ruling.nextTryAt };
  return { status: 'parked', reason: ruling.reason };
}
