import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CodedError } from '../domain/errors.ts';
import { logTail, readIfThere, rotateLog, writePrivateFile } from './files.ts';
import { startMark } from './process-identity.ts';

const LEFTOVER_STOP_MS = 5_000;
const POLL_MS = 25;
/** A first line longer than this is not an announcement of being ready. */
const LONGEST_LINE = 16 * 1024;

export interface ProcessPlan {
  /** Names the process in errors, its log and its pid file. */
  readonly name: string;
  readonly command: string;
  readonly parameters: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** Where `<name>.log` and `<name>.pid` are kept. */
  readonly folder: string;
  readonly stopSignal: 'SIGTERM' | 'SIGINT';
  /** How long an orderly stop may take before the process is killed. */
  readonly stopWithinMs: number;
}

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunningProcess {
  readonly name: string;
  readonly processId: number;
  readonly logFile: string;
  /** What it printed first, without the line's end; null when it ended before printing a whole line. */
  readonly firstLine: Promise<string | null>;
  readonly ended: Promise<Ending>;
  /** Asks it to end, waits, and kills it when it takes too long. Safe to call again. */
  stop(): Promise<void>;
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
}

/**
 * Starts a process in a session of its own: Ctrl-C in the terminal must reach only the command that was typed, which then
 * stops the parts in their order. Its output goes to a log file; a process left over by a killed parent is ended first.
 * @throws CodedError `program_failed` when the program cannot be started at all
 */
export async function startProcess(plan: ProcessPlan): Promise<RunningProcess> {
  mkdirSync(plan.folder, { recursive: true, mode: 0o700 });
  await endLeftover(plan.name, plan.folder);
  const logFile = join(plan.folder, `${plan.name}.log`);
  const pidFile = pidFileOf(plan.name, plan.folder);
  rotateLog(logFile);
  const logDescriptor = openSync(logFile, 'a', 0o600);
  const child = spawn(plan.command, plan.parameters, {
    env: plan.environment,
    stdio: ['ignore', 'pipe', logDescriptor],
    detached: true,
  });
  const processId = await spawned(child, plan.name);
  writePrivateFile(pidFile, `${processId} ${startMark(processId) ?? ''}`);
  const ended = endOf(child).finally(() => {
    closeSync(logDescriptor);
    if (readIfThere(pidFile)?.startsWith(`${processId} `)) rmSync(pidFile, { force: true });
  });
  const end = async (signal: NodeJS.Signals, withinMs: number): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), withinMs);
    await ended.finally(() => clearTimeout(timer));
  };
  return {
    name: plan.name,
    processId,
    logFile,
    firstLine: readFirstLine(child, logDescriptor),
    ended,
    stop: () => end(plan.stopSignal, plan.stopWithinMs),
    kill: () => end('SIGKILL', plan.stopWithinMs),
  };
}

/** How a TypeScript entry of this project is run as a process: through tsx from source, directly when it is compiled. */
export function nodeProgram(entry: URL): { readonly command: string; readonly parameters: readonly string[] } {
  const path = fileURLToPath(entry);
  if (!path.endsWith('.ts')) return { command: process.execPath, parameters: ['--enable-source-maps', path] };
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  return { command: process.execPath, parameters: ['--import', loader, path] };
}

/** The error for a process that did not get as far as it should, with why: how it ended and what it logged last. */
export async function notReady(child: RunningProcess, what: string): Promise<CodedError> {
  const ending = await Promise.race([child.ended, sleep(0, null)]);
  const how = ending === null ? 'it does not answer' : `it ended with ${ending.signal ?? `exit code ${ending.code}`}`;
  return new CodedError('program_failed', `${what} did not start: ${how}; ${logTail(child.logFile)}`);
}

/**
 * Ends the process that a killed parent left behind under this name, if it is still the same one: ids repeat, so the
 * start time beside the id decides.
 */
export async function endLeftover(name: string, folder: string): Promise<void> {
  const path = pidFileOf(name, folder);
  const [id = '', mark] = readIfThere(path)?.split(/ (.*)/s) ?? [];
  const processId = Number(id);
  const isOurs = (): boolean => processId > 0 && mark !== undefined && mark !== '' && startMark(processId) === mark;
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (isOurs()) process.kill(processId, signal);
    const deadline = Date.now() + LEFTOVER_STOP_MS;
    while (isOurs() && Date.now() < deadline) await sleep(POLL_MS);
  }
  rmSync(path, { force: true });
}

function pidFileOf(name: string, folder: string): string {
  return join(folder, `${name}.pid`);
}

function spawned(child: ChildProcess, name: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid ?? 0));
    child.once('error', (cause) => {
      reject(new CodedError('program_failed', `The ${name} could not be started: ${cause.message}.`, { cause }));
    });
  });
}

function endOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
}

/** Keeps reading after the first line, into the log: a full pipe would stop the process. */
function readFirstLine(child: ChildProcess, logDescriptor: number): Promise<string | null> {
  return new Promise((resolve) => {
    let text: string | null = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      if (text === null) {
        if (child.exitCode === null && child.signalCode === null) writeSync(logDescriptor, chunk);
        return;
      }
      text += chunk.toString();
      const end = text.indexOf('\n');
      if (end === -1 && text.length < LONGEST_LINE) return;
      resolve(end === -1 ? null : text.slice(0, end));
      text = null;
    });
    child.stdout?.on('close', () => resolve(null));
  });
}
