import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError } from '../../domain/errors.ts';
import { readIfThere, writePrivateFile } from '../files.ts';
import { type Account, giveTo, makeOwnFolder } from './account.ts';
import type { PostgresPrograms } from './programs.ts';
import { runProgram } from './run-program.ts';

/** One call syncs a whole file system, there only. */
const CAN_SYNC_FILE_SYSTEM = process.platform === 'linux';

export const SUPERUSER = 'paidonce';

/** Everything that belongs to one embedded server, below one folder. */
export interface ClusterFiles {
  readonly root: string;
  readonly data: string;
  readonly password: string;
  readonly port: string;
  readonly log: string;
}

export function clusterFiles(root: string): ClusterFiles {
  return {
    root,
    data: join(root, 'cluster'),
    password: join(root, 'password'),
    port: join(root, 'port'),
    log: join(root, 'postgres.log'),
  };
}

/**
 * Makes the database files on first use. They are made under another name and renamed, so that an initialisation which
 * was killed half-way is simply done again.
 * @throws CodedError `program_failed` when they were made by another major version, or initdb fails
 */
export async function prepareCluster(files: ClusterFiles, programs: PostgresPrograms, account: Account): Promise<void> {
  const made = readIfThere(join(files.data, 'PG_VERSION'))?.trim();
  if (made !== undefined) {
    if (Number(made) === programs.major) return;
    const advice = `set PG_BIN to a PostgreSQL ${made}, or move the folder away to begin with an empty database`;
    throw new CodedError(
      'program_failed',
      `The data in ${files.data} was made by PostgreSQL ${made} and cannot be read by ${programs.major}; ${advice}.`,
    );
  }
  const draft = `${files.data}.new`;
  rmSync(draft, { recursive: true, force: true });
  makeOwnFolder(draft, account);
  if (!existsSync(files.password)) writePrivateFile(files.password, randomBytes(24).toString('base64url'));
  giveTo(files.password, account);
  const { code, output } = await runProgram(
    join(programs.folder, 'initdb'),
    initialisation(draft, files, programs.major),
    account,
  );
  if (code !== 0)
    throw new CodedError('program_failed', `The database files could not be made in ${draft}: ${lastWords(output)}`);
  appendFileSync(join(draft, 'postgresql.conf'), "\ninclude 'paidonce.conf'\n");
  renameSync(draft, files.data);
}

function initialisation(draft: string, files: ClusterFiles, major: number): string[] {
  // The built-in locale needs none of the system's; before version 17 there was only C to say the same.
  const locale = major >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'] : ['--locale=C'];
  // Not "trust": every user of the machine can reach a port of the loopback address.
  const access = ['--auth=scram-sha-256', `--pwfile=${files.password}`, `--username=${SUPERUSER}`];
  const sync = major >= 17 && CAN_SYNC_FILE_SYSTEM ? ['--sync-method=syncfs'] : [];
  return ['-D', draft, '-E', 'UTF8', ...locale, ...access, ...sync, '--no-instructions'];
}

/**
 * Written anew before each start. Durable like a production server (a payment that was answered must survive a power
 * cut), but small: one machine, one application, a laptop's memory.
 */
export function writeSettings(
  files: ClusterFiles,
  server: { readonly port: number; readonly major: number },
  account: Account,
): void {
  const settings: Record<string, string | number> = {
    listen_addresses: '127.0.0.1',
    port: server.port,
    // Without a socket file there is no path that could be too long for one (about 100 bytes).
    unix_socket_directories: '',
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    wal_level: 'minimal',
    max_wal_senders: 0,
    min_wal_size: '32MB',
    max_wal_size: '512MB',
    checkpoint_timeout: '15min',
    max_connections: 60,
    shared_buffers: '32MB',
    huge_pages: 'off',
    jit: 'off',
    max_worker_processes: 2,
    max_logical_replication_workers: 0,
    max_parallel_workers: 0,
    max_parallel_workers_per_gather: 0,
    autovacuum_max_workers: 1,
    log_checkpoints: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // The texts and values of statements stay out of the log: they may hold what a log must not.
    log_min_error_statement: 'panic',
    log_parameter_max_length: 0,
    // After a kill each file would be synced on its own before recovery; seen: 2 s against 0.1 s on a busy machine.
    ...(CAN_SYNC_FILE_SYSTEM ? { recovery_init_sync_method: 'syncfs' } : {}),
    // Version 18 starts three helper processes for reading by default; a database of this size needs none.
    ...(server.major >= 18 ? { io_method: 'sync' } : {}),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'`);
  const path = join(files.data, 'paidonce.conf');
  writeFileSync(path, `# Written by paidonce before each start; changes here are lost.\n${lines.join('\n')}\n`, {
    mode: 0o600,
  });
  giveTo(path, account);
}

export function lastWords(output: string): string {
  return output.trim().split('\n').slice(-8).join(' | ') || 'it said nothing';
}
