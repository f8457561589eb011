import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSimulatorGateway } from '../../gateways/simulator/adapter.ts';
import type { RunningWorker } from '../../worker/run.ts';
import { createTestDatabase } from '../support/database.ts';
import { startDevServer } from '../support/dev-server.ts';
import { createLedgerFolder, type SimulatorProcess, startSimulatorProcess } from '../support/simulator-process.ts';
import { waitUntil } from '../support/stack.ts';
import { createWorkbench, type Purchase, type Workbench } from '../support/workbench.ts';

/**
 * A gateway that forgets its keys, as all do, only after seconds and not after a day: from then on the same key is a new
 * charge. Real steps, real time, and the gateway's ledger as the judge.
 */
const { database } = await createTestDatabase();
const ledger = createLedgerFolder();
const FORGOTTEN_AFTER_SECONDS = 6;
const CALL_TIMEOUT_SECONDS = 1;
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

async function benchFor(name: string, inquireBy: readonly string[]): Promise<Workbench> {
  const mode = { mode: 'forgotten', after_seconds: FORGOTTEN_AFTER_SECONDS } as const;
  await simulator.control.putAccount(name, { idempotency_key: mode });
  const capabilities = {
    repeat: { by: 'key', window_seconds: FORGOTTEN_AFTER_SECONDS },
    inquire_by: inquireBy,
    call_timeout_seconds: CALL_TIMEOUT_SECONDS,
    absent_conclusive_after_seconds: 1,
  };
  const gateway = createSimulatorGateway({ name, settings: { url: simulator.address, capabilities } });
  const bench = createWorkbench({ environment, database, gateway });
  workers.push(await bench.startWorker());
  return bench;
}

async function requestsAndCharges(purchase: Purchase): Promise<readonly [requests: number, charges: number]> {
  const [row] = await simulator.control.ledger({ prefix: purchase.reference() });
  return [row?.requests ?? 0, row?.charges ?? 0];
}

describe('C17: a key that the gateway forgets', () => {
  test('is used again while it is honoured, where only a repeat can tell', async () => {
    const bench = await benchFor('no-questions', []);
    const purchase = await bench.buy({ paymentMethods: ['tok_lost_answer'], scheduleSeconds: [2, 60] });
    await waitUntil('paid', async () => (await purchase.row()).orderStatus === 'paid');
    expect(await requestsAndCharges(purchase)).toEqual([2, 1]);
  });

  test('is never used again after that: a person has to look, and nobody is charged twice', async () => {
    const bench = await benchFor('no-questions-late', []);
    const purchase = await bench.buy({ paymentMethods: ['tok_lost_answer'], scheduleSeconds: [7, 8] });
    await waitUntil('the review', async () => (await purchase.row()).needsReview);
    expect((await purchase.row()).orderStatus).toBe('unknown');
    expect(await requestsAndCharges(purchase)).toEqual([1, 1]);
    await purchase.handle.terminate('by a test');
  });

  test('is not used after an outage of the questions that outlasted it: absence closes the attempt', async () => {
    const bench = await benchFor('questions-late', ['merchant_reference']);
    const fault = { kind: 'inquiry_unavailable' } as const;
    await simulator.control.addFault({ fault, match: { account: 'questions-late' }, times: 3 });
    const purchase = await bench.buy({ paymentMethods: ['tok_never_arrives'], scheduleSeconds: [2, 4, 6, 8, 10, 12] });
    await waitUntil('failed', async () => (await purchase.row()).orderStatus === 'failed');
    expect(await purchase.row()).toMatchObject({ provenBy: 'inquiry', attempt: { sends: 1 } });
    expect(await requestsAndCharges(purchase)).toEqual([0, 0]);
    await purchase.handle.terminate('by a test');
  });
});
