import type { Queryable } from './queryable.ts';

/** Whose key it is and for what: two callers, or two routes, may use the same one. */
export interface IdempotencyScope {
  /** `api-key:{id}`, or `order:{id}` where a payment token is the only authority. */
  readonly scope: string;
  /** Method and pattern of the route, such as `POST /v1/orders`. */
  readonly route: string;
  readonly key: string;
}

export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type IdempotencyVerdict =
  /** This call is the first; it must end with `finishIdempotentRequest` or `abandonIdempotentRequest`. */
  | { readonly kind: 'fresh' }
  /** The first call has no answer yet. `since` and `freedAt` are ISO times. */
  | { readonly kind: 'running'; readonly since: string; readonly freedAt: string }
  | { readonly kind: 'replay'; readonly response: StoredResponse }
  | { readonly kind: 'other_body' };

/** Times are ISO; `requestHash` is the SHA-256 (32 bytes) of method, path and canonical body. */
export interface IdempotentRequest extends IdempotencyScope {
  readonly requestHash: Buffer;
  readonly now: string;
  /** A call that dies before it is answered frees the key then. */
  readonly freedAt: string;
}

interface Row {
  readonly fresh: boolean;
  readonly request_hash: Buffer;
  readonly response_status: number | null;
  readonly response_headers: Readonly<Record<string, string>> | null;
  readonly response_body: string | null;
  readonly created_at: string;
  readonly expires_at: string;
}

/**
 * Takes the key, or says how it is taken. Of any number of calls at once exactly one gets `fresh`. A row whose time is over
 * counts as gone: a call that died half-way frees its key, a stored answer is forgotten.
 */
export async function beginIdempotentRequest(
  database: Queryable,
  request: IdempotentRequest,
): Promise<IdempotencyVerdict> {
  const row = (await take(database, request)) ?? (await read(database, request));
  // Between the two statements the row was abandoned; the caller is told to come again, which is what a retry would do.
  if (row === undefined) return { kind: 'running', since: request.now, freedAt: request.now };
  if (row.fresh) return { kind: 'fresh' };
  if (!row.request_hash.equals(request.requestHash)) return { kind: 'other_body' };
  if (row.response_status === null || row.response_body === null) {
    return { kind: 'running', since: row.created_at, freedAt: row.expires_at };
  }
  const response = { status: row.response_status, headers: row.response_headers ?? {}, body: row.response_body };
  return { kind: 'replay', response };
}

/** A second call waits here for the first one's row, and then finds it neither missing nor expired. */
async function take(database: Queryable, request: IdempotentRequest): Promise<Row | undefined> {
  const { rows } = await database.query<Row>(
    `insert into idempotency_keys as held (scope, route, key, request_hash, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (scope, route, key) do update
       set request_hash = excluded.request_hash, created_at = excluded.created_at, expires_at = excluded.expires_at,
         response_status = null, response_headers = null, response_body = null
       where held.expires_at <= excluded.created_at
     returning true as fresh, request_hash, response_status, response_headers, response_body, created_at, expires_at`,
    [request.scope, request.route, request.key, request.requestHash, request.now, request.freedAt],
  );
  return rows[0];
}

async function read(database: Queryable, scope: IdempotencyScope): Promise<Row | undefined> {
  const { rows } = await database.query<Row>(
    `select false as fresh, request_hash, response_status, response_headers, response_body, created_at, expires_at
     from idempotency_keys where scope = $1 and route = $2 and key = $3`,
    [scope.scope, scope.route, scope.key],
  );
  return rows[0];
}

/**
 * Stores the answer, to be replayed until `replayUntil` (ISO). `startedAt` is the `now` that the call began with: a call so slow
 * that another took the key over meanwhile stores nothing. Returns whether it was stored.
 */
export async function finishIdempotentRequest(
  database: Queryable,
  finished: IdempotencyScope & {
    readonly startedAt: string;
    readonly response: StoredResponse;
    readonly replayUntil: string;
  },
): Promise<boolean> {
  const { status, headers, body } = finished.response;
  const { rowCount } = await database.query(
    `update idempotency_keys
     set response_status = $5, response_headers = $6, response_body = $7, expires_at = $8
     where scope = $1 and route = $2 and key = $3 and created_at = $4 and response_status is null`,
    [
      finished.scope,
      finished.route,
      finished.key,
      finished.startedAt,
      status,
      JSON.stringify(headers),
      body,
      finished.replayUntil,
    ],
  );
  return rowCount === 1;
}

/** Frees the key of a call that ended without an answer worth keeping, such as a 503: its repeat is a first call again. */
export async function abandonIdempotentRequest(
  database: Queryable,
  { scope, route, key, startedAt }: IdempotencyScope & { readonly startedAt: string },
): Promise<void> {
  await database.query(
    `delete from idempotency_keys
     where scope = $1 and route = $2 and key = $3 and created_at = $4 and response_status is null`,
    [scope, route, key, startedAt],
  );
}

/** Removes up to `limit` rows whose time is over. Returns how many, so that the caller knows whether to go on. */
export async function purgeIdempotencyKeys(database: Queryable, now: string, limit: number): Promise<number> {
  const { rowCount } = await database.query(
    `delete from idempotency_keys where (scope, route, key) in (
       select scope, route, key from idempotency_keys where expires_at <= $1 order by expires_at limit $2
       for update skip locked)`,
    [now, limit],
  );
  return rowCount ?? 0;
}
