import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../process/log.ts';
import { type Account, canEnter, makeOwnFolder, reachableFolder, serverAccount } from './postgres/account.ts';
import { clusterFiles, prepareCluster } from './postgres/cluster.ts';
import { launch, type Server, shutDown } from './postgres/launch.ts';
import { databaseUrl, ensureDatabase, lastServer, probe } from './postgres/probe.ts';
import { ownProgramsFolder, readyPrograms } from './postgres/programs.ts';

export { resolveDatabase } from './postgres/programs.ts';

/** How long a server that was found starting, recovering or stopping may take to become one or the other. */
const TRANSITION_MS = 60_000;
const RETRY_MS = 100;

export interface PostgresOptions {
  /** Everything of this server is kept here: data, password, port, log. Made when it is not there. */
  readonly dataFolder: string;
  readonly log: Logger;
  /** The port to listen on; left out, the same one as last time or a free one. */
  readonly port?: number;
  /** PG_BIN is read from it. */
  readonly environment: NodeJS.ProcessEnv;
}

export interface RunningPostgres {
  /** With the password: never log it. */
  readonly url: string;
  /** Whether a server that was left running was taken over instead of starting one. */
  readonly adopted: boolean;
  readonly serverVersion: string;
  readonly processId: number;
  /** Ends the server. Safe to call again. */
  stop(): Promise<void>;
}

/**
 * Starts the embedded PostgreSQL, or takes over the one that a killed process left running on the same folder, and sees
 * that the database `paidonce` is there. Works as root too: the server then runs as the user nobody.
 *
 * The server is a daemon of its own that outlives this process on purpose: a kill of the application must not be a kill
 * of the database. Call `stop` to end it.
 * @throws CodedError `program_missing`, `program_failed`
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const account = serverAccount(options.dataFolder);
  const files = clusterFiles(homeFor(options.dataFolder, account));
  const programs = readyPrograms(ownProgramsFolder(options.environment), account);
  await prepareCluster(files, programs, account);
  const server: Server = { files, programs, account };
  const found = await adopt(server, options.port);
  const port = found ?? (await launch(server, options.port));
  const finding = await settled(server, port);
  if (finding.kind !== 'ours') throw new Error(`PostgreSQL started on port ${port} and then did not answer.`);
  await ensureDatabase(files, port);
  const processId = lastServer(files)?.processId ?? 0;
  let stopping: Promise<void> | undefined;
  options.log.info({ port, processId, version: finding.serverVersion, adopted: found !== null }, 'PostgreSQL is up');
  return {
    url: databaseUrl(files, port),
    adopted: found !== null,
    serverVersion: finding.serverVersion,
    processId,
    stop: () => {
      stopping ??= shutDown(server);
      return stopping;
    },
  };
}

/** The folder of the server's files: the wanted one, or one that the server's account can reach where it cannot reach that. */
function homeFor(dataFolder: string, account: Account): string {
  makeOwnFolder(dataFolder, account);
  const wanted = realpathSync(dataFolder);
  if (canEnter(wanted, account)) return wanted;
  const home = join(reachableFolder('data', wanted), 'postgres');
  makeOwnFolder(home, account);
  writeFileSync(
    join(wanted, 'moved.txt'),
    `PostgreSQL may not run as root, and no other user may enter this folder; its data is in ${home}.\n`,
  );
  return home;
}

/** The port of a server that was left running on these files, or null when none is. */
async function adopt(server: Server, configuredPort: number | undefined): Promise<number | null> {
  const last = lastServer(server.files);
  if (last === null) return null;
  if ((await settled(server, last.port)).kind !== 'ours') return null;
  if (configuredPort === undefined || configuredPort === 0 || configuredPort === last.port) return last.port;
  await shutDown(server);
  return null;
}

async function settled(server: Server, port: number) {
  const deadline = Date.now() + TRANSITION_MS;
  for (;;) {
    const finding = await probe(server.files, port);
    if (finding.kind !== 'not_yet' || Date.now() > deadline) return finding;
    await sleep(RETRY_MS);
  }
}
