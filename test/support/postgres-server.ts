import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readIfThere } from '../../embedded/files.ts';
import { startPostgres } from '../../embedded/postgres.ts';
import { commandLine, isAlive } from '../../embedded/process-identity.ts';
import { createLog } from '../../process/log.ts';
import { createDatabase } from '../../store/database.ts';

const FOLDER_PREFIX = 'paidonce-test-postgres-';
const LEFTOVER_STOP_MS = 10_000;

export interface TestServer {
  /** A superuser's URL. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/**
 * Starts a Postgres for one test run by the product's own launcher (PG_BIN chooses another version), with its data in the
 * temporary folder. It ends with this process, however that ends; should it be killed, the next run clears up.
 */
export async function startTestServer(): Promise<TestServer> {
  await removeLeftovers();
  const folder = join(tmpdir(), `${FOLDER_PREFIX}${process.pid}`);
  const log = createLog('warn', 'test-postgres');
  const server = await startPostgres({ dataFolder: folder, log, environment: process.env });
  const onExit = (): void => {
    end(server.processId);
    remove(folder);
  };
  process.once('exit', onExit);
  await hurry(server.url);
  return {
    url: server.url,
    stop: async () => {
      await server.stop();
      process.removeListener('exit', onExit);
      remove(folder);
    },
  };
}

/** Nothing here has to outlive a power cut, and waiting for the disk is most of a test's time. */
async function hurry(url: string): Promise<void> {
  const database = createDatabase({ url, poolSize: 1, applicationName: 'paidonce-test-setup' });
  try {
    await database.query('alter system set fsync = off');
    await database.query('select pg_reload_conf()');
  } finally {
    await database.close();
  }
}

/** Folders are named by the process that made them; one whose process is gone is nobody's. */
async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(FOLDER_PREFIX) || isAlive(Number(name.slice(FOLDER_PREFIX.length)))) continue;
    const folder = join(tmpdir(), name);
    const deadline = Date.now() + LEFTOVER_STOP_MS;
    for (
      let server = runningServer(folder);
      server !== undefined && Date.now() < deadline;
      server = runningServer(folder)
    ) {
      end(server);
      await pause(100);
    }
    remove(folder);
  }
}

/** The id in a file may by now be another program's, so the command line has to name our folder. */
function runningServer(folder: string): number | undefined {
  const processId = Number(readIfThere(join(folder, 'cluster', 'postmaster.pid'))?.split('\n')[0]);
  return Number.isInteger(processId) && commandLine(processId).includes(folder) ? processId : undefined;
}

/** At once and without a checkpoint: nobody will read these files again. */
function end(processId: number): void {
  try {
    process.kill(processId, 'SIGQUIT');
  } catch (error) {
    // It has ended by itself, or another test run that cleared up at the same time was faster.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}
