import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gateway } from '../../domain/gateway.ts';
import { createSimulatorGateway } from '../../gateways/simulator/adapter.ts';
import { listAttempts } from '../../store/orders/payment-attempts.ts';
import type { RunningWorker } from '../../worker/run.ts';
import { createTestDatabase } from '../support/database.ts';
import { startDevServer } from '../support/dev-server.ts';
import { createLedgerFolder, type SimulatorProcess, startSimulatorProcess } from '../support/simulator-process.ts';
import { waitUntil } from '../support/stack.ts';
import { createWorkbench, type Purchase, type Workbench } from '../support/workbench.ts';

/** Two accounts at the simulator; the ledger of both is the judge. */
const { database } = await createTestDatabase();
const ledger = createLedgerFolder();
/** Where nobody listens. */
const NOWHERE = 'http://127.0.0.1:9';
let environment: TestWorkflowEnvironment;
let simulator: SimulatorProcess;
const workers: RunningWorker[] = [];

beforeAll(async () => {
  [environment, simulator] = await Promise.all([startDevServer(), startSimulatorProcess(ledger.path)]);
});

afterAll(async () => {
  for (const worker of workers) await worker.stop();
  await environment.teardown();
  await simulator.stop();
  ledger.remove();
});

function account(name: string, url: string): Gateway {
  const capabilities = { call_timeout_seconds: 2, absent_conclusive_after_seconds: 1, repeat: { by: 'nothing' } };
  return createSimulatorGateway({ name, settings: { url, capabilities } });
}

async function benchWith(first: string): Promise<Workbench> {
  const gateway = account('first', first);
  const fallbacks = [account('second', simulator.address)];
  const bench = createWorkbench({ environment, database, gateway, fallbacks });
  workers.push(await bench.startWorker());
  return bench;
}

async function chargesByAccount(purchase: Purchase): Promise<Record<string, number>> {
  const rows = await simulator.control.ledger({ prefix: purchase.reference().slice(0, 26) });
  return Object.fromEntries(
    rows.filter(({ charges }) => charges > 0).map(({ account: name, charges }) => [name, charges]),
  );
}

const gatewaysOf = async ({ orderId }: Purchase): Promise<string[]> =>
  (await listAttempts(database, orderId)).map(({ gateway }) => gateway);

const until = (purchase: Purchase, status: string): Promise<void> =>
  waitUntil(status, async () => (await purchase.row()).orderStatus === status);

describe('an order with a second gateway', () => {
  test('goes there when the first cannot be reached, with a new merchant reference, and is charged there alone', async () => {
    const purchase = await (await benchWith(NOWHERE)).buy({ paymentMethods: ['tok_ok'] });
    await until(purchase, 'paid');
    expect(await gatewaysOf(purchase)).toEqual(['first', 'second']);
    expect(await chargesByAccount(purchase)).toEqual({ second: 1 });
    expect((await simulator.control.ledger({ reference: purchase.reference(2) }))[0]?.charges).toBe(1);
  });

  test('asks the gateway that it went to when the answer is lost there', async () => {
    const bench = await benchWith(NOWHERE);
    const purchase = await bench.buy({ paymentMethods: ['tok_lost_answer'], scheduleSeconds: [0.5, 2, 4] });
    await until(purchase, 'paid');
    expect(await purchase.row()).toMatchObject({ provenBy: 'inquiry', gateway: 'second' });
    expect(await chargesByAccount(purchase)).toEqual({ second: 1 });
  });

  test('stays where its answer was lost, however long that takes', async () => {
    const bench = await benchWith(simulator.address);
    const purchase = await bench.buy({ paymentMethods: ['tok_lost_answer'], scheduleSeconds: [0.5, 2, 4] });
    await until(purchase, 'paid');
    expect(await gatewaysOf(purchase)).toEqual(['first']);
    expect(await chargesByAccount(purchase)).toEqual({ first: 1 });
  });

  test('stays there after a decline, and after a request that was proven never to have arrived', async () => {
    const bench = await benchWith(simulator.address);
    for (const paymentMethod of ['tok_declined', 'tok_never_arrives']) {
      const options = { paymentMethods: [paymentMethod, 'tok_ok'], scheduleSeconds: [0.5, 4, 6, 10] };
      const purchase = await bench.buy(options);
      await until(purchase, 'failed');
      await purchase.payAgain(2);
      await until(purchase, 'paid');
      expect(await gatewaysOf(purchase)).toEqual(['first', 'first']);
      expect(await chargesByAccount(purchase)).toEqual({ first: 1 });
    }
  });
});
