import { createHash, randomBytes } from 'node:crypto';
import { v7 as newId } from 'uuid';
import type { Queryable } from './queryable.ts';

/** Each role includes the ones before it: look; create orders and pay; settle what nobody else could. */
export const API_KEY_ROLES = ['read', 'write', 'operate'] as const;

export type ApiKeyRole = (typeof API_KEY_ROLES)[number];

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly role: ApiKeyRole;
}

/** 43 characters of base64url are 32 random bytes: not to be guessed, so a plain SHA-256 of the key is enough to keep. */
const KEY_FORMAT = /^paidonce_(read|write|operate)_[A-Za-z0-9_-]{43}$/;

/** Could this be a key of ours at all? Saves the database a question for whatever else is sent as one. */
function isApiKeyFormat(key: string): boolean {
  return KEY_FORMAT.test(key);
}

/**
 * Makes a key, such as `paidonce_write_…`, and stores its hash. The key itself is returned this once and cannot be found out
 * again. `name` says who holds it, in 1 to 100 characters.
 */
export async function createApiKey(
  database: Queryable,
  { role, name }: { readonly role: ApiKeyRole; readonly name: string },
): Promise<{ readonly id: string; readonly key: string }> {
  const key = `paidonce_${role}_${randomBytes(32).toString('base64url')}`;
  return { id: await ensureApiKey(database, { key, name }), key };
}

/**
 * Stores the hash of a key that was made before, unless it is there already, and returns its id: the embedded stack keeps its
 * development key in its data folder. The role is the one in the key. A key that was revoked stays revoked.
 */
export async function ensureApiKey(
  database: Queryable,
  { key, name }: { readonly key: string; readonly name: string },
): Promise<string> {
  const role = KEY_FORMAT.exec(key)?.[1];
  if (role === undefined) throw new Error('An API key looks like paidonce_<role>_<43 characters of base64url>');
  const { rows } = await database.query<{ id: string }>(
    `insert into api_keys (id, name, key_hash, role, created_at) values ($1, $2, $3, $4, now())
     on conflict (key_hash) do update set name = excluded.name
     returning id`,
    [newId(), name, hashOf(key), role],
  );
  const row = rows[0];
  if (row === undefined) throw new Error('The API key was neither stored nor found');
  return row.id;
}

/** Whose key is this? Undefined when it is not known or was revoked. */
export async function findApiKey(database: Queryable, key: string): Promise<ApiKey | undefined> {
  if (!isApiKeyFormat(key)) return undefined;
  const { rows } = await database.query<ApiKey>(
    'select id, name, role from api_keys where key_hash = $1 and revoked_at is null',
    [hashOf(key)],
  );
  return rows[0];
}

/** From now on the key opens nothing. Returns false when there is no such key or it was revoked before. */
export async function revokeApiKey(database: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await database.query(
    'update api_keys set revoked_at = now() where id = $1 and revoked_at is null',
    [id],
  );
  return rowCount === 1;
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
