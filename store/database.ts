import { createHash } from 'node:crypto';
import pg from 'pg';
import { COLUMN_TYPES } from './column-types.ts';
import type { Database, QueryAnswer, Queryable } from './queryable.ts';
import { leavesConnectionInOrder } from './sql-states.ts';

export type { Database, Queryable } from './queryable.ts';
export { constraintOf, isTransactionConflict, isUnavailable } from './sql-states.ts';
export { inTransaction } from './transaction.ts';

export interface DatabaseOptions {
  readonly url: string;
  readonly poolSize: number;
  /** What pg_stat_activity shows; the role of the process, such as `paidonce-worker`. */
  readonly applicationName: string;
  readonly log?: DatabaseLog;
  /** False behind a pooler that hands out connections per transaction and does not follow prepared statements. */
  readonly prepareStatements?: boolean;
  readonly statementTimeoutMs?: number;
}

export interface DatabaseLog {
  warn(details: object, message: string): void;
}

const STATEMENT_TIMEOUT_MS = 10_000;
/** A transaction that waits for its process this long holds locks for nobody: the process is stuck or gone. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;
const CONNECTION_TIMEOUT_MS = 5_000;
/** The server's own time-out must come first, because its error says what happened; this one is for a server that vanished. */
const SILENCE_TIMEOUT_MARGIN_MS = 5_000;

/**
 * Opens a pool. Connects only when the first statement is sent, so it works while the database is away; statements then
 * fail with an error that `isUnavailable` knows. int8 comes as a number (an unsafe one throws), timestamptz as an ISO string.
 */
export function createDatabase(options: DatabaseOptions): Database {
  const statementTimeoutMs = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS;
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    application_name: options.applicationName,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    query_timeout: statementTimeoutMs + SILENCE_TIMEOUT_MARGIN_MS,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: COLUMN_TYPES,
  });
  // Without a listener an idle connection that the server closes would end the process.
  pool.on('error', (error) => options.log?.warn({ err: error }, 'an idle database connection was lost'));
  const prepare = options.prepareStatements ?? true;
  return {
    query: (text, values) => lend(pool, prepare, (connection) => connection.query(text, values)),
    withConnection: (work) => lend(pool, prepare, work),
    connections: () => ({
      open: pool.totalCount,
      busy: pool.totalCount - pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close: () => pool.end(),
  };
}

async function lend<Result>(
  pool: pg.Pool,
  prepare: boolean,
  work: (connection: Queryable) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  const borrowed = borrow(client, prepare);
  try {
    return await work(borrowed.connection);
  } finally {
    borrowed.giveBack();
  }
}

/**
 * A refusal by the server (a constraint, say) leaves a connection as good as new; the pool's own query method would close
 * it. Whatever else goes wrong may leave it in the middle of an answer or of a transaction, so then it is not used again.
 */
function borrow(client: pg.PoolClient, prepare: boolean): { connection: Queryable; giveBack: () => void } {
  let returned = false;
  let broken = false;
  // A connection that breaks while it is lent fails the statement on it; unheard, this event would end the process.
  const onLost = (): void => {
    broken = true;
  };
  client.on('error', onLost);
  return {
    connection: {
      query: async (text, values) => {
        if (returned) throw new Error('A statement was sent on a database connection after it was given back');
        try {
          return await send(client, prepare ? statementName(text) : undefined, { text, values });
        } catch (error) {
          if (!leavesConnectionInOrder(error)) broken = true;
          throw error;
        }
      },
    },
    giveBack: () => {
      returned = true;
      client.removeListener('error', onLost);
      client.release(broken || client.getTransactionStatus() !== 'I');
    },
  };
}

async function send<Row extends object>(
  client: pg.PoolClient,
  name: string | undefined,
  { text, values }: { readonly text: string; readonly values: readonly unknown[] | undefined },
): Promise<QueryAnswer<Row>> {
  if (values === undefined) return client.query<Row>(text);
  return client.query<Row>({ text, values: [...values], ...(name !== undefined && { name }) });
}

const statementNames = new Map<string, string>();

function statementName(text: string): string {
  const known = statementNames.get(text);
  if (known !== undefined) return known;
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 32);
  statementNames.set(text, name);
  return name;
}
