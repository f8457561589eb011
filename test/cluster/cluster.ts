import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { IMPATIENT_SCHEDULE, switchTourAccounts, tourGateways } from '../../cli/tour/gateways.ts';
import { freePort } from '../../embedded/ports.ts';
import { createApiKey } from '../../store/api-keys.ts';
import { createDatabase } from '../../store/database.ts';
import { migrate } from '../../store/migrations.ts';
import { createNamespace, type Foundation, layFoundation, NAMESPACE } from './foundation.ts';
import { type Part, startPart } from './part.ts';

export type PartName = 'simulator' | 'api' | 'worker-1' | 'worker-2';

export const WORKERS = ['worker-1', 'worker-2'] as const satisfies readonly PartName[];
const PARTS = ['simulator', 'api', ...WORKERS] as const satisfies readonly PartName[];

/** The production shape: any Postgres, any Temporal, one API process, two worker processes, and a gateway elsewhere. */
export interface Cluster {
  readonly api: string;
  readonly simulator: string;
  readonly apiKey: string;
  readonly foundation: Foundation;
  part(name: PartName): Part;
  /** Starts them again, at the same addresses, and waits until they are ready. */
  start(...names: readonly PartName[]): Promise<void>;
  /** SIGKILL. */
  kill(...names: readonly PartName[]): Promise<void>;
  /** SIGTERM, and waits for the end. */
  stop(...names: readonly PartName[]): Promise<void>;
  killEverything(): Promise<void>;
  /** Starts all parts and what they stand on at the same moment, as a machine does after a power cut. */
  startEverything(): Promise<void>;
  stopEverything(): Promise<void>;
}

export interface ClusterOptions {
  readonly tool: string;
  readonly dataFolder: string;
  /** See PartPlan. */
  readonly programs: string;
}

export async function startCluster({ tool, dataFolder, programs }: ClusterOptions): Promise<Cluster> {
  const foundation = await layFoundation(tool, dataFolder);
  try {
    await createNamespace(foundation.temporalAddress);
    await migrate(foundation.databaseUrl);
    const environments = await environmentsOf(foundation, dataFolder);
    const apiKey = await makeApiKey(foundation.databaseUrl);
    const cluster = assemble({ foundation, environments, apiKey, dataFolder, programs });
    try {
      await cluster.start(...PARTS);
    } catch (error) {
      await cluster.kill(...PARTS);
      throw error;
    }
    return cluster;
  } catch (error) {
    await foundation.stop();
    throw error;
  }
}

interface Assembly {
  readonly foundation: Foundation;
  readonly environments: Environments;
  readonly apiKey: string;
  readonly dataFolder: string;
  readonly programs: string;
}

function assemble({ foundation, environments, apiKey, dataFolder, programs }: Assembly): Cluster {
  const running = new Map<PartName, Part>();
  const part = (name: PartName): Part => {
    const found = running.get(name);
    if (found === undefined) throw new Error(`${name} was never started`);
    return found;
  };
  const spawn = async (name: PartName): Promise<Part> => {
    const { entry, environment } = environments.parts[name];
    const started = await startPart({ name, entry, environment, programs, folder: join(dataFolder, name) });
    running.set(name, started);
    return started;
  };
  const start = async (names: readonly PartName[]): Promise<void> => {
    const started = await Promise.all(names.map(spawn));
    await Promise.all(started.map(({ ready }) => ready));
    if (names.includes('simulator')) await switchTourAccounts(environments.simulator);
  };
  const each = async (names: readonly PartName[], way: 'kill' | 'stop'): Promise<void> => {
    await Promise.all(names.map(async (name) => running.get(name)?.process[way]()));
  };
  return {
    api: environments.api,
    simulator: environments.simulator,
    apiKey,
    foundation,
    part,
    start: (...names) => start(names),
    kill: (...names) => each(names, 'kill'),
    stop: (...names) => each(names, 'stop'),
    killEverything: async () => {
      await Promise.all([each(PARTS, 'kill'), foundation.kill()]);
    },
    startEverything: async () => {
      const beneath = foundation.startPostgres().then(() => foundation.startTemporal());
      await Promise.all([beneath, start(PARTS)]);
    },
    stopEverything: async () => {
      await each(['api', ...WORKERS], 'stop');
      await each(['simulator'], 'stop');
      await foundation.stop();
    },
  };
}

interface Environments {
  readonly api: string;
  readonly simulator: string;
  readonly parts: Readonly<
    Record<PartName, { readonly entry: string; readonly environment: Readonly<Record<string, string>> }>
  >;
}

/** What docker-compose.yml sets, for one machine and for a tour that somebody waits for. */
async function environmentsOf(foundation: Foundation, dataFolder: string): Promise<Environments> {
  const apiPort = await freePort();
  const simulatorPort = await freePort();
  const simulator = `http://127.0.0.1:${simulatorPort}`;
  const common = {
    DATABASE_URL: foundation.databaseUrl,
    TEMPORAL_ADDRESS: foundation.temporalAddress,
    TEMPORAL_NAMESPACE: NAMESPACE,
    PAYMENT_TOKEN_SECRET: randomBytes(32).toString('base64url'),
    GATEWAYS: JSON.stringify(tourGateways(simulator)),
    INQUIRY_SCHEDULE_SECONDS: IMPATIENT_SCHEDULE,
    CACHE_FOLDER: join(dataFolder, 'cache'),
  };
  const worker = { entry: 'worker/main', environment: { ...common, WORKER_HEALTH_PORT: '0' } };
  return {
    api: `http://127.0.0.1:${apiPort}`,
    simulator,
    parts: {
      simulator: {
        entry: 'gateways/simulator/server/main',
        environment: {
          SIMULATOR_PORT: String(simulatorPort),
          SIMULATOR_LEDGER: join(dataFolder, 'simulator', 'ledger.jsonl'),
        },
      },
      api: { entry: 'cli/api', environment: { ...common, API_PORT: String(apiPort) } },
      'worker-1': worker,
      'worker-2': worker,
    },
  };
}

async function makeApiKey(databaseUrl: string): Promise<string> {
  const database = createDatabase({ url: databaseUrl, poolSize: 1, applicationName: 'cluster-test' });
  try {
    return (await createApiKey(database, { role: 'operate', name: 'cluster test' })).key;
  } finally {
    await database.close();
  }
}
