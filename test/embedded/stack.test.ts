import { spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findPrograms } from '../../cli/setup/find-programs.mjs';
import { startMark } from '../../embedded/process-identity.ts';
import { nodeProgram } from '../../embedded/processes.ts';
import { type Stack, type StackOptions, startStack } from '../../embedded/stack.ts';
import { takeStackLock } from '../../embedded/stack-lock.ts';
import { createLog } from '../../process/log.ts';
import { eventually, scratchFolder } from './scratch.ts';

const log = createLog('silent', 'test');
const { temporal: temporalProgram } = findPrograms();

function optionsFor(dataFolder: string, more: Partial<StackOptions> = {}): StackOptions {
  return {
    dataFolder,
    temporalProgram,
    searchAttributes: { OrderStatus: 'Keyword', NeedsReview: 'Bool' },
    log,
    applicationEntry: new URL('./stub-application.ts', import.meta.url),
    ...more,
  };
}

async function start(dataFolder: string, more: Partial<StackOptions> = {}): Promise<Stack> {
  const stack = await startStack(optionsFor(dataFolder, more));
  onTestFinished(() => stack.stop());
  return stack;
}

async function toldBy(stack: Stack): Promise<Record<string, unknown>> {
  return (await (await fetch(stack.addresses.api)).json()) as Record<string, unknown>;
}

function allGone(processIds: Readonly<Record<string, number>>): boolean {
  return Object.values(processIds).every((processId) => startMark(processId) === null);
}

describe('the embedded stack', () => {
  it('is up with all parts, refuses a second one, survives a kill of everything at the same addresses, and stops', async () => {
    const folder = scratchFolder();
    chmodSync(folder, 0o700); // As a temporary folder is made; the data must stay in it all the same.
    const parts: string[] = [];
    const first = await start(folder, { onProgress: ({ part, state }) => parts.push(`${part} ${state}`) });
    expect(parts.slice(-2)).toEqual(['application starting', 'application ready']);
    expect(new Set(parts)).toContain('simulator ready');
    expect(Object.keys(first.processIds()).sort()).toEqual(['application', 'database', 'simulator', 'temporal']);
    expect(await toldBy(first)).toMatchObject({
      DATABASE_URL: first.databaseUrl,
      TEMPORAL_ADDRESS: first.addresses.temporal,
      TEMPORAL_NAMESPACE: 'default',
      DEVELOPMENT_API_KEY: expect.stringMatching(/^paidonce_operate_[\w-]{43}$/),
      GATEWAYS: JSON.stringify([
        { name: 'simulator', kind: 'simulator', settings: { url: first.addresses.simulator } },
      ]),
      hasSecret: true,
    });
    expect(first.addresses.database).not.toContain(new URL(first.databaseUrl).password);
    expect((await fetch(first.addresses.temporalUi ?? '')).status).toBe(200);
    expect(existsSync(join(folder, 'postgres', 'cluster'))).toBe(true);
    for (const secret of [
      'simulator',
      'temporal',
      'application',
      'development-key',
      'payment-token-secret',
      'stack.lock',
    ]) {
      expect(statSync(join(folder, secret)).mode & 0o077).toBe(0);
    }

    await expect(startStack(optionsFor(folder))).rejects.toMatchObject({
      code: 'stack_already_running',
      message: expect.stringContaining(`api ${first.addresses.api}`),
    });
    expect((await toldBy(first)).hasSecret).toBe(true);

    const killed = first.processIds();
    await first.killEverything();
    expect(allGone(killed)).toBe(true);
    const second = await start(folder);
    await first.stop(); // Over already: it must not touch what runs on the folder now.
    expect(startMark(second.processIds().database ?? 0)).not.toBeNull();
    expect(second.addresses).toEqual(first.addresses);
    expect(second.developmentKey).toBe(first.developmentKey);
    const stopped = second.processIds();
    await second.stop();
    expect(allGone(stopped)).toBe(true);
    expect(existsSync(join(folder, 'stack.lock'))).toBe(false);
  });

  it('lets the application be killed and started again while the rest runs on, and tells of a part that was lost', async () => {
    const stack = await start(scratchFolder(), { overrides: { STUB_NOTE: 'first' } });
    const before = stack.processIds();
    expect((await toldBy(stack)).STUB_NOTE).toBe('first');
    await stack.killApplication();
    expect(stack.processIds().application).toBeUndefined();
    await expect(toldBy(stack)).rejects.toThrow('fetch failed');
    await stack.startApplication({ STUB_NOTE: 'second' });
    expect((await toldBy(stack)).STUB_NOTE).toBe('second');
    expect({ ...stack.processIds(), application: 0 }).toEqual({ ...before, application: 0 });
    process.kill(stack.processIds().simulator ?? 0, 'SIGKILL');
    expect(await stack.partLost).toBe('simulator');
  });

  it('takes over or replaces what a killed command left behind', async () => {
    const folder = scratchFolder();
    const left = await startAndBeKilled(folder);
    expect(allGone(left.processIds)).toBe(false);
    const stack = await start(folder);
    expect(stack.addresses).toEqual(left.addresses);
    const { database, ...replaced } = left.processIds;
    expect(stack.processIds().database).toBe(database);
    expect(allGone(replaced)).toBe(true);
  });

  it('leaves nothing running when a part cannot start, and says why', async () => {
    const folder = scratchFolder();
    const sentence = 'the application does not like its settings';
    await expect(startStack(optionsFor(folder, { overrides: { STUB_FAILURE: sentence } }))).rejects.toMatchObject({
      code: 'program_failed',
      message: expect.stringMatching(
        `The application did not start: it ended with exit code 3; its log ends: .*${sentence}`,
      ),
    });
    expect(existsSync(join(folder, 'stack.lock'))).toBe(false);
    for (const part of ['application', 'simulator', 'temporal']) {
      expect(existsSync(join(folder, part, `${part}.pid`))).toBe(false);
    }
    expect(existsSync(join(folder, 'postgres', 'cluster', 'postmaster.pid'))).toBe(false);
  });

  it('starts neither Postgres nor Temporal when the environment names others', async () => {
    const environment = {
      ...process.env,
      DATABASE_URL: 'postgresql://shop:secret@db.example/orders',
      TEMPORAL_ADDRESS: 'temporal.example:7233',
      TEMPORAL_NAMESPACE: 'orders',
    };
    const stack = await start(scratchFolder(), { environment, temporalProgram: null });
    expect(Object.keys(stack.processIds()).sort()).toEqual(['application', 'simulator']);
    expect(stack.addresses).toMatchObject({
      database: 'postgresql://shop@db.example/orders',
      temporal: 'temporal.example:7233',
      temporalUi: null,
    });
    expect(await toldBy(stack)).toMatchObject({ DATABASE_URL: environment.DATABASE_URL, TEMPORAL_NAMESPACE: 'orders' });
  });

  it('names a configured port that is taken, and how to get a missing Temporal', async () => {
    const rival = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void rival.close());
    await eventually(() => rival.listening, 'the rival listens');
    const address = rival.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const environment = { ...process.env, DATABASE_URL: 'postgresql://db.example/orders' };
    const taken = startStack(optionsFor(scratchFolder(), { environment, ports: { temporalUi: port } }));
    await expect(taken).rejects.toThrow(`Port ${port} on 127.0.0.1 is taken by another program`);
    const missing = startStack(optionsFor(scratchFolder(), { environment, temporalProgram: null }));
    await expect(missing).rejects.toMatchObject({ code: 'program_missing' });
  });
});

