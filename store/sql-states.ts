/**
 * The one place where Postgres' error codes are named. Source: PostgreSQL documentation, appendix A, the same from 15 to 18.
 */
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const INTEGRITY_CONSTRAINT_VIOLATION_CLASS = '23';

/** Nothing that a caller did wrong: the same call may work once the database is back, or has room again. */
const UNAVAILABLE_STATES: ReadonlySet<string> = new Set([
  '25006', // read_only_sql_transaction: connected to a standby in the middle of a fail-over
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
  '53100', // disk_full
  '53200', // out_of_memory
  '53300', // too_many_connections
  '55P03', // lock_not_available: a lock time-out
  '57014', // query_canceled: a statement time-out
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now: starting up or shutting down
  '57P05', // idle_session_timeout
]);
const CONNECTION_EXCEPTION_CLASS = '08';

const NETWORK_ERRORS: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT', // no socket file where a Unix socket was expected
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** The driver tells a lost connection by sentence only (pg 8.23 lib/client.js, pg-pool index.js). */
const DRIVER_SENTENCES = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
  'Client has encountered a connection error',
  'Client was closed and is not queryable',
];

/** The database could not be reached, or had no room for the call. Whether a commit that was on its way took hold is unknown. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isUnavailable);
  const state = sqlStateOf(error);
  if (state !== undefined) return UNAVAILABLE_STATES.has(state) || state.startsWith(CONNECTION_EXCEPTION_CLASS);
  if (NETWORK_ERRORS.has(codeOf(error) ?? '')) return true;
  return DRIVER_SENTENCES.some((sentence) => error.message.startsWith(sentence));
}

/** Postgres rolled the transaction back because of another one; the same work may simply be done again. */
export function isTransactionConflict(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === SERIALIZATION_FAILURE || state === DEADLOCK_DETECTED;
}

/** The name of the constraint, unique index or guard that refused a row; undefined for every other error. */
export function constraintOf(error: unknown): string | undefined {
  if (sqlStateOf(error)?.startsWith(INTEGRITY_CONSTRAINT_VIOLATION_CLASS) !== true) return undefined;
  const { constraint } = error as { readonly constraint?: unknown };
  return typeof constraint === 'string' ? constraint : undefined;
}

/**
 * The statement was refused and no more: the connection is in order and can be used again. After a FATAL error the server
 * hangs up, and after an error of the network or of the driver nobody knows what is still on the wire.
 */
export function leavesConnectionInOrder(error: unknown): boolean {
  return sqlStateOf(error) !== undefined && (error as { readonly severity?: unknown }).severity === 'ERROR';
}

/** The five-character code of an error that the server raised; undefined when the error did not come from the server. */
function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('severity' in error)) return undefined;
  return codeOf(error);
}

function codeOf(error: Error): string | undefined {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
