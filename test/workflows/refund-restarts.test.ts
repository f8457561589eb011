import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { v7 as newId } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { refundReference } from '../../domain/refund.ts';
import { createSimulatorGateway } from '../../gateways/simulator/adapter.ts';
import type { FaultInput } from '../../gateways/simulator/control.ts';
import { inTransaction } from '../../store/database.ts';
import { recordNews } from '../../store/orders/records.ts';
import { requestRefund } from '../../store/refunds/refund-requests.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import { REFUND_WORKFLOW } from '../../workflows/messages.ts';
import { refundStartOptions } from '../../workflows/refund-start.ts';
import { changedBundle } from '../support/changed-workflows.ts';
import { createTestDatabase } from '../support/database.ts';
import { startDevServer } from '../support/dev-server.ts';
import type { Death } from '../support/dying-worker-messages.ts';
import { type DyingWorkers, startDyingWorkers } from '../support/dying-workers.ts';
import { PRICE, sentOrder } from '../support/inbox.ts';
import { RESTART_CAPABILITIES } from '../support/restart-paths.ts';
import { createLedgerFolder, type SimulatorProcess, startSimulatorProcess } from '../support/simulator-process.ts';

/** The worker is killed by SIGKILL around and inside each step of a refund; see restarts.test.ts, which does it to purchases. */
interface Killing {
  readonly what: string;
  readonly fault?: FaultInput['fault'];
  readonly death: Pick<Death, 'step' | 'nth' | 'moment'>;
  readonly ends?: { readonly status: 'failed'; readonly refunds: 0 };
}

const at = (step: string, moment: Death['moment'], nth = 1): Killing['death'] => ({ step, moment, nth });
const SEND = 'sendRefund';
const ASK = 'inquireRefund';
const LOST = { kind: 'lost_answer' } as const;
const NEVER = { kind: 'never_arrives' } as const;
const REFUSED = { kind: 'decline' } as const;
const FAILED = { status: 'failed', refunds: 0 } as const;

const KILLINGS: readonly Killing[] = [
  { what: 'before it is sent', death: at(SEND, 'before_step') },
  { what: 'before it is marked as sent', death: at(SEND, 'after_claim') },
  { what: 'after it was marked and before the request', death: at(SEND, 'before_request') },
  { what: 'after the answer and before the record', death: at(SEND, 'after_answer') },
  { what: 'after the record', death: at(SEND, 'after_step') },
  { what: 'after a lost answer', fault: LOST, death: at(SEND, 'after_step') },
  { what: 'before the inquiry about a lost answer', fault: LOST, death: at(ASK, 'before_step') },
  { what: 'after the inquiry about a lost answer', fault: LOST, death: at(ASK, 'after_step') },
  { what: 'before the inquiry that sends it again', fault: NEVER, death: at(ASK, 'before_step', 2) },
  { what: 'after the inquiry that has sent it again', fault: NEVER, death: at(ASK, 'after_step', 2) },
  { what: 'after a refusal and before its record', fault: REFUSED, death: at(SEND, 'after_answer'), ends: FAILED },
  { what: 'after the record of a refusal', fault: REFUSED, death: at(SEND, 'after_step'), ends: FAILED },
];

const LINES = 2;
const TASK_QUEUE = 'refunds-with-deaths';
const SCHEDULE_SECONDS = [0.3, 4.5, 9, 15, 20];
const PART = 400;

const { database, url: databaseUrl } = await createTestDatabase();
const folder = mkdtempSync(join(tmpdir(), 'paidonce-refund-restarts-'));
const ledger = createLedgerFolder();
const lines: DyingWorkers[] = [];
let environment: TestWorkflowEnvironment;
let simulator: SimulatorProcess;

beforeAll(async () => {
  [environment, simulator] = await Promise.all([startDevServer(), startSimulatorProcess(ledger.path)]);
  // A dead worker's inquiry is noticed by its time-out; nobody can wait for the product's 30 s each time.
  const from = 'startToCloseTimeout: 30_000,\n  cancellationType';
  const { code } = await changedBundle([{ file: 'workflows/steps.ts', from, to: from.replace('30_000', '1_500') }]);
  const bundlePath = join(folder, 'workflows.js');
  writeFileSync(bundlePath, code);
  for (let index = 0; index < LINES; index += 1) lines.push(startLine(`${TASK_QUEUE}-${index}`, bundlePath));
});

