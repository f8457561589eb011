import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSimulatorGateway } from '../../gateways/simulator/adapter.ts';
import { claimAttempt } from '../../store/orders/claims.ts';
import type { RunningWorker } from '../../worker/run.ts';
import { SWEEP_WORKFLOW, type SweepReport } from '../../workflows/messages.ts';
import { createTestDatabase } from '../support/database.ts';
import { startDevServer } from '../support/dev-server.ts';
import { createLedgerFolder, type SimulatorProcess, startSimulatorProcess } from '../support/simulator-process.ts';
import { waitUntil } from '../support/stack.ts';
import { createWorkbench, type Purchase, type Workbench } from '../support/workbench.ts';

/** Somebody ends workflows from outside. The sweeper brings back what the rows say is open, and the ledger is the judge. */
const { database } = await createTestDatabase();
const ledger = createLedgerFolder();
const SCHEDULE = [0.5, 3, 5, 8, 12, 20];
let environment: TestWorkflowEnvironment;
let simulator: SimulatorProcess;
let bench: Workbench;
let worker: RunningWorker;

beforeAll(async () => {
  [environment, simulator] = await Promise.all([startDevServer(), startSimulatorProcess(ledger.path)]);
  const capabilities = { call_timeout_seconds: 2, absent_conclusive_after_seconds: 1 };
  const settings = { url: simulator.address, capabilities };
  const gateway = createSimulatorGateway({ name: 'simulator', settings });
  bench = createWorkbench({ environment, database, gateway, inquiryScheduleSeconds: SCHEDULE });
  worker = await bench.startWorker();
});

afterAll(async () => {
  await worker.stop();
  await environment.teardown();
  await simulator.stop();
  ledger.remove();
});

async function sweepNow(): Promise<SweepReport> {
  await database.query(`update orders set updated_at = updated_at - interval '2 minutes'`);
  const workflowId = `sweep-${crypto.randomUUID()}`;
  return environment.client.workflow.execute(SWEEP_WORKFLOW, { workflowId, taskQueue: bench.taskQueue });
}

async function requestsAndCharges(purchase: Purchase): Promise<readonly [requests: number, charges: number]> {
  const rows = await simulator.control.ledger({ prefix: purchase.reference().slice(0, 26) });
  return [rows.reduce((sum, { requests }) => sum + requests, 0), rows.reduce((sum, { charges }) => sum + charges, 0)];
}

const untilStatus = (purchase: Purchase, status: string): Promise<void> =>
  waitUntil(status, async () => (await purchase.row()).orderStatus === status);

const buy = (paymentMethod: string): Promise<Purchase> =>
  bench.buy({ paymentMethods: [paymentMethod], scheduleSeconds: [3_600] });

describe('an order whose workflow was ended from outside', () => {
  test('unknown: is found out about, and nothing is sent again', async () => {
    const purchase = await buy('tok_lost_answer');
    await untilStatus(purchase, 'unknown');
    await purchase.handle.terminate('by a test');
    expect(await sweepNow()).toMatchObject({ resumed: 1 });
    await untilStatus(purchase, 'paid');
    expect(await requestsAndCharges(purchase)).toEqual([1, 1]);
  });

  test('pending at the gateway: is asked about', async () => {
    const purchase = await buy('tok_pending_approved');
    await waitUntil('pending', async () => (await purchase.row()).attempt?.status === 'pending');
    await purchase.handle.cancel();
    await waitUntil('the end', async () => (await purchase.handle.describe()).status.name !== 'RUNNING');
    expect(await sweepNow()).toMatchObject({ resumed: 1 });
    await untilStatus(purchase, 'paid');
    expect(await requestsAndCharges(purchase)).toEqual([1, 1]);
  });

  test('waiting for the customer to confirm: is found paid after the confirmation', async () => {
    const purchase = await buy('tok_action');
    await untilStatus(purchase, 'requires_action');
    await purchase.handle.terminate('by a test');
    expect(await sweepNow()).toMatchObject({ resumed: 1 });
    const [row] = await simulator.control.ledger({ prefix: purchase.reference() });
    await simulator.control.act(row?.gateway_references[0] ?? '', 'complete');
    await untilStatus(purchase, 'paid');
    expect(await requestsAndCharges(purchase)).toEqual([1, 1]);
  });

  test('claimed and never sent: the claim is taken over and charged once', async () => {
    const purchase = await buy('tok_declined');
    await untilStatus(purchase, 'failed');
    await purchase.handle.terminate('by a test');
    const claimed = await claimAttempt(database, {
      ...{ orderId: purchase.orderId, attemptNumber: 2, run: 'a run that is gone' },
      ...{ merchantReference: purchase.reference(2), paymentMethod: 'tok_ok', returnUrl: null },
      now: new Date().toISOString(),
    });
    expect(claimed).toBe(true);
    expect(await sweepNow()).toMatchObject({ resumed: 1 });
    await untilStatus(purchase, 'paid');
    expect(await requestsAndCharges(purchase)).toEqual([2, 1]);
  });
});

test('what runs, is closed, has failed or has just moved is left alone', async () => {
  const paid = await buy('tok_ok');
  await untilStatus(paid, 'paid');
  const failed = await buy('tok_declined');
  await untilStatus(failed, 'failed');
  await failed.handle.terminate('by a test');
  const running = await buy('tok_lost_answer');
  await untilStatus(running, 'unknown');
  expect(await sweepNow()).toMatchObject({ looked: 1, resumed: 0 });

  await running.handle.terminate('by a test');
  await database.query('update orders set updated_at = now() where id = $1', [running.orderId]);
  const workflowId = `sweep-${crypto.randomUUID()}`;
  const report = environment.client.workflow.execute(SWEEP_WORKFLOW, { workflowId, taskQueue: bench.taskQueue });
  expect(await report).toMatchObject({ looked: 0, resumed: 0 });
  expect(await sweepNow()).toMatchObject({ looked: 1, resumed: 1 });
  await untilStatus(running, 'paid');
  expect(await requestsAndCharges(running)).toEqual([1, 1]);
});

test('three sweeps at once start each workflow once', async () => {
  const purchases = await Promise.all(Array.from({ length: 5 }, () => buy('tok_lost_answer')));
  for (const purchase of purchases) {
    await untilStatus(purchase, 'unknown');
    await purchase.handle.terminate('by a test');
  }
  await database.query(`update orders set updated_at = updated_at - interval '2 minutes'`);
  const reports = await Promise.all([sweepNow(), sweepNow(), sweepNow()]);
  expect(reports.reduce((sum, { resumed }) => sum + resumed, 0)).toBe(5);
  for (const purchase of purchases) {
    await untilStatus(purchase, 'paid');
    expect(await requestsAndCharges(purchase)).toEqual([1, 1]);
  }
});
