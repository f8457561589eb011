import type { Client } from '@temporalio/client';
import { type NativeConnection, Worker, type WorkflowBundleOption } from '@temporalio/worker';
import { type CallsInFlight, createCallsInFlight } from '../activities/calls-in-flight.ts';
import { createActivities } from '../activities/create-activities.ts';
import { createGatewayWatch } from '../activities/gateway-watch.ts';
import type { ActivityLog, Tools } from '../activities/tools.ts';
import type { Database } from '../store/database.ts';
import { purchaseWorkflowId, TASK_QUEUE } from '../workflows/ids.ts';
import { type PurchaseSettings, ROW_CHANGED_SIGNAL } from '../workflows/messages.ts';
import { createAskNow, createRecover } from './recover.ts';
import { createResume } from './resume.ts';
import { createNudgeRefund, createStartRefund } from './start-refund.ts';

export interface WorkerParts {
  readonly connection: NativeConnection;
  readonly namespace: string;
  /** Tells workflows of answers that came late. */
  readonly client: Client;
  readonly database: Database;
  readonly gateways: Tools['gateways'];
  readonly log: ActivityLog;
  readonly bundle: WorkflowBundleOption;
  /** For workflows that the sweeper starts again. */
  readonly settings: PurchaseSettings;
  /** Whether a gateway that answers nothing gets no new charges. */
  readonly breaker: boolean;
  /** See `Tools.actionSeconds`. */
  readonly actionSeconds?: number | undefined;
  readonly taskQueue?: string;
  /** See `Tools.clock`. */
  readonly clock?: Tools['clock'];
}

export interface RunningWorker {
  /** Resolves when the worker has stopped; rejects when it could not go on. */
  readonly stopped: Promise<void>;
  /** Takes no new work, ends what is running, and waits for the gateway calls that are on their way. */
  stop(): Promise<void>;
}

/**
 * Orders in flight at once. A workflow task is held while a charge waits for its gateway, at most for the hand-over time, so
 * with fewer slots a slow gateway would keep orders of a healthy one waiting.
 */
const IN_FLIGHT_MAX = 600;

/** How much a worker does at once; the bench gives the same to the empty workflow that it measures against. */
export const WORKER_LIMITS = {
  maxConcurrentWorkflowTaskExecutions: IN_FLIGHT_MAX,
  maxConcurrentLocalActivityExecutions: IN_FLIGHT_MAX,
  maxConcurrentActivityTaskExecutions: 100,
  /** Far above what is in flight: with a small cache, local activities stall for a task time-out each. */
  maxCachedWorkflows: 2_000,
} as const;

const SHUTDOWN_GRACE_MS = 10_000;
/** How long Temporal waits for a worker that holds an order in its cache, and may be dead, before it asks another one. */
const STICKY_TIMEOUT_MS = 3_000;

/** Starts the process part that carries out orders. Registers every step under the names of workflows/contracts.ts. */
export async function startWorker(parts: WorkerParts): Promise<RunningWorker> {
  const { connection, namespace, database, gateways, log, client } = parts;
  const calls = createCallsInFlight();
  const nudge = (orderId: string): Promise<void> =>
    client.workflow.getHandle(purchaseWorkflowId(orderId)).signal(ROW_CHANGED_SIGNAL);
  const taskQueue = parts.taskQueue ?? TASK_QUEUE;
  const resume = createResume({ client, settings: parts.settings, taskQueue });
  const askNow = createAskNow(client);
  const watch = createGatewayWatch({
    database,
    log,
    breaker: parts.breaker,
    recover: createRecover(client, taskQueue),
  });
  const clock = parts.clock ?? machineClock;
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: parts.bundle,
    activities: createActivities({
      ...{ database, gateways, calls, nudge, resume, askNow, watch, log, clock },
      actionSeconds: parts.actionSeconds,
      startRefund: createStartRefund({ client, settings: parts.settings, taskQueue }),
      nudgeRefund: createNudgeRefund(client),
    }),
    ...WORKER_LIMITS,
    stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT_MS,
    shutdownGraceTime: SHUTDOWN_GRACE_MS,
  });
  const stopped = runToEnd(worker, calls);
  return {
    stopped,
    async stop() {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await stopped;
    },
  };
}

async function machineClock(): Promise<Date> {
  return new Date();
}

async function runToEnd(worker: Worker, calls: CallsInFlight): Promise<void> {
  try {
    await worker.run();
  } finally {
    await calls.drain();
  }
}