afterAll(async () => {
  await Promise.all(lines.map((workers) => workers.stop()));
  await environment.teardown();
  await simulator.stop();
  ledger.remove();
  rmSync(folder, { recursive: true, force: true });
});

function startLine(taskQueue: string, bundlePath: string): DyingWorkers {
  const settings = { url: simulator.address, capabilities: RESTART_CAPABILITIES };
  return startDyingWorkers({
    temporalAddress: environment.address,
    namespace: environment.namespace ?? 'default',
    ...{ taskQueue, databaseUrl, bundlePath, gateway: { name: 'simulator', settings } },
  });
}

/** An order whose charge stands in the gateway's ledger. */
async function paidOrder(): Promise<string> {
  const orderId = await sentOrder(database);
  const gateway = createSimulatorGateway({ name: 'simulator', settings: { url: simulator.address } });
  const command = { merchantReference: merchantReference(orderId, 1), amount: PRICE, paymentMethod: 'tok_ok' };
  const prepared = gateway.prepareCharge({ ...command, description: null, returnUrl: null });
  const outcome = await gateway.charge(prepared, { timeoutMs: 5_000, saveGatewayReference: () => Promise.resolve() });
  const now = new Date().toISOString();
  await recordNews(database, { orderId, attemptNumber: 1, kind: 'gateway_response', outcome, now });
  return orderId;
}

async function playAndKill({ fault, death, ends }: Killing, line: number): Promise<void> {
  const workers = lines[line];
  if (workers === undefined) throw new Error(`There is no line ${line}`);
  const orderId = await paidOrder();
  const reference = merchantReference(orderId, 1);
  if (fault !== undefined) await simulator.control.addFault({ fault, match: { reference, request: 'refund' } });
  const refundId = newId();
  const asked = { id: refundId, orderId, minorUnits: PART, currency: undefined, reason: null, requestedBy: 'test' };
  await inTransaction(database, (transaction) =>
    requestRefund(transaction, { ...asked, approvalLimits: {}, now: new Date().toISOString() }),
  );
  const deathsBefore = workers.deaths();
  await workers.prepare({ ...death, orderId, refundId, reference: refundReference(refundId) });
  const refund = { refundId, orderId, gateway: 'simulator' };
  const settings = { handoverAfterMs: 3_000, inquiryScheduleSeconds: SCHEDULE_SECONDS };
  const start = refundStartOptions({ refund, settings, taskQueue: `${TASK_QUEUE}-${line}`, mode: 'once' });
  const options = { ...start, workflowTaskTimeout: '2s' } as const;
  const handle = await environment.client.workflow.start(REFUND_WORKFLOW, options);
  const status = ends?.status ?? 'succeeded';
  expect(await handle.result()).toEqual({ status });
  expect(await findRefund(database, refundId)).toMatchObject({ status });
  expect(workers.deaths()).toBe(deathsBefore + 1);
  const refunds = ends?.refunds ?? 1;
  const money = { refunds, refunded: { minor_units: refunds * PART, currency: 'EUR' }, refund_requests: 1 };
  expect(await simulator.control.ledger({ reference })).toMatchObject([{ charges: 1, ...money }]);
}

const titleOf = ({ what, ends }: Killing): string => `C06: ${what}: ${ends ? 'nothing goes back' : 'refunded once'}`;

describe('a worker killed', () => {
  const side = Array.from({ length: LINES }, (_, line) => line);
  describe.concurrent.for(side)('on line %s', { sequential: false }, (line) => {
    const mine = KILLINGS.filter((_, index) => index % LINES === line);
    test.sequential.for(mine.map((killing) => [titleOf(killing), killing] as const))('%s', ([, killing]) =>
      playAndKill(killing, line),
    );
  });
});