describe('the lock of a data folder', () => {
  it('is taken over from a process that is gone, or whose id is another process now', async () => {
    const path = join(scratchFolder(), 'stack.lock');
    for (const holder of [
      { processId: 2_147_483_646, mark: '1' },
      { processId: process.ppid, mark: 'another start' },
    ]) {
      writeFileSync(path, JSON.stringify({ ...holder, addresses: {} }));
      const lock = await takeStackLock(path);
      expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ processId: process.pid });
      lock.release();
    }
    writeFileSync(path, '{"half');
    (await takeStackLock(path)).release();
    expect(existsSync(path)).toBe(false);
  });

  it('stays with a process that runs, and is not given back by another', async () => {
    const path = join(scratchFolder(), 'stack.lock');
    const holder = { processId: process.ppid, mark: startMark(process.ppid), addresses: { api: 'http://there' } };
    const lock = await takeStackLock(path);
    writeFileSync(path, JSON.stringify(holder));
    lock.release();
    await expect(takeStackLock(path)).rejects.toThrow(/already runs on .*: api http:\/\/there\. Use that one/);
  });
});

interface Left {
  readonly addresses: Stack['addresses'];
  readonly processIds: Readonly<Record<string, number>>;
}

async function startAndBeKilled(folder: string): Promise<Left> {
  const { command, parameters } = nodeProgram(new URL('./stack-starter.ts', import.meta.url));
  const child = spawn(command, [...parameters, folder, temporalProgram ?? ''], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()));
    child.once('exit', (code) => reject(new Error(`The starter ended early with ${code}`)));
  });
  child.kill('SIGKILL');
  await eventually(() => startMark(child.pid ?? 0) === null, 'the starter is dead');
  return JSON.parse(line) as Left;
}
