import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CodedError } from '../../domain/errors.ts';
import { readIfThere, rotateLog } from '../files.ts';
import { keptPort } from '../ports.ts';
import { commandLine } from '../process-identity.ts';
import { type Account, giveTo } from './account.ts';
import { type ClusterFiles, lastWords, writeSettings } from './cluster.ts';
import type { PostgresPrograms } from './programs.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

const START_WAIT_SECONDS = 30;
const STOP_WAIT_SECONDS = 20;
/** How long the orphaned sessions of a killed server may take to notice and go. */
const ORPHANS_MS = 15_000;
const RETRY_MS = 200;
/** Larger than any process id of any system, so surely nobody's. */
const NOBODY_S_PROCESS = 2_147_483_646;

export interface Server {
  readonly files: ClusterFiles;
  readonly programs: PostgresPrograms;
  readonly account: Account;
}

/**
 * Starts the server and returns its port, once it takes connections. Recovers by itself from what a kill leaves behind:
 * a process id in a file, sessions that have not noticed yet, a port that was taken meanwhile.
 * @throws CodedError `program_failed` with the end of the server's log
 */
export async function launch(server: Server, configuredPort?: number): Promise<number> {
  const { files } = server;
  rotateLog(files.log);
  disownPidFile(files, server.account);
  const deadline = Date.now() + ORPHANS_MS;
  for (;;) {
    const port = await keptPort(files.port, configuredPort);
    writeSettings(files, { port, major: server.programs.major }, server.account);
    const before = logLength(files);
    const { code, output } = await control(server, ['-l', files.log, '-w', '-t', String(START_WAIT_SECONDS), 'start']);
    if (code === 0) return port;
    const said = logFrom(files.log, before) || output;
    if (Date.now() > deadline || !passesByItself(said)) {
      throw new CodedError('program_failed', `PostgreSQL did not start in ${files.data}: ${lastWords(said)}`);
    }
    await sleep(RETRY_MS);
  }
}

/** Ends the server: open transactions are rolled back and files are left as after an orderly stop. */
export async function shutDown(server: Server): Promise<void> {
  const { code, output } = await control(server, ['-m', 'fast', '-w', '-t', String(STOP_WAIT_SECONDS), 'stop']);
  if (code === 0 || /no server running|does not exist/i.test(output)) return;
  const last = await control(server, ['-m', 'immediate', '-w', '-t', String(STOP_WAIT_SECONDS), 'stop']);
  if (last.code === 0 || /no server running|does not exist/i.test(last.output)) return;
  throw new CodedError(
    'program_failed',
    `PostgreSQL in ${server.files.data} could not be stopped: ${lastWords(last.output)}`,
  );
}

function control(server: Server, parameters: readonly string[]): Promise<ProgramResult> {
  return runProgram(join(server.programs.folder, 'pg_ctl'), ['-D', server.files.data, ...parameters], server.account);
}

function passesByItself(said: string): boolean {
  return /shared memory block .* still in use|lock file "postmaster.pid" already exists|could not bind|Address already in use/i.test(
    said,
  );
}

/**
 * Postgres refuses to start while the process id in its own pid file lives, and after a kill that id may live on as a
 * zombie or, in a container, as any other program. Only the number is replaced: the rest of the file lets Postgres see
 * whether sessions of the old server still use its memory, which is what protects the data.
 */
function disownPidFile(files: ClusterFiles, account: Account): void {
  const path = join(files.data, 'postmaster.pid');
  const content = readIfThere(path);
  if (content === null) return;
  const [first, ...rest] = content.split('\n');
  if (/postgres/.test(commandLine(Number(first)))) return;
  writeFileSync(path, [String(NOBODY_S_PROCESS), ...rest].join('\n'));
  giveTo(path, account);
}

function logLength(files: ClusterFiles): number {
  return readIfThere(files.log)?.length ?? 0;
}

function logFrom(path: string, start: number): string {
  try {
    return readFileSync(path, 'utf8').slice(start);
  } catch {
    return ''; // The program could not even open its log; what it printed is used instead.
  }
}
