import { type Database, inTransaction, type Queryable } from '../database.ts';
import type { OutboxEventKind } from './outbox-events.ts';

/** Where a merchant wants to be told of events. Times are ISO strings. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly url: string;
  /** Null: all. */
  readonly eventKinds: readonly OutboxEventKind[] | null;
  readonly secretGeneration: number;
  /** SHA-256 of the present secret. */
  readonly secretHash: Uint8Array;
  readonly previousSecretUntil: string | null;
  readonly createdAt: string;
  readonly disabledAt: string | null;
  readonly disabledReason: string | null;
}

interface EndpointRow {
  readonly id: string;
  readonly url: string;
  readonly event_kinds: OutboxEventKind[] | null;
  readonly secret_generation: number;
  readonly secret_hash: Uint8Array;
  readonly previous_secret_until: string | null;
  readonly created_at: string;
  readonly disabled_at: string | null;
  readonly disabled_reason: string | null;
}

const COLUMNS = `id, url, event_kinds, secret_generation, secret_hash, previous_secret_until, created_at, disabled_at,
  disabled_reason`;

export type NewWebhookEndpoint = Pick<WebhookEndpoint, 'id' | 'url' | 'eventKinds' | 'secretHash' | 'createdAt'>;

export async function insertEndpoint(database: Queryable, endpoint: NewWebhookEndpoint): Promise<WebhookEndpoint> {
  const { rows } = await database.query<EndpointRow>(
    `insert into webhook_endpoints (id, url, event_kinds, secret_hash, created_at) values ($1, $2, $3, $4, $5)
     returning ${COLUMNS}`,
    [endpoint.id, endpoint.url, endpoint.eventKinds, endpoint.secretHash, endpoint.createdAt],
  );
  const row = rows[0];
  if (row === undefined) throw new Error('An insert returned no row');
  return readEndpoint(row);
}

/** The oldest first; with those that are disabled. */
export async function listEndpoints(database: Queryable): Promise<WebhookEndpoint[]> {
  const { rows } = await database.query<EndpointRow>(`select ${COLUMNS} from webhook_endpoints order by id`);
  return rows.map(readEndpoint);
}

export async function findEndpoint(database: Queryable, id: string): Promise<WebhookEndpoint | undefined> {
  const { rows } = await database.query<EndpointRow>(`select ${COLUMNS} from webhook_endpoints where id = $1`, [id]);
  return rows[0] === undefined ? undefined : readEndpoint(rows[0]);
}

/**
 * Makes the secret of the next generation the present one. Compare-and-set on the generation: of two rotations at once one
 * finds no row, so nobody is shown a secret that is not the present one. Undefined when that happened.
 */
export async function rotateSecret(
  database: Queryable,
  endpoint: Pick<WebhookEndpoint, 'id' | 'secretGeneration'>,
  next: { readonly secretHash: Uint8Array; readonly previousUntil: string },
): Promise<WebhookEndpoint | undefined> {
  const { rows } = await database.query<EndpointRow>(
    `update webhook_endpoints
     set secret_generation = secret_generation + 1, secret_hash = $3, previous_secret_until = $4
     where id = $1 and secret_generation = $2 and disabled_at is null
     returning ${COLUMNS}`,
    [endpoint.id, endpoint.secretGeneration, next.secretHash, next.previousUntil],
  );
  return rows[0] === undefined ? undefined : readEndpoint(rows[0]);
}

/**
 * Tells an endpoint of nothing any more; what waits for it is parked, to be seen and replayed elsewhere. Keeps the first
 * reason when it is disabled already. Returns whether there is such an endpoint.
 */
export async function disableEndpoint(
  database: Database,
  { id, reason, now }: { readonly id: string; readonly reason: string; readonly now: string },
): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    const { rowCount } = await transaction.query(
      `update webhook_endpoints set disabled_at = coalesce(disabled_at, $2), disabled_reason = coalesce(disabled_reason, $3)
       where id = $1`,
      [id, now, reason],
    );
    // A delivery that is being sent right now keeps its lease's right to say what came of it: a 2xx is still a 2xx.
    await transaction.query(
      `update deliveries set status = 'parked', next_try_at = null, parked_reason = $2
       where endpoint_id = $1 and status = 'pending' and lease is null`,
      [id, reason],
    );
    return rowCount === 1;
  });
}

function readEndpoint(row: EndpointRow): WebhookEndpoint {
  return {
    id: row.id,
    url: row.url,
    eventKinds: row.event_kinds,
    secretGeneration: row.secret_generation,
    secretHash: row.secret_hash,
    previousSecretUntil: row.previous_secret_until,
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
    disabledReason: row.disabled_reason,
  };
}
