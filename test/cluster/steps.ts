import type { Shop, ShopOrder } from '../../cli/tour/shop.ts';
import type { StepResult, TourContext, TourStep } from '../../cli/tour/steps.ts';
import { startMark } from '../../embedded/process-identity.ts';
import { runStorm } from '../support/storm.ts';
import { type Cluster, type PartName, WORKERS } from './cluster.ts';

const SETTLED_WITHIN_MS = 60_000;
const AVAILABLE_WITHIN_MS = 60_000;
const POLL_MS = 200;

/** What only separate processes can show: each part away, ended or replaced while the others go on. */
export function clusterSteps(cluster: Cluster): readonly TourStep[] {
  return [
    oneWorkerKilled(cluster),
    workersDrain(cluster),
    apiDrains(cluster),
    partAway(cluster, {
      name: 'Temporal killed with SIGKILL under the API and the workers, and started again',
      code: 'temporal_unavailable',
      away: () => cluster.foundation.killTemporal(),
      back: () => cluster.foundation.startTemporal(),
    }),
    partAway(cluster, {
      name: 'Postgres stopped under everything, and started again',
      code: 'database_unavailable',
      away: () => cluster.foundation.stopPostgres(),
      back: () => cluster.foundation.startPostgres(),
    }),
    rollingRestart(cluster),
  ];
}

function oneWorkerKilled(cluster: Cluster): TourStep {
  return {
    name: 'one of two workers killed with SIGKILL, the other takes over its orders',
    async run(context) {
      const orders = await Promise.all(Array.from({ length: 6 }, () => context.shop.createOrder()));
      await Promise.all(orders.map((order) => chargeSlowly(context, order, 5)));
      const began = Date.now();
      await cluster.kill('worker-1');
      try {
        for (const order of orders) await expectPaid(context.shop, order);
      } finally {
        await cluster.start('worker-1');
      }
      const detail = `${orders.length} orders in flight, all paid ${seconds(began)} after the kill`;
      return { orderIds: orders.map(({ id }) => id), chargesExpected: orders.length, detail };
    },
  };
}

function workersDrain(cluster: Cluster): TourStep {
  return {
    name: 'both workers asked to end (SIGTERM) in the middle of a charge',
    async run(context) {
      const order = await context.shop.createOrder();
      await chargeSlowly(context, order, 4);
      const began = Date.now();
      const endings = [cluster.part('worker-1').process.ended, cluster.part('worker-2').process.ended];
      await cluster.stop('worker-1', 'worker-2');
      const ended = seconds(began);
      // No worker runs now, so it was the ending worker that waited for the answer and wrote it down.
      const { status } = await context.shop.read(order.id);
      await cluster.start('worker-1', 'worker-2');
      for (const { code, signal } of await Promise.all(endings)) {
        if (code !== 0) throw new Error(`a worker ended with ${signal ?? `exit code ${code}`}`);
      }
      if (status !== 'paid') throw new Error(`the order is ${status} after its worker has drained`);
      const detail = `they waited for the answer, wrote it down and ended after ${ended}`;
      return { orderIds: [order.id], chargesExpected: 1, detail };
    },
  };
}

function apiDrains(cluster: Cluster): TourStep {
  return {
    name: 'the API asked to end (SIGTERM) while a customer waits',
    async run({ shop, ledger }) {
      const order = await shop.createOrder();
      await ledger.fault(order.id, { kind: 'slow', seconds: 2 });
      const click = shop.pay(order);
      await ledger.waitForCharge(order.id);
      const began = Date.now();
      await cluster.stop('api');
      const ended = seconds(began);
      await cluster.start('api');
      const { status, body } = await click;
      if (status >= 300) throw new Error(`the customer was told ${status} ${body.status}`);
      await expectPaid(shop, order);
      const detail = `the customer was told ${status} at once, the API ended after ${ended}, the order went on`;
      return { orderIds: [order.id], chargesExpected: 1, detail };
    },
  };
}

interface Absence {
  readonly name: string;
  /** What a pay is answered meanwhile. */
  readonly code: string;
  away(): Promise<void>;
  back(): Promise<void>;
}

function partAway(cluster: Cluster, { name, code, away, back }: Absence): TourStep {
  return {
    name,
    async run(context) {
      const { shop } = context;
      const [inFlight, meanwhile] = [await shop.createOrder(), await shop.createOrder()];
      await chargeSlowly(context, inFlight, 5);
      await away();
      const refused = await payCode(shop, meanwhile).catch((error: Error) => error.message);
      const began = Date.now();
      await back();
      if (refused !== code) throw new Error(`a pay meanwhile was answered ${refused}, not ${code}`);
      await expectPaid(shop, inFlight);
      const inFlightPaid = seconds(began);
      await untilAvailable(shop, meanwhile);
      await expectPaid(shop, meanwhile);
      const lost = (['api', ...WORKERS] as const).filter((part) => startMark(idOf(cluster, part)) === null);
      if (lost.length > 0) throw new Error(`${lost.join(', ')} did not outlive it`);
      const detail = `a pay meanwhile: ${refused}; the order in flight paid ${inFlightPaid} after its return, no process restarted`;
      return { orderIds: [inFlight.id, meanwhile.id], chargesExpected: 2, detail };
    },
  };
}

function rollingRestart(cluster: Cluster): TourStep {
  return {
    name: 'a storm while one worker after the other is replaced',
    async run(): Promise<StepResult> {
      const replaceWorkers = async (): Promise<void> => {
        for (const worker of WORKERS) {
          await cluster.stop(worker);
          await cluster.start(worker);
        }
      };
      const plan = { ...cluster, orders: 60, paysPerOrder: 10, ordersAtOnce: 3 };
      const [{ orderIds, wrong, answers, answerMs }] = await Promise.all([runStorm(plan), replaceWorkers()]);
      if (wrong.length > 0) throw new Error(`wrong: ${JSON.stringify(wrong)}`);
      const detail = `answers ${JSON.stringify(answers)}, p99 ${Math.round(answerMs.p99)} ms`;
      return { orderIds, chargesExpected: orderIds.length, detail };
    },
  };
}

/** Leaves the order where the money has moved and its answer is on the way for a while yet. */
async function chargeSlowly({ shop, ledger }: TourContext, order: ShopOrder, answerAfter: number): Promise<void> {
  await ledger.fault(order.id, { kind: 'slow', seconds: answerAfter });
  await shop.pay(order, { waitSeconds: 0 });
  await ledger.waitForCharge(order.id);
}

async function expectPaid(shop: Shop, order: ShopOrder): Promise<void> {
  await shop.waitFor(order.id, ['paid'], SETTLED_WITHIN_MS);
}

/** The code of the problem that a pay is answered with, or the order's status. */
async function payCode(shop: Shop, order: ShopOrder): Promise<string> {
  const { status, body } = await shop.pay(order, { waitSeconds: 0 });
  return status < 400 ? body.status : (body as unknown as { readonly code: string }).code;
}

/** Clicks again as long as the answer is "try again", as a customer does. */
async function untilAvailable(shop: Shop, order: ShopOrder): Promise<void> {
  const deadline = Date.now() + AVAILABLE_WITHIN_MS;
  while ((await payCode(shop, order)).endsWith('_unavailable')) {
    if (Date.now() > deadline) throw new Error('pays are still refused a minute after the part came back');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function idOf(cluster: Cluster, name: PartName): number {
  return cluster.part(name).process.processId;
}

function seconds(since: number): string {
  return `${((Date.now() - since) / 1_000).toFixed(1)} s`;
}
