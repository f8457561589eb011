import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { findPrograms } from '../../cli/setup.mjs';
import { IMPATIENT_SCHEDULE } from '../../cli/tour/gateways.ts';
import { createShop, type Shop } from '../../cli/tour/shop.ts';
import { freePort } from '../../embedded/ports.ts';
import { startPostgres } from '../../embedded/postgres.ts';
import { nodeProgram, type RunningProcess, startProcess } from '../../embedded/processes.ts';
import { entryFile } from '../../embedded/project-layout.ts';
import { startTemporalDevServer } from '../../embedded/temporal.ts';
import { createLog } from '../../process/log.ts';
import { ensureApiKey } from '../../store/api-keys.ts';
import { createDatabase, type Database } from '../../store/database.ts';
import { findMigrationsFolder, migrate } from '../../store/migrations.ts';
import { workflowBundle } from '../../worker/bundle.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.ts';
import { type SimulatorProcess, startSimulatorProcess } from '../support/simulator-process.ts';

/** The product as it runs in production: an API, two workers, Postgres, Temporal and a gateway, each a process of its own. */
export interface FaultStack {
  readonly shop: Shop;
  readonly simulator: SimulatorProcess;
  readonly database: Database;
  readonly plans: string;
  temporal(): Promise<Client>;
  killWorker(): Promise<void>;
  killApi(): Promise<void>;
  restartDatabase(): Promise<void>;
  restartTemporal(): Promise<void>;
  restarts(): number;
  stop(): Promise<void>;
}

const log = createLog('silent', 'faults');
const CACHE = join(import.meta.dirname, '..', '..', '.paidonce', 'cache');
const KEY = `paidonce_operate_${'f'.repeat(43)}`;
const CAPABILITIES = { call_timeout_seconds: 4, absent_conclusive_after_seconds: 3 };

export async function startFaultStack(): Promise<FaultStack> {
  const folder = mkdtempSync(join(tmpdir(), 'paidonce-faults-'));
  const plans = join(folder, 'plans');
  mkdirSync(plans);
  const startDatabase = () => startPostgres({ dataFolder: join(folder, 'postgres'), log, environment: {} });
  const { temporal: program } = findPrograms();
  if (program === null) throw new Error('The Temporal CLI is missing');
  const dataFolder = join(folder, 'temporal');
  const startServer = () => startTemporalDevServer({ program, dataFolder, log, searchAttributes: SEARCH_ATTRIBUTES });
  let [postgres, server, simulator] = await Promise.all([
    startDatabase(),
    startServer(),
    startSimulatorProcess(join(folder, 'ledger.jsonl')),
    workflowBundle(CACHE),
  ]);
  await simulator.control.putAccount('asks', { idempotency_key: { mode: 'ignored' }, unique_reference: 'ignored' });
  await migrate(postgres.url, findMigrationsFolder());
  const database = createDatabase({ url: postgres.url, poolSize: 4, applicationName: 'paidonce-faults' });
  await ensureApiKey(database, { key: KEY, name: 'faults' });
  const port = await freePort();
  const environment = variablesFor({
    databaseUrl: postgres.url,
    temporal: server.address,
    simulator: simulator.address,
    port,
    plans,
  });
  const parts = createKeeper(folder, environment);
  await Promise.all([
    parts.keep('api', 'cli/api'),
    parts.keep('worker-1', 'worker/main'),
    parts.keep('worker-2', 'worker/main'),
  ]);
  let connection: Connection | undefined;
  return {
    shop: createShop(`http://127.0.0.1:${port}`, KEY),
    simulator,
    database,
    plans,
    async temporal() {
      connection ??= await Connection.connect({ address: server.address });
      return new Client({ connection, namespace: server.namespace });
    },
    killWorker: () => parts.kill('worker-1'),
    killApi: () => parts.kill('api'),
    async restartDatabase() {
      process.kill(postgres.processId, 'SIGKILL');
      postgres = await startDatabase();
    },
    async restartTemporal() {
      await server.process.kill();
      server = await startServer();
    },
    restarts: parts.restarts,
    async stop() {
      await parts.stop();
      await connection?.close();
      await database.close();
      await Promise.all([simulator.stop(), server.stop()]);
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Places {
  readonly databaseUrl: string;
  readonly temporal: string;
  readonly simulator: string;
  readonly port: number;
  readonly plans: string;
}

function variablesFor({ databaseUrl, temporal, simulator, port, plans }: Places): NodeJS.ProcessEnv {
  const account = (name: string, by: string) => ({
    name,
    kind: 'simulator',
    settings: { url: simulator, capabilities: { repeat: { by }, ...CAPABILITIES } },
  });
  return {
    ...process.env,
    NODE_ENV: 'test',
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporal,
    TEMPORAL_NAMESPACE: 'default',
    API_HOST: '127.0.0.1',
    API_PORT: String(port),
    PAYMENT_TOKEN_SECRET: 'for-the-faults-only-and-for-nobody-else',
    GATEWAYS: JSON.stringify([account('simulator', 'key'), account('asks', 'nothing')]),
    INQUIRY_SCHEDULE_SECONDS: IMPATIENT_SCHEDULE,
    HANDOVER_AFTER_MS: '1000',
    CACHE_FOLDER: CACHE,
    LOG_LEVEL: 'error',
    TEST_FAULTS_FOLDER: plans,
  };
}

interface Keeper {
  /** Starts the program, and starts it again whenever it has died. */
  keep(name: string, entry: string): Promise<void>;
  kill(name: string): Promise<void>;
  restarts(): number;
  stop(): Promise<void>;
}

function createKeeper(folder: string, environment: NodeJS.ProcessEnv): Keeper {
  const parts = new Map<string, RunningProcess>();
  let stopping = false;
  let restarts = 0;
  const keep = async (name: string, entry: string): Promise<void> => {
    const started = await startProcess({
      name,
      ...nodeProgram(entryFile(entry)),
      environment,
      folder,
      stopSignal: 'SIGTERM',
      stopWithinMs: 5_000,
    });
    parts.set(name, started);
    void started.ended.then(() => {
      if (stopping) return;
      restarts += 1;
      void keep(name, entry);
    });
    await started.firstLine;
  };
  return {
    keep,
    kill: async (name) => parts.get(name)?.kill(),
    restarts: () => restarts,
    async stop() {
      stopping = true;
      await Promise.all([...parts.values()].map((part) => part.stop()));
    },
  };
}
