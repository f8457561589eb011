import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSimulatorGateway } from '../../gateways/simulator/adapter.ts';
import type { RunningWorker } from '../../worker/run.ts';
import { recoverWorkflowId } from '../../workflows/ids.ts';
import { createTestDatabase } from '../support/database.ts';
import { startDevServer } from '../support/dev-server.ts';
import { createLedgerFolder, type SimulatorProcess, startSimulatorProcess } from '../support/simulator-process.ts';
import { waitUntil } from '../support/stack.ts';
import { createWorkbench, type Purchase, type Workbench } from '../support/workbench.ts';

/** A gateway is away and comes back. Orders whose own schedule says "in an hour" must not wait for an hour. */
const { database } = await createTestDatabase();
const ledger = createLedgerFolder();
/** The first question finds the charge pending; the next one would come in an hour. */
const IN_AN_HOUR = [0.5, 3_600];
const ORDERS = 60;
const OUTAGE_MS = 14_000;
let environment: TestWorkflowEnvironment;
let simulator: SimulatorProcess;
let bench: Workbench;
let worker: RunningWorker;

beforeAll(async () => {
  [environment, simulator] = await Promise.all([startDevServer(), startSimulatorProcess(ledger.path)]);
  const settings = { url: simulator.address, capabilities: { call_timeout_seconds: 2 } };
  bench = createWorkbench({ environment, database, gateway: createSimulatorGateway({ name: 'simulator', settings }) });
  worker = await bench.startWorker();
});

afterAll(async () => {
  await worker.stop();
  await environment.teardown();
  await simulator.stop();
  ledger.remove();
});

test('after an outage every order that waits for the gateway is asked about at once, in waves', async () => {
  // However long the purchases take here: until all have asked once, the gateway says "pending" of each.
  await simulator.control.addFault({ fault: { kind: 'inquiry_stale_pending' }, match: {}, times: null });
  const waiting = await Promise.all(
    Array.from({ length: ORDERS }, () =>
      bench.buy({ paymentMethods: ['tok_pending_approved'], scheduleSeconds: IN_AN_HOUR }),
    ),
  );
  for (const purchase of waiting) await waitUntil('the first question', () => isAskedAgainLater(purchase));
  await simulator.control.clearFaults();
  await simulator.control.beginOutage({ kind: 'refuse', for_ms: OUTAGE_MS });
  // Somebody buys during the outage: the gateway's silence is noticed by that, and so is its return.
  const during = await bench.buy({ paymentMethods: ['tok_ok'] });
  await waitUntil('the gateway is back', async () => (await during.row()).orderStatus === 'paid');
  const back = Date.now();
  for (const { row } of waiting) await waitUntil('paid', async () => (await row()).orderStatus === 'paid', 30_000);
  expect(Date.now() - back).toBeLessThan(30_000);

  const told = await environment.client.workflow.getHandle(recoverWorkflowId('simulator')).result();
  expect(told).toBe(ORDERS);
  const rows = await simulator.control.ledger();
  expect(rows.filter(({ charges }) => charges === 1)).toHaveLength(ORDERS + 1);
  expect(rows.filter(({ charges }) => charges > 1)).toEqual([]);
  for (const purchase of waiting) {
    const [row] = await simulator.control.ledger({ prefix: purchase.reference() });
    expect(row?.requests).toBe(1);
  }
});

test('without an outage nobody is asked more often than its schedule says', async () => {
  const { rows } = await database.query('select silent_since, opened_at from gateway_health');
  expect(rows).toEqual([{ silent_since: null, opened_at: null }]);
});

/** Its inquiry was answered once and waits for its next time. */
async function isAskedAgainLater({ handle }: Purchase): Promise<boolean> {
  const { raw } = await handle.describe();
  return (raw.pendingActivities?.[0]?.attempt ?? 0) >= 2;
}
