import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CodedError } from '../domain/errors.ts';
import type { Database, Queryable } from '../store/database.ts';
import {
  abandonIdempotentRequest,
  beginIdempotentRequest,
  finishIdempotentRequest,
  type IdempotentRequest,
} from '../store/idempotency-keys.ts';

export const IDEMPOTENCY_KEY = 'idempotency-key';

/** Longer than any request can take: one that died half-way frees its key then. */
const LEASE_MS = 120_000;
const REPLAY_MS = 24 * 3_600_000;
const PRINTABLE_ASCII = /^[\x20-\x7e]{1,255}$/;
/** The draft has a structured-field string, in quotes; most clients send it bare. Both mean the same key. */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Record<string, unknown>;
}

/** Keeps the answer for repeats; within the transaction that makes it true, where there is one. */
export type Keep = (database: Queryable, answer: Answer) => Promise<void>;

/**
 * Does the work of a request once per Idempotency-Key and answers its repeats with the stored answer. Follows the conventions of
 * draft-ietf-httpapi-idempotency-key-header-07, which expired without becoming a standard. What `work` does not keep, an
 * error or a "not yet", frees the key: the repeat is then worth a try. Without the header it only does the work.
 * @param scope whose key it is
 * @throws CodedError `idempotency_key_invalid`, `idempotency_key_reused` or `idempotency_key_in_progress`
 */
export async function answerOnce(
  {
    database,
    request,
    reply,
    scope,
  }: {
    readonly database: Database;
    readonly request: FastifyRequest;
    readonly reply: FastifyReply;
    readonly scope: string;
  },
  work: (keep: Keep) => Promise<Answer>,
): Promise<void> {
  const key = readKey(request.headers[IDEMPOTENCY_KEY]);
  if (key === undefined) return send(reply, serialize(reply, await work(async () => undefined)));

  const begun = begin(request, scope, key);
  const verdict = await beginIdempotentRequest(database, begun);
  if (verdict.kind === 'other_body')
    throw new CodedError('idempotency_key_reused', undefined, { field: IDEMPOTENCY_KEY });
  if (verdict.kind === 'running')
    throw new CodedError('idempotency_key_in_progress', undefined, { field: IDEMPOTENCY_KEY });
  if (verdict.kind === 'replay') return send(reply.header('idempotency-replayed', 'true'), verdict.response);

  const answered = { isKept: false };
  try {
    const answer = await work(async (queryable, value) => {
      await finish(queryable, begun, serialize(reply, value));
      answered.isKept = true;
    });
    if (!answered.isKept) await abandon(database, request, begun);
    await send(reply, serialize(reply, answer));
  } catch (error) {
    await abandon(database, request, begun);
    throw error;
  }
}

function readKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const text = String(header).trim();
  const key = QUOTED.exec(text)?.[1]?.replace(/\\(["\\])/g, '$1') ?? text;
  if (PRINTABLE_ASCII.test(key)) return key;
  throw new CodedError('idempotency_key_invalid', undefined, { field: IDEMPOTENCY_KEY });
}

function begin(request: FastifyRequest, scope: string, key: string): IdempotentRequest {
  const now = Date.now();
  const { method, routeOptions, body } = request;
  return {
    scope,
    route: `${method} ${routeOptions.url ?? ''}`,
    key,
    requestHash: createHash('sha256')
      .update(`${method} ${request.url.split('?', 1)[0] ?? ''}\n${canonicalJson(body)}`)
      .digest(),
    now: new Date(now).toISOString(),
    freedAt: new Date(now + LEASE_MS).toISOString(),
  };
}

/** The same for the same content, however its fields are ordered. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
      : inner,
  );
}

interface Serialized {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** By the route's response schema, so that the stored text is the text that was sent. */
function serialize(reply: FastifyReply, { status, headers = {}, body }: Answer): Serialized {
  return { status, headers, body: String(reply.serializeInput(body, String(status))) };
}

async function send(reply: FastifyReply, { status, headers, body }: Serialized): Promise<void> {
  reply.code(status).headers(headers).type('application/json; charset=utf-8').send(body);
  await reply;
}

/** Another request took the key over while this one was slow. In the work's transaction this undoes the work as well. */
async function finish(queryable: Queryable, begun: IdempotentRequest, response: Serialized): Promise<void> {
  const replayUntil = new Date(Date.parse(begun.now) + REPLAY_MS).toISOString();
  const stored = await finishIdempotentRequest(queryable, { ...begun, startedAt: begun.now, response, replayUntil });
  if (!stored) throw new CodedError('idempotency_key_in_progress', undefined, { field: IDEMPOTENCY_KEY });
}

/** Leaves a kept answer alone. Should this fail, the key frees itself when its time is over. */
async function abandon(database: Database, request: FastifyRequest, begun: IdempotentRequest): Promise<void> {
  try {
    await abandonIdempotentRequest(database, { ...begun, startedAt: begun.now });
  } catch (error) {
    request.log.warn({ err: error }, 'an idempotency key could not be freed; it frees itself after two minutes');
  }
}
