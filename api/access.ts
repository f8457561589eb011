import type { FastifyReply, FastifyRequest } from 'fastify';
import { CodedError } from '../domain/errors.ts';
import { API_KEY_ROLES, type ApiKey, type ApiKeyRole, findApiKey } from '../store/api-keys.ts';
import type { Database } from '../store/database.ts';

/**
 * Who may call a route. `payment_token`: whoever holds the token of the attempt, for a shopper's browser has no API key;
 * the route checks it, because it stands in the body. `public`: anybody.
 */
export type Access = ApiKeyRole | 'payment_token' | 'public';

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
  }
  interface FastifyRequest {
    /** Null on routes that ask for none. */
    apiKey: ApiKey | null;
    /** The code of the problem that was answered, for the log line. */
    problemCode: string | null;
  }
}

const BEARER = /^Bearer ([\x21-\x7e]{1,200})$/i;

/** A route that does not say who may call it must not exist: forgotten, it would be open to all. */
export function demandAccess({
  url,
  config,
}: {
  readonly url: string;
  readonly config?: { readonly access?: Access };
}): void {
  if (config?.access === undefined) throw new Error(`Route ${url} does not say who may call it; set config.access`);
}

/** Checks the API key before the body is even read. Makes an `onRequest` hook. */
export function checkAccess(database: Database) {
  return async (request: FastifyRequest, _reply: FastifyReply): Promise<void> => {
    const { access } = request.routeOptions.config;
    // Undefined only where no route was found, which answers 404 to everybody.
    if (access === undefined || access === 'public' || access === 'payment_token') return;
    const key = await readApiKey(database, request.headers.authorization);
    if (!includes(key.role, access)) throw new CodedError('role_insufficient', `The route needs the role ${access}.`);
    request.apiKey = key;
  };
}

async function readApiKey(database: Database, authorization: string | undefined): Promise<ApiKey> {
  if (authorization === undefined) throw new CodedError('credentials_missing');
  const key = BEARER.exec(authorization)?.[1];
  const found = key === undefined ? undefined : await findApiKey(database, key);
  if (found === undefined) throw new CodedError('credentials_invalid');
  return found;
}

/** Each role includes the ones before it. */
export function includes(held: ApiKeyRole, needed: ApiKeyRole): boolean {
  return API_KEY_ROLES.indexOf(held) >= API_KEY_ROLES.indexOf(needed);
}

/** The key of a request to a route that demands one. */
export function apiKeyOf(request: FastifyRequest): ApiKey {
  if (request.apiKey === null) throw new Error('The route was reached without an API key');
  return request.apiKey;
}
