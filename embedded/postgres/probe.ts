import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { readIfThere } from '../files.ts';
import { type ClusterFiles, SUPERUSER } from './cluster.ts';

const CONNECT_TIMEOUT_MS = 3_000;
/** SQLSTATE cannot_connect_now: the server is starting, recovering or shutting down. */
const NOT_YET = '57P03';

const DATABASE_NAME = 'paidonce';

export type Finding =
  | { readonly kind: 'ours'; readonly serverVersion: string }
  | { readonly kind: 'not_yet' }
  | { readonly kind: 'none'; readonly problem: string };

/** Process id and port of the server that last held these files, from the file that Postgres keeps while it runs. */
export function lastServer(files: ClusterFiles): { processId: number; port: number } | null {
  const lines = readIfThere(join(files.data, 'postmaster.pid'))?.split('\n') ?? [];
  const processId = Number(lines[0]);
  const port = Number(lines[3]);
  return processId > 0 && port > 0 ? { processId, port } : null;
}

/**
 * Whether our server answers on a port. Only a query with our password, answered from our own files, is proof: a process
 * id may be another program's by now, a port another server's, and `pg_ctl status` believes in killed processes.
 */
export async function probe(files: ClusterFiles, port: number): Promise<Finding> {
  const client = new pg.Client({
    ...connection(files, port, 'postgres'),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => undefined); // A server that goes away in the middle shows in the query's own error.
  try {
    await client.connect();
    const { rows } = await client.query<{ folder: string; version: string }>(
      "SELECT current_setting('data_directory') AS folder, current_setting('server_version') AS version",
    );
    const [row] = rows;
    if (row === undefined || realpathSync(row.folder) !== realpathSync(files.data)) {
      return { kind: 'none', problem: `the server on port ${port} keeps its data elsewhere` };
    }
    return { kind: 'ours', serverVersion: row.version.split(' ')[0] ?? row.version };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return code === NOT_YET ? { kind: 'not_yet' } : { kind: 'none', problem: message };
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Makes the application's database unless it is there. */
export async function ensureDatabase(files: ClusterFiles, port: number): Promise<void> {
  const client = new pg.Client(connection(files, port, 'postgres'));
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE_NAME]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE_NAME}`);
  } finally {
    await client.end();
  }
}

export function databaseUrl(files: ClusterFiles, port: number): string {
  return `postgresql://${SUPERUSER}:${password(files)}@127.0.0.1:${port}/${DATABASE_NAME}`;
}

function connection(files: ClusterFiles, port: number, database: string) {
  return { host: '127.0.0.1', port, database, user: SUPERUSER, password: password(files) };
}

function password(files: ClusterFiles): string {
  return readIfThere(files.password)?.trim() ?? '';
}
