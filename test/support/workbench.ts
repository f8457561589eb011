import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, makeTelemetryFilterString, Runtime, type WorkflowBundleOption } from '@temporalio/worker';
import { v7 as newId } from 'uuid';
import { findPrograms } from '../../cli/setup.mjs';
import type { Gateway } from '../../domain/gateway.ts';
import { INQUIRY_SCHEDULE_SECONDS } from '../../domain/inquiry-schedule.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { money } from '../../domain/money.ts';
import type { GatewayOutcome } from '../../domain/outcome.ts';
import type { Database } from '../../store/database.ts';
import { storeInboxEvent } from '../../store/inbox/inbox-events.ts';
import { type Cancelled, requestCancel } from '../../store/orders/cancellation.ts';
import { type PurchaseRow, readPurchase } from '../../store/orders/standing.ts';
import { workflowBundle } from '../../worker/bundle.ts';
import { type RunningWorker, startWorker } from '../../worker/run.ts';
import { purchaseWorkflowId } from '../../workflows/ids.ts';
import {
  type AttemptRequest,
  CANCEL_SIGNAL,
  PAY_SIGNAL,
  PURCHASE_WORKFLOW,
  type PurchaseInput,
} from '../../workflows/messages.ts';
import { GATEWAY, NEEDS_REVIEW, ORDER_STATUS, SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.ts';

const QUIET_LOG = { info: () => undefined, warn: () => undefined, error: () => undefined };
const HOUR_MS = 3_600_000;

let runtimeInstalled = false;

/** Temporal's own log would print a stack for every benign failure; once per process. */
export function quietTemporal(): void {
  if (runtimeInstalled) return;
  runtimeInstalled = true;
  const filter = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' });
  Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter } } });
}

/** The time-skipping server, with the search attributes that every start names. Each test file has its own clock. */
export async function startTimeSkipping(): Promise<TestWorkflowEnvironment> {
  quietTemporal();
  const { temporalTestServer, missing } = findPrograms();
  if (temporalTestServer === null) throw new Error(missing.join(' '));
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: temporalTestServer } },
  });
  await registerSearchAttributes(environment);
  return environment;
}

/** INDEXED_VALUE_TYPE of the server's interface. */
const VALUE_TYPES = { Keyword: 2, Bool: 5 } as const;

async function registerSearchAttributes({ connection, namespace }: TestWorkflowEnvironment): Promise<void> {
  const searchAttributes = Object.fromEntries(
    Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => [name, VALUE_TYPES[type]]),
  );
  await connection.operatorService.addSearchAttributes({ namespace: namespace ?? 'default', searchAttributes });
}

export interface WorkbenchOptions {
  readonly environment: TestWorkflowEnvironment;
  readonly database: Database;
  readonly gateway: Gateway;
  /** Where orders may go on when it provably took nothing. */
  readonly fallbacks?: readonly Gateway[];
  /** For workflows that the worker itself starts again. */
  readonly inquiryScheduleSeconds?: readonly number[];
  readonly actionSeconds?: number | undefined;
}

export interface Workbench {
  readonly taskQueue: string;
  /** @param bundle workflow code other than the checkout's, such as a changed copy */
  startWorker(bundle?: WorkflowBundleOption): Promise<RunningWorker>;
  /** Stores an order and starts its workflow, as the API would. */
  buy(options?: BuyOptions): Promise<Purchase>;
}

export interface BuyOptions {
  readonly amount?: { minorUnits: number; currency: string };
  readonly expiresInMs?: number;
  readonly handoverAfterMs?: number;
  readonly scheduleSeconds?: readonly number[];
  /** For tests that tell the gateway about the order before it exists. */
  readonly orderId?: string;
  /** What pays, attempt by attempt. */
  readonly paymentMethods?: readonly string[];
  /** How soon a dead worker is noticed inside a workflow task. */
  readonly workflowTaskTimeoutMs?: number;
}

export interface Purchase {
  readonly orderId: string;
  readonly handle: WorkflowHandle;
  readonly input: PurchaseInput;
  row(): Promise<PurchaseRow>;
  reference(attemptNumber?: number): string;
  payAgain(attemptNumber: number): Promise<void>;
  /** As the API does: writes the wish down, then tells the workflow. */
  cancel(): Promise<Cancelled | undefined>;
  /** Stores an event of the gateway about attempt 1, and tells nobody. Returns its id. */
  receive(outcome: GatewayOutcome): Promise<string>;
}

