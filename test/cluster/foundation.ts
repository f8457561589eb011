import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findPrograms } from '../../cli/setup.mjs';
import { type RunningPostgres, startPostgres } from '../../embedded/postgres.ts';
import { isAlive } from '../../embedded/process-identity.ts';
import { createLog } from '../../process/log.ts';
import { createDatabase } from '../../store/database.ts';
import { type ClusterTemporal, startClusterTemporal } from './temporal-server.ts';

const run = promisify(execFile);

export const NAMESPACE = 'paidonce';

/** Temporal's four services open up to thirty connections each, the API and two workers up to twenty each. */
const CONNECTIONS_MAX = 250;

/** What the processes of paidonce stand on and did not start: a Postgres with room for all, and a Temporal server on it. */
export interface Foundation {
  /** Of the orders' database, with the password. */
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  postgres(): RunningPostgres;
  temporal(): ClusterTemporal;
  killTemporal(): Promise<void>;
  startTemporal(): Promise<void>;
  stopPostgres(): Promise<void>;
  startPostgres(): Promise<void>;
  /** SIGKILL to both. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export async function layFoundation(tool: string, dataFolder: string): Promise<Foundation> {
  const log = createLog('warn', 'cluster-test');
  const openPostgres = (): Promise<RunningPostgres> =>
    startPostgres({ dataFolder: join(dataFolder, 'postgres'), log, environment: process.env });
  const openTemporal = (): Promise<ClusterTemporal> =>
    startClusterTemporal(tool, join(dataFolder, 'temporal'), postgres.url);

  let postgres = await openPostgres();
  await allowConnections(postgres.url);
  await postgres.stop();
  postgres = await openPostgres();
  const databaseUrl = postgres.url;
  let temporal: ClusterTemporal;
  try {
    temporal = await openTemporal();
  } catch (error) {
    await postgres.stop();
    throw error;
  }
  return {
    databaseUrl,
    temporalAddress: temporal.address,
    postgres: () => postgres,
    temporal: () => temporal,
    killTemporal: () => temporal.kill(),
    startTemporal: async () => {
      temporal = await openTemporal();
    },
    stopPostgres: () => postgres.stop(),
    startPostgres: async () => {
      postgres = await openPostgres();
    },
    kill: async () => {
      await temporal.kill();
      if (isAlive(postgres.processId)) process.kill(postgres.processId, 'SIGKILL');
    },
    stop: async () => {
      await temporal.stop();
      await postgres.stop();
    },
  };
}

/** The same script that docker-compose.yml runs. @returns what it said */
export async function createNamespace(temporalAddress: string): Promise<string> {
  const { temporal, missing } = findPrograms();
  if (temporal === null) throw new Error(missing.join(' '));
  const script = fileURLToPath(new URL('../../deploy/create-namespace.sh', import.meta.url));
  const environment = {
    ...process.env,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: NAMESPACE,
    TEMPORAL_CLI_PATH: temporal,
  };
  return (await run('sh', [script], { env: environment })).stdout.trim();
}

async function allowConnections(url: string): Promise<void> {
  const database = createDatabase({ url, poolSize: 1, applicationName: 'cluster-test' });
  try {
    await database.query(`alter system set max_connections = ${CONNECTIONS_MAX}`);
  } finally {
    await database.close();
  }
}
