import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createTourLedger } from '../../cli/tour/ledger.ts';
import { runTour, type StepReport } from '../../cli/tour/run.ts';
import { createShop } from '../../cli/tour/shop.ts';
import { type Crash, TOUR_STEPS, type TourContext, type TourStep } from '../../cli/tour/steps.ts';
import { isAlive } from '../../embedded/process-identity.ts';
import { runStorm } from '../support/storm.ts';
import { type Cluster, startCluster, WORKERS } from './cluster.ts';
import { createNamespace } from './foundation.ts';
import { memoryOf } from './memory.ts';
import { clusterSteps } from './steps.ts';
import { clusterTool, demandFreePorts } from './temporal-server.ts';

/**
 * `npm run test:cluster`: the production shape without containers. A real Temporal server on Postgres, the API and two workers
 * as processes of their own from the build, started plainly; on it the tour, what only separate processes can show, and the
 * storm. Prints figures and ends with the line `N passed, N failed`. Not part of `npm test`: it needs fixed ports and, once,
 * seven minutes to build the server.
 */
const { values: options } = parseArgs({
  options: {
    /** The programs to run: by default what `npm run build` made. A checkout is run from source. */
    programs: { type: 'string', default: fileURLToPath(new URL('../../dist', import.meta.url)) },
    /** Only the steps whose name contains this. */
    only: { type: 'string', default: '' },
    orders: { type: 'string', default: '100' },
    pays: { type: 'string', default: '50' },
    'orders-at-once': { type: 'string', default: '20' },
    'keep-data': { type: 'boolean', default: false },
  },
});

await main();

async function main(): Promise<void> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'paidonce-cluster-'));
  chmodSync(dataFolder, 0o755); // As root, Postgres runs as another user who has to get in.
  let reports: readonly StepReport[] = [];
  try {
    const tool = clusterTool(process.env);
    await demandFreePorts();
    const began = Date.now();
    const cluster = await startCluster({ tool, dataFolder, programs: resolve(options.programs) });
    const ending = endWithMe(cluster);
    print(`The cluster is up after ${((Date.now() - began) / 1_000).toFixed(1)} s. ${machine()}`);
    print(`${await createNamespace(cluster.foundation.temporalAddress)} (the script, run again)`);
    try {
      reports = await walk(cluster);
      print(`Memory after it, in MiB: ${JSON.stringify(memoryOf(processIds(cluster)))}`);
    } finally {
      ending.release();
      await cluster.stopEverything();
    }
  } catch (error) {
    print(error instanceof Error ? error.message : String(error));
    reports = [...reports, { name: 'the cluster', passed: false, charges: 0, detail: '' }];
  } finally {
    if (!options['keep-data']) rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    else print(`The data stays in ${dataFolder}.`);
  }
  const passed = reports.filter((report) => report.passed).length;
  print(machine());
  print(`${passed} passed, ${reports.length - passed} failed`);
  process.exitCode = passed === reports.length && passed > 0 ? 0 : 1;
}

async function walk(cluster: Cluster): Promise<readonly StepReport[]> {
  const shop = createShop(cluster.api, cluster.apiKey);
  const context: TourContext = { shop, ledger: createTourLedger(cluster.simulator), crash: crashesOf(cluster) };
  const steps = [...TOUR_STEPS, ...clusterSteps(cluster), storm(cluster)];
  try {
    const chosen = steps.filter(({ name }) => name.includes(options.only));
    return (await runTour(chosen, context, (report) => print(lineFor(report)))).steps;
  } finally {
    await shop.close();
  }
}

/** A worker that dies takes its orders to the other one, so for nobody to be left who knows, both have to. */
function crashesOf(cluster: Cluster): Crash {
  return {
    async worker() {
      await cluster.kill(...WORKERS);
      await cluster.start(...WORKERS);
    },
    async everything() {
      await cluster.killEverything();
      await cluster.startEverything();
    },
  };
}

function storm(cluster: Cluster): TourStep {
  const orders = Number(options.orders);
  const paysPerOrder = Number(options.pays);
  const ordersAtOnce = Number(options['orders-at-once']);
  return {
    name: `the storm: ${orders} orders × ${paysPerOrder} simultaneous pays`,
    async run() {
      const report = await runStorm({ ...cluster, orders, paysPerOrder, ordersAtOnce });
      if (report.wrong.length > 0) throw new Error(`not charged exactly once: ${JSON.stringify(report.wrong)}`);
      const { p50, p95, p99 } = report.answerMs;
      const detail = [
        `${report.seconds.toFixed(1)} s`,
        `${report.purchasesPerSecond.toFixed(1)} purchases/s`,
        `${report.answersPerSecond.toFixed(0)} answers/s`,
        `answer p50 ${Math.round(p50)} ms, p95 ${Math.round(p95)} ms, p99 ${Math.round(p99)} ms`,
        `answers ${JSON.stringify(report.answers)}`,
      ].join('; ');
      return { orderIds: report.orderIds, chargesExpected: orders, detail };
    },
  };
}

function processIds(cluster: Cluster): Record<string, number> {
  return {
    api: cluster.part('api').process.processId,
    'worker-1': cluster.part('worker-1').process.processId,
    'worker-2': cluster.part('worker-2').process.processId,
    simulator: cluster.part('simulator').process.processId,
    temporal: cluster.foundation.temporal().processId,
    postgres: cluster.foundation.postgres().processId,
  };
}

/** Whatever ends this test, nothing that it started runs on. */
function endWithMe(cluster: Cluster): { release(): void } {
  const onExit = (): void => {
    for (const processId of Object.values(processIds(cluster)))
      if (isAlive(processId)) process.kill(processId, 'SIGKILL');
  };
  const onSignal = (): void => process.exit(130);
  process.once('exit', onExit);
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  return {
    release: () => {
      process.removeListener('exit', onExit);
      process.removeListener('SIGINT', onSignal);
      process.removeListener('SIGTERM', onSignal);
    },
  };
}

function lineFor({ name, passed, charges, detail }: StepReport): string {
  return `${passed ? 'ok    ' : 'FAILED'} ${name}: ${charges} charge${charges === 1 ? '' : 's'}. ${detail}`;
}

function machine(): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  const load = loadavg()
    .map((value) => value.toFixed(1))
    .join(' ');
  return `${cpus().length} cores, ${memory} GiB, Node ${process.versions.node}, load ${load}.`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
