import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import type { Order } from '../store/orders/orders.ts';
import { purchaseWorkflowId } from '../workflows/ids.ts';
import {
  ASK_NOW_SIGNAL,
  type AttemptRequest,
  CANCEL_SIGNAL,
  type OperatorDecision,
  PAY_SIGNAL,
  PURCHASE_WORKFLOW,
  type PurchaseSettings,
  SETTLE_UPDATE,
} from '../workflows/messages.ts';
import { type PurchaseStart, purchaseStartOptions, type StartableOrder } from '../workflows/purchase-start.ts';
import { createTemporalCalls, type TemporalCalls } from './temporal-calls.ts';

/** `over`: the order's workflow ends as soon as it is started, so the order must be closed. */
export type PayStart = 'started' | 'attached' | 'over';

/** The API's only way to Temporal. */
export interface PurchaseStarter {
  /**
   * Has the order's one workflow make this attempt, whoever starts it. Resolves once Temporal has it durably, not when it
   * is done. Calls for the same attempt at the same time share one call to Temporal.
   * @throws CodedError `temporal_unavailable`; the attempt may then still be made, and only once
   */
  pay(order: Order, attempt: AttemptRequest): Promise<PayStart>;
  /**
   * Sees to it that the workflow of an open order runs: starts it again from its last attempt, if somebody ended it.
   * @throws CodedError `temporal_unavailable`
   */
  resume(order: StartableOrder, attempt: AttemptRequest): Promise<'resumed' | 'running'>;
  /**
   * Gives an operator's decision to the order's workflow and waits until it is on the row. `refused`: the order is not unknown.
   * @throws CodedError `temporal_unavailable`, also when no worker runs
   */
  settle(orderId: string, decision: OperatorDecision): Promise<'settled' | 'refused'>;
  /**
   * Tells the order's workflow, if it runs, that the shop cancels; what comes of that stands on the row.
   * @throws CodedError `temporal_unavailable`
   */
  cancel(orderId: string): Promise<void>;
  /**
   * Has the order's workflow, if it runs, ask the gateway now instead of by its schedule.
   * @throws CodedError `temporal_unavailable`
   */
  askNow(orderId: string): Promise<void>;
  isReachable(): Promise<boolean>;
  /** Resolves when no call is on its way any more; before that the connection must not be closed. */
  ended(): Promise<void>;
}

export interface PurchaseStarterOptions {
  readonly client: Client;
  /** Only with a client on the `NativeConnection` of a worker in this process, which then gets the first task at once. */
  readonly eager: boolean;
  readonly settings: PurchaseSettings;
  /** Instead of the usual one, for tests that share a server. */
  readonly taskQueue?: string;
}

const CALL_TIMEOUT_MS = 5_000;
/** A decision has to be carried out by a worker, so it takes longer than a start. */
const DECISION_TIMEOUT_MS = 10_000;
const PROBE_TIMEOUT_MS = 2_000;
/** Enough for a workflow that somebody else starts again in between. */
const ROUNDS_MAX = 3;

export function createPurchaseStarter(options: PurchaseStarterOptions): PurchaseStarter {
  const { client } = options;
  const calls = createTemporalCalls(client);
  const pays = createShared<PayStart>();
  const resumes = createShared<'resumed' | 'running'>();
  return {
    pay: (order, attempt) =>
      pays(`${order.id}/${attempt.attemptNumber}`, () => startOrAttach(options, calls, { order, attempt })),
    resume: (order, attempt) =>
      resumes(order.id, async () =>
        (await start(options, calls, { order, attempt, mode: 'again' })) ? 'resumed' : 'running',
      ),
    settle: (orderId, decision) => settle(client, calls, { orderId, decision }),
    cancel: (orderId) => tell(client, calls, { orderId, word: CANCEL_SIGNAL }),
    askNow: (orderId) => tell(client, calls, { orderId, word: ASK_NOW_SIGNAL }),
    isReachable: async () => {
      try {
        await calls.make(PROBE_TIMEOUT_MS, () => client.workflowService.getSystemInfo({}));
        return true;
      } catch {
        return false;
      }
    },
    ended: () => calls.ended(),
  };
}

/** Calls with the same key at the same time share one. */
function createShared<Result>(): (key: string, call: () => Promise<Result>) => Promise<Result> {
  const running = new Map<string, Promise<Result>>();
  return (key, call) => {
    const known = running.get(key);
    if (known !== undefined) return known;
    const called = call().finally(() => running.delete(key));
    running.set(key, called);
    return called;
  };
}

type Wish = Pick<PurchaseStart, 'order' | 'attempt'>;

/**
 * Starts the workflow, or finds that it was started before. Only then is a further attempt sent as a signal: after the loss of
 * a Temporal namespace there is nothing to signal, and the start alone is right for any attempt number. A workflow that
 * somebody ended is started again, because the row, which the caller has read, says that the order is open.
 */
async function startOrAttach(
  options: PurchaseStarterOptions,
  calls: TemporalCalls,
  { order, attempt }: Wish,
): Promise<PayStart> {
  if (await start(options, calls, { order, attempt, mode: 'once' })) return 'started';
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    if (attempt.attemptNumber > 1 && (await signal(options.client, calls, { order, attempt }))) return 'attached';
    if (await start(options, calls, { order, attempt, mode: 'again' })) return 'started';
    if (attempt.attemptNumber === 1) return 'attached';
  }
  return 'over';
}

/** @returns false when there is no running workflow to take the wish */
async function signal(client: Client, calls: TemporalCalls, { order, attempt }: Wish): Promise<boolean> {
  try {
    const handle = client.workflow.getHandle(purchaseWorkflowId(order.id));
    await calls.make(CALL_TIMEOUT_MS, () => handle.signal(PAY_SIGNAL, attempt));
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Says a word to the order's workflow; to one that has ended there is nothing to say. */
async function tell(
  client: Client,
  calls: TemporalCalls,
  { orderId, word }: { readonly orderId: string; readonly word: typeof CANCEL_SIGNAL | typeof ASK_NOW_SIGNAL },
): Promise<void> {
  try {
    const handle = client.workflow.getHandle(purchaseWorkflowId(orderId));
    await calls.make(CALL_TIMEOUT_MS, () => handle.signal(word));
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/** @returns false when Temporal knows the workflow already: for `once` in any state, for `again` a running one */
async function start(
  { client, eager, settings, taskQueue }: PurchaseStarterOptions,
  calls: TemporalCalls,
  { order, attempt, mode }: Wish & Pick<PurchaseStart, 'mode'>,
): Promise<boolean> {
  const queue = taskQueue === undefined ? {} : { taskQueue };
  const started = purchaseStartOptions({ order, attempt, settings, mode, ...queue });
  try {
    await calls.make(CALL_TIMEOUT_MS, () =>
      client.workflow.start(PURCHASE_WORKFLOW, { ...started, requestEagerStart: eager }),
    );
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

async function settle(
  client: Client,
  calls: TemporalCalls,
  { orderId, decision }: { readonly orderId: string; readonly decision: OperatorDecision },
): Promise<'settled' | 'refused'> {
  try {
    const handle = client.workflow.getHandle(purchaseWorkflowId(orderId));
    await calls.make(DECISION_TIMEOUT_MS, () => handle.executeUpdate(SETTLE_UPDATE, { args: [decision] }));
    return 'settled';
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError || error instanceof WorkflowNotFoundError) return 'refused';
    throw error;
  }
}
