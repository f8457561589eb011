import { readWorkerConfig, type WorkerConfig } from '../process/config.ts';
import { observeDeliveries } from '../process/delivery-gauges.ts';
import type { Logger } from '../process/log.ts';
import { stopOnSignal } from '../process/parts.ts';
import { runProgram } from '../process/program.ts';
import { countDeliveries } from '../store/deliveries/deliveries.ts';
import { serveWorkerHealth } from './health.ts';
import { waitForMigratedDatabase } from './migrated-database.ts';
import { startWorkerProcess, type WorkerProcess } from './process.ts';

/** A worker as a process of its own; any number of them share the orders. Prints one JSON line when it takes work. */
await runProgram({ name: 'paidonce-worker', read: readWorkerConfig, main: work });

async function work(config: WorkerConfig, log: Logger): Promise<void> {
  const { WORKER_HEALTH_HOST: host, WORKER_HEALTH_PORT: port } = config;
  const health = port === undefined ? undefined : await serveWorkerHealth({ host, port });
  let worker: WorkerProcess | undefined;
  stopOnSignal(async () => {
    // Until it takes work there is nothing to end in good order, and whatever it waits for may stay away.
    if (worker === undefined) process.exit(0);
    health?.enter('stopping');
    await worker.stop();
    await health?.close();
  }, log);
  await waitForMigratedDatabase(config.DATABASE_URL, log);
  worker = await startWorkerProcess(config, log);
  const { database } = worker;
  if (health !== undefined) observeDeliveries(health.metrics, () => countDeliveries(database));
  health?.enter('working');
  process.stdout.write(`${JSON.stringify({ ready: true, pid: process.pid, health: health?.address ?? null })}\n`);
  await worker.stopped;
}
