import { v7 as newId } from 'uuid';
import { CodedError } from '../domain/errors.ts';
import type { EndpointSecret, EndpointSecrets } from '../process/endpoint-secrets.ts';
import { type AddressPolicy, objectionTo } from '../process/inward-addresses.ts';
import type { Database } from '../store/database.ts';
import type { OutboxEventKind } from '../store/deliveries/outbox-events.ts';
import { type Replay, replayEvents } from '../store/deliveries/replays.ts';
import {
  findEndpoint,
  insertEndpoint,
  rotateSecret,
  type WebhookEndpoint,
} from '../store/deliveries/webhook-endpoints.ts';

export interface EndpointSettings {
  /** Null: no master secret is set, so no endpoint can be added. */
  readonly secrets: EndpointSecrets | null;
  readonly addresses: AddressPolicy;
  readonly overlapSeconds: number;
}

/** An endpoint with its secret, which is shown once and stored nowhere. */
export interface EndpointWithSecret {
  readonly endpoint: WebhookEndpoint;
  readonly secret: EndpointSecret;
}

/** @throws CodedError `webhook_secret_unfit`, `webhook_url_refused` */
export async function addEndpoint(
  database: Database,
  settings: EndpointSettings,
  wanted: { readonly url: string; readonly eventKinds: readonly OutboxEventKind[] | null },
): Promise<EndpointWithSecret> {
  const secrets = demandSecrets(settings);
  const objection = await objectionTo(wanted.url, settings.addresses);
  if (objection !== null) throw new CodedError('webhook_url_refused', objection, { field: 'url' });
  const id = newId();
  const secret = secrets.secretFor(id, 1);
  const endpoint = await insertEndpoint(database, {
    id,
    // As it will be asked for: what was judged and what is called must be the same.
    url: new URL(wanted.url).href,
    eventKinds: wanted.eventKinds,
    secretHash: secret.hash,
    createdAt: new Date().toISOString(),
  });
  return { endpoint, secret };
}

/** @throws CodedError `webhook_secret_unfit`, `webhook_endpoint_not_found`, `…_disabled`, `…_changed` */
export async function rotateEndpoint(
  database: Database,
  settings: EndpointSettings,
  { id, overlapSeconds = settings.overlapSeconds }: { readonly id: string; readonly overlapSeconds?: number },
): Promise<EndpointWithSecret> {
  const secrets = demandSecrets(settings);
  const present = await demandOpenEndpoint(database, id);
  const secret = secrets.secretFor(id, present.secretGeneration + 1);
  const endpoint = await rotateSecret(database, present, {
    secretHash: secret.hash,
    previousUntil: new Date(Date.now() + overlapSeconds * 1_000).toISOString(),
  });
  if (endpoint === undefined) throw new CodedError('webhook_endpoint_changed');
  return { endpoint, secret };
}

/** @throws CodedError `webhook_endpoint_not_found`, `webhook_endpoint_disabled` */
export async function replayToEndpoint(database: Database, endpointId: string, replay: Replay): Promise<number> {
  await demandOpenEndpoint(database, endpointId);
  return replayEvents(database, { endpointId, replay, now: new Date().toISOString() });
}

/** @throws CodedError `webhook_endpoint_not_found` */
export async function readKnownEndpoint(database: Database, id: string): Promise<WebhookEndpoint> {
  const endpoint = await findEndpoint(database, id);
  if (endpoint === undefined) throw new CodedError('webhook_endpoint_not_found');
  return endpoint;
}

async function demandOpenEndpoint(database: Database, id: string): Promise<WebhookEndpoint> {
  const endpoint = await readKnownEndpoint(database, id);
  if (endpoint.disabledAt !== null) throw new CodedError('webhook_endpoint_disabled');
  return endpoint;
}

function demandSecrets({ secrets }: EndpointSettings): EndpointSecrets {
  if (secrets !== null) return secrets;
  throw new CodedError('webhook_secret_unfit', 'Set WEBHOOK_MASTER_SECRET for the API and the workers first.');
}
