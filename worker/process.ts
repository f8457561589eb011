import { Client } from '@temporalio/client';
import { makeTelemetryFilterString, NativeConnection, Runtime } from '@temporalio/worker';
import { createGateways, type GatewayRegistry } from '../gateways/registry.ts';
import { purchaseSettings, type WorkerConfig } from '../process/config.ts';
import type { Logger } from '../process/log.ts';
import { waitForPart } from '../process/parts.ts';
import { readTemporalTarget } from '../process/temporal.ts';
import { createDatabase, type Database } from '../store/database.ts';
import { workflowBundle } from './bundle.ts';
import { openDeliveries } from './open-deliveries.ts';
import { startWorker } from './run.ts';
import { ensureSchedules } from './schedules.ts';

/** What a process that carries out orders consists of; the API of an all-in-one process uses the same parts. */
export interface WorkerProcess {
  readonly database: Database;
  readonly gateways: GatewayRegistry;
  readonly client: Client;
  /** Resolves when the worker has stopped; rejects when it could not go on. */
  readonly stopped: Promise<void>;
  stop(): Promise<void>;
}

/** Opens everything a worker needs, waits for Temporal if it is not there yet, and starts to work. */
export async function startWorkerProcess(config: WorkerConfig, log: Logger): Promise<WorkerProcess> {
  const gateways = createGateways(config.GATEWAYS, { allowAtMostOnceSent: config.ALLOW_AT_MOST_ONCE_SENT });
  for (const warning of gateways.warnings) log.warn(warning);
  installRuntime(log);
  const target = readTemporalTarget();
  const database = createDatabase({
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: 'paidonce-worker',
    log,
  });
  // Before Temporal: news goes out while that is away, and a secret that does not fit stops the start.
  const deliveries = await openDeliveries(config, database, log);
  const bundle = await workflowBundle(config.CACHE_FOLDER);
  const connection = await waitForPart('Temporal', () => NativeConnection.connect(target.connection), log);
  const { namespace } = target;
  const client = new Client({ connection, namespace });
  const worker = await waitForPart(
    'The Temporal namespace',
    () =>
      startWorker({
        connection,
        namespace,
        client,
        database,
        gateways,
        log,
        bundle,
        settings: purchaseSettings(config),
        breaker: config.GATEWAY_BREAKER,
        actionSeconds: config.ACTION_TIMEOUT_SECONDS,
      }),
    log,
  );
  await waitForPart('The Temporal schedules', () => ensureSchedules(client), log);
  return {
    database,
    gateways,
    client,
    stopped: worker.stopped,
    async stop() {
      await Promise.all([worker.stop(), deliveries.stop()]);
      await connection.close();
      await database.close();
    },
  };
}

/** Temporal's native part logs into ours. Its own signal handlers are off: the process decides in which order it stops. */
function installRuntime(log: Logger): void {
  Runtime.install({
    shutdownSignals: [],
    logger: {
      log: (level, message, meta) =>
        level === 'ERROR' || level === 'WARN' ? log.warn({ ...meta }, message) : undefined,
      trace: () => undefined,
      debug: () => undefined,
      info: () => undefined,
      warn: (message, meta) => log.warn({ ...meta }, message),
      error: (message, meta) => log.error({ ...meta }, message),
    },
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) },
    },
  });
}
