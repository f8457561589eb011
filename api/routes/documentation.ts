import { ERRORS, type ErrorCode } from '../../domain/errors.ts';
import { PROBLEM_JSON } from '../problems.ts';
import { problem } from '../schemas.ts';

const EVERYWHERE: readonly ErrorCode[] = ['card_number_refused', 'database_unavailable', 'internal'];
const BEHIND_A_KEY: readonly ErrorCode[] = ['credentials_missing', 'credentials_invalid', 'role_insufficient'];
export const WITH_A_BODY: readonly ErrorCode[] = [
  'body_malformed',
  'body_too_large',
  'media_type_unsupported',
  'field_invalid',
];
export const WITH_AN_IDEMPOTENCY_KEY: readonly ErrorCode[] = [
  'idempotency_key_invalid',
  'idempotency_key_reused',
  'idempotency_key_in_progress',
];

/** The error answers of a route for its OpenAPI description: one per HTTP status, with the codes that come with it. */
export function problems(...codes: readonly ErrorCode[]) {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set([...EVERYWHERE, ...codes])) {
    const status = ERRORS[code].status ?? 500;
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, named]) => [
      status,
      { description: named.join(', '), content: { [PROBLEM_JSON]: { schema: problem } } },
    ]),
  );
}

export function problemsBehindAKey(...codes: readonly ErrorCode[]) {
  return problems(...BEHIND_A_KEY, ...codes);
}

/** For `security` in a route's schema; the names are those of api/openapi.ts. */
export const BY_API_KEY = [{ apiKey: [] }];
