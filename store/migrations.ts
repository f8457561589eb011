import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { CodedError } from '../domain/errors.ts';
import { COLUMN_TYPES } from './column-types.ts';

/** One file of the migrations folder. `sha256` is over the text with LF line ends, so a checkout on Windows is not an edit. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  readonly sha256: string;
}

export interface MigrationStatus {
  readonly number: number;
  readonly name: string;
  /** ISO time; null while it is still to be applied. */
  readonly appliedAt: string | null;
}

/** Any number will do, as long as every version of paidonce takes the same one. */
const ADVISORY_LOCK = 7_243_610_001;
const FILE_NAME = /^(\d{4})-([a-z0-9-]+)\.sql$/;

/** The folder of this package, from source as well as from `dist`: the nearest one upwards with a package.json. */
export function findMigrationsFolder(from: string = dirname(fileURLToPath(import.meta.url))): string {
  if (existsSync(join(from, 'package.json'))) return join(from, 'migrations');
  const parent = dirname(from);
  if (parent === from) throw new CodedError('migration_gap', 'The migrations folder of paidonce was not found.');
  return findMigrationsFolder(parent);
}

/**
 * Reads `NNNN-name.sql` files, which must be numbered 1, 2, 3, … without a gap.
 * @throws CodedError `migration_gap`
 */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql') && file !== 'schema.sql').sort();
  if (files.length === 0) throw new CodedError('migration_gap', `There is no migration in ${folder}.`);
  return Promise.all(
    files.map(async (file, index) => {
      const [, digits, name] = FILE_NAME.exec(file) ?? [];
      if (digits === undefined || name === undefined) {
        throw new CodedError('migration_gap', `Rename ${file}: migrations are called like 0004-what-it-does.sql.`);
      }
      if (Number(digits) !== index + 1) {
        const expected = String(index + 1).padStart(4, '0');
        throw new CodedError(
          'migration_gap',
          `${file} stands where number ${expected} was expected; each number comes once.`,
        );
      }
      const sql = (await readFile(join(folder, file), 'utf8')).replaceAll('\r\n', '\n');
      return { number: index + 1, name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/**
 * Brings a database up to date. Safe to run by any number of processes at once: they take turns behind an advisory lock,
 * and each file is applied once, in a transaction of its own. A file that fails leaves nothing of itself behind. Needs a
 * direct connection: behind a pooler that hands out connections per transaction the lock would be lost half-way.
 * @throws CodedError `migration_gap`, `migration_edited`, `database_ahead_of_code`
 */
export async function migrate(
  url: string,
  folder: string = findMigrationsFolder(),
): Promise<{ readonly applied: string[]; readonly alreadyThere: number }> {
  const migrations = await readMigrations(folder);
  return withClient(url, async (client) => {
    // The role's own limits are meant for requests; waiting for another process's migration may take longer.
    await client.query('set statement_timeout = 0; set lock_timeout = 0');
    await client.query('select pg_advisory_lock($1)', [ADVISORY_LOCK]);
    await client.query(
      `create table if not exists schema_migrations (
         number integer primary key,
         name text not null,
         sha256 text not null,
         applied_at timestamptz not null)`,
    );
    await client.query(`comment on table schema_migrations is 'Which files of migrations/ were applied.'`);
    const before = await readApplied(client);
    compare(migrations, before);
    const applied: string[] = [];
    for (const migration of migrations.slice(before.length)) {
      await apply(client, migration);
      applied.push(fileName(migration));
    }
    return { applied, alreadyThere: before.length };
  });
}

/**
 * What was applied and what is still to come; changes nothing and takes no lock.
 * @throws CodedError as `migrate` does
 */
export async function migrationStatus(
  url: string,
  folder: string = findMigrationsFolder(),
): Promise<MigrationStatus[]> {
  const migrations = await readMigrations(folder);
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ exists: boolean }>(
      `select to_regclass('schema_migrations') is not null as exists`,
    );
    const applied = rows[0]?.exists === true ? await readApplied(client) : [];
    compare(migrations, applied);
    return migrations.map(({ number, name }, index) => ({
      number,
      name,
      appliedAt: applied[index]?.applied_at ?? null,
    }));
  });
}

interface AppliedRow {
  readonly number: number;
  readonly name: string;
  readonly sha256: string;
  readonly applied_at: string;
}

async function withClient<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'paidonce-migrate',
    connectionTimeoutMillis: 5_000,
    types: COLUMN_TYPES,
  });
  // A connection that breaks fails the statement on it; unheard, this event would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    // Ends the session, and with it the advisory lock.
    await client.end();
  }
}

async function readApplied(client: pg.Client): Promise<AppliedRow[]> {
  const { rows } = await client.query<AppliedRow>(
    'select number, name, sha256, applied_at from schema_migrations order by number',
  );
  return rows;
}

function compare(migrations: readonly Migration[], applied: readonly AppliedRow[]): void {
  const ahead = applied[migrations.length];
  if (ahead !== undefined) {
    throw new CodedError(
      'database_ahead_of_code',
      `The database has migration ${fileName(ahead)}, which this version of paidonce does not know. Start the newer version.`,
    );
  }
  for (const [index, row] of applied.entries()) {
    const migration = migrations[index];
    if (migration === undefined || row.number !== migration.number) {
      throw new CodedError(
        'migration_gap',
        `The database lacks a migration before ${fileName(row)}; restore it from a backup.`,
      );
    }
    if (row.sha256 !== migration.sha256) {
      throw new CodedError(
        'migration_edited',
        `${fileName(migration)} was edited after it was applied. Undo the edit and write a new migration instead.`,
      );
    }
  }
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('begin');
  try {
    // Waiting for a lock makes everybody else wait behind us; better to give up and be run again.
    await client.query(`set local lock_timeout = '10s'`);
    await client.query(migration.sql);
    await client.query('insert into schema_migrations (number, name, sha256, applied_at) values ($1, $2, $3, now())', [
      migration.number,
      migration.name,
      migration.sha256,
    ]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

function fileName({ number, name }: { readonly number: number; readonly name: string }): string {
  return `${String(number).padStart(4, '0')}-${name}.sql`;
}
