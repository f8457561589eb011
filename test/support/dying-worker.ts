import { Client } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createCallsInFlight } from '../../activities/calls-in-flight.ts';
import { createActivities } from '../../activities/create-activities.ts';
import type { Tools } from '../../activities/tools.ts';
import type { Gateway } from '../../domain/gateway.ts';
import { createSimulatorGateway } from '../../gateways/simulator/adapter.ts';
import { createDatabase } from '../../store/database.ts';
import { WORKER_LIMITS } from '../../worker/run.ts';
import { purchaseWorkflowId, refundWorkflowId } from '../../workflows/ids.ts';
import { ROW_CHANGED_SIGNAL } from '../../workflows/messages.ts';
import type { Death, FromWorker, Plan, ToWorker } from './dying-worker-messages.ts';
import { UNWATCHED } from './unwatched.ts';

/** How soon the next worker gets the tasks that were put aside for a dead one. */
const STICKY_TIMEOUT_MS = 300;

/**
 * A worker process with all the product's steps, which kills itself where it is told to: without a signal handler, a
 * `finally` or a last word to anybody. Started idle, so that it is there at once when the one before it dies.
 */
const plan = JSON.parse(process.env.DYING_WORKER_PLAN ?? '') as Plan;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
let death: Death | undefined;
let seen = 0;

process.on('disconnect', () => process.exit());
Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });

const database = createDatabase({ url: plan.databaseUrl, poolSize: 4, applicationName: 'paidonce-dying-worker' });
const connection = await NativeConnection.connect({ address: plan.temporalAddress });
const client = new Client({ connection, namespace: plan.namespace });
const gateway = createSimulatorGateway({ name: plan.gateway.name, settings: plan.gateway.settings });
const tools: Tools = {
  database,
  gateways: { get: () => dyingGateway(gateway) },
  calls: createCallsInFlight(),
  clock: async () => new Date(),
  nudge: (orderId) => client.workflow.getHandle(purchaseWorkflowId(orderId)).signal(ROW_CHANGED_SIGNAL),
  resume: () => Promise.reject(new Error('These tests leave no order alone')),

  askNow: () => Promise.reject(new Error('These tests have no outage')),
  watch: UNWATCHED,
  startRefund: () => Promise.reject(new Error('These tests pay too much for nothing')),
  nudgeRefund: (refundId) => client.workflow.getHandle(refundWorkflowId(refundId)).signal(ROW_CHANGED_SIGNAL),
  log: quiet,
};

process.on('message', (message: ToWorker) => {
  if (message.kind === 'work') return void work();
  death = message.death;
  seen = 0;
  tell({ kind: 'knows' });
});
tell({ kind: 'idle' });

async function work(): Promise<void> {
  const worker = await Worker.create({
    connection,
    namespace: plan.namespace,
    taskQueue: plan.taskQueue,
    workflowBundle: { codePath: plan.bundlePath },
    activities: dyingSteps(),
    ...WORKER_LIMITS,
    stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT_MS,
    // Workflow code in the main thread: a thread of its own is a fifth of the start-up, seventy times over.
    debugMode: true,
  });
  tell({ kind: 'works' });
  await worker.run();
}

function dyingSteps(): Record<string, (command: StepCommand) => Promise<unknown>> {
  const steps = createActivities(tools) as unknown as Record<string, (command: StepCommand) => Promise<unknown>>;
  const wrapped = Object.entries(steps).map(([name, step]) => {
    const dying = async (command: StepCommand): Promise<unknown> => {
      tell({ kind: 'step', step: name, orderId: command.orderId ?? '' });
      if (isStepOfDeath(name, command)) seen += 1;
      const isIt = isStepOfDeath(name, command) && timesOf(name, command) === death?.nth;
      if (isIt) dieIf('before_step');
      try {
        return await step(command);
      } finally {
        if (isIt) dieIf('after_step');
      }
    };
    return [name, dying] as const;
  });
  return Object.fromEntries(wrapped);
}

interface StepCommand {
  readonly orderId?: string;
  readonly refundId?: string;
  readonly attempt?: { readonly attemptNumber: number };
}

function isStepOfDeath(name: string, { orderId, refundId }: StepCommand): boolean {
  if (death?.step !== name) return false;
  return death.refundId === undefined ? death.orderId === orderId : death.refundId === refundId;
}

/** Attempts are told apart by their number, for one that is made again is still the same; other steps by counting. */
function timesOf(name: string, command: StepCommand): number {
  return name === 'makeAttempt' ? (command.attempt?.attemptNumber ?? 0) : seen;
}

/** Moments inside an attempt or a refund: there and not marked as sent; marked and nothing sent; answered and nothing written. */
function dyingGateway(real: Gateway): Gateway {
  return {
    ...real,
    prepareCharge(command) {
      if (death?.reference === command.merchantReference) dieIf('after_claim');
      return real.prepareCharge(command);
    },
    async charge(prepared, scope) {
      const isIt = death !== undefined && prepared.merchantReference === death.reference;
      if (isIt) dieIf('before_request');
      const outcome = await real.charge(prepared, scope);
      if (isIt) dieIf('after_answer');
      return outcome;
    },
    prepareRefund(command) {
      if (real.prepareRefund === undefined) throw new Error('The gateway makes no refunds');
      if (death?.reference === command.refundReference) dieIf('after_claim');
      return real.prepareRefund(command);
    },
    async refund(prepared, scope) {
      if (real.refund === undefined) throw new Error('The gateway makes no refunds');
      if (death?.reference === prepared.refundReference) dieIf('before_request');
      const outcome = await real.refund(prepared, scope);
      if (death?.reference === prepared.refundReference) dieIf('after_answer');
      return outcome;
    },
  };
}

function dieIf(moment: Death['moment']): void {
  if (death?.moment === moment) process.kill(process.pid, 'SIGKILL');
}

function tell(message: FromWorker): void {
  process.send?.(message);
}