/** A worker, a database and a gateway around one Temporal environment: everything of the product but its API. */
export function createWorkbench(options: WorkbenchOptions): Workbench {
  const { environment, database, gateway, fallbacks = [], inquiryScheduleSeconds = INQUIRY_SCHEDULE_SECONDS } = options;
  const taskQueue = `purchases-${randomUUID()}`;
  return {
    taskQueue,
    startWorker: async (bundle) =>
      startWorker({
        connection: environment.nativeConnection,
        namespace: environment.namespace ?? 'default',
        client: environment.client,
        database,
        gateways: { get: (name) => fallbacks.find((fallback) => fallback.name === name) ?? gateway },
        log: QUIET_LOG,
        bundle: bundle ?? (await testBundle()),
        settings: { handoverAfterMs: 3_000, inquiryScheduleSeconds },
        breaker: true,
        actionSeconds: options.actionSeconds,
        taskQueue,
        clock: async () => new Date(await environment.currentTimeMs()),
      }),
    buy: (order = {}) => buy({ environment, database, gateway, fallbacks }, taskQueue, order),
  };
}

export function testBundle(): Promise<{ readonly codePath: string }> {
  return workflowBundle(join(import.meta.dirname, '..', '..', '.paidonce', 'cache'));
}

async function buy(parts: WorkbenchOptions, taskQueue: string, options: BuyOptions): Promise<Purchase> {
  const { environment, database, gateway, fallbacks = [] } = parts;
  const orderId = options.orderId ?? newId();
  const started = new Date(await environment.currentTimeMs());
  const expiresAt = new Date(started.getTime() + (options.expiresInMs ?? 72 * HOUR_MS)).toISOString();
  const { minorUnits, currency } = money(options.amount?.minorUnits ?? 1_000, options.amount?.currency ?? 'EUR');
  await database.query(
    `insert into orders (id, amount_minor_units, currency, gateway, fallback_gateways, expires_at, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $7)`,
    [
      ...[orderId, minorUnits, currency, gateway.name, fallbacks.map(({ name }) => name)],
      ...[expiresAt, started.toISOString()],
    ],
  );
  const input: PurchaseInput = {
    orderId,
    gateway: gateway.name,
    expiresAt,
    attempt: requestFor(1, options),
    settings: {
      handoverAfterMs: options.handoverAfterMs ?? 3_000,
      inquiryScheduleSeconds: options.scheduleSeconds ?? INQUIRY_SCHEDULE_SECONDS,
    },
  };
  const handle = await environment.client.workflow.start(PURCHASE_WORKFLOW, {
    workflowId: purchaseWorkflowId(orderId),
    taskQueue,
    args: [input],
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    workflowIdConflictPolicy: 'FAIL',
    workflowTaskTimeout: options.workflowTaskTimeoutMs ?? 5_000,
    typedSearchAttributes: [
      { key: ORDER_STATUS, value: 'processing' },
      { key: GATEWAY, value: gateway.name },
      { key: NEEDS_REVIEW, value: false },
    ],
  });
  return {
    orderId,
    handle,
    input,
    row: () => readPurchase(database, orderId),
    reference: (attemptNumber = 1) => merchantReference(orderId, attemptNumber),
    async receive(outcome) {
      const reference = merchantReference(orderId, 1);
      const charge = { merchantReference: reference, gatewayReference: null, outcome, foreignAccount: null };
      const event = { gateway: gateway.name, eventId: `evt_${newId()}`, type: 'charge.told', occurredAt: null };
      const now = new Date(await environment.currentTimeMs()).toISOString();
      const news = { subject: 'charge', ...charge } as const;
      return (await storeInboxEvent(database, { ...event, body: Buffer.from('{}'), news, now })).id;
    },
    async cancel() {
      const now = new Date(await environment.currentTimeMs()).toISOString();
      const cancelled = await requestCancel(database, { orderId, reason: 'The shop is out of stock.', now });
      await handle.signal(CANCEL_SIGNAL);
      return cancelled;
    },
    payAgain: (attemptNumber) => handle.signal(PAY_SIGNAL, requestFor(attemptNumber, options)),
  };
}

function requestFor(attemptNumber: number, { paymentMethods }: BuyOptions): AttemptRequest {
  const paymentMethod = paymentMethods?.[attemptNumber - 1] ?? `tok_${attemptNumber}`;
  return { attemptNumber, paymentMethod, returnUrl: null };
}
