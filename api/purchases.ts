import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { formatMoney } from '../domain/money.ts';
import type { Order } from '../store/orders.ts';
import { purchaseWorkflowId, TASK_QUEUE } from '../workflows/ids.ts';
import {
  type AttemptRequest,
  type OperatorDecision,
  PAY_SIGNAL,
  PURCHASE_WORKFLOW,
  type PurchaseInput,
  type PurchaseSettings,
  SETTLE_UPDATE,
} from '../workflows/messages.ts';
import { GATEWAY, NEEDS_REVIEW, ORDER_STATUS } from '../workflows/search-attributes.ts';
import { createTemporalCalls, type TemporalCalls } from './temporal-calls.ts';

/** `over`: the order's workflow has ended and will never make this attempt. */
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
   * Gives an operator's decision to the order's workflow and waits until it is on the row. `refused`: the order is not unknown.
   * @throws CodedError `temporal_unavailable`, also when no worker runs
   */
  settle(orderId: string, decision: OperatorDecision): Promise<'settled' | 'refused'>;
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
/** A worker that dies in the middle of a step is replaced after this; the default of 10 s keeps the customer waiting longer. */
const WORKFLOW_TASK_TIMEOUT = '5s';

export function createPurchaseStarter(options: PurchaseStarterOptions): PurchaseStarter {
  const { client } = options;
  const calls = createTemporalCalls(client);
  const starting = new Map<string, Promise<PayStart>>();
  return {
    pay: (order, attempt) => {
      const key = `${order.id}/${attempt.attemptNumber}`;
      const known = starting.get(key);
      if (known !== undefined) return known;
      const started = startOrAttach(options, calls, { order, attempt }).finally(() => starting.delete(key));
      starting.set(key, started);
      return started;
    },
    settle: (orderId, decision) => settle(client, calls, { orderId, decision }),
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

/**
 * Starts the workflow, or finds that it was started before. Only then is a further attempt sent as a signal: after the loss of
 * a Temporal namespace there is nothing to signal, and the start alone is right for any attempt number.
 */
async function startOrAttach(
  options: PurchaseStarterOptions,
  calls: TemporalCalls,
  { order, attempt }: { readonly order: Order; readonly attempt: AttemptRequest },
): Promise<PayStart> {
  const { client } = options;
  try {
    await calls.make(CALL_TIMEOUT_MS, () => start(options, order, attempt));
    return 'started';
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  if (attempt.attemptNumber === 1) return 'attached';
  try {
    const handle = client.workflow.getHandle(purchaseWorkflowId(order.id));
    await calls.make(CALL_TIMEOUT_MS, () => handle.signal(PAY_SIGNAL, attempt));
    return 'attached';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'over';
    throw error;
  }
}

async function start(
  { client, eager, settings, taskQueue = TASK_QUEUE }: PurchaseStarterOptions,
  order: Order,
  attempt: AttemptRequest,
): Promise<void> {
  const input: PurchaseInput = {
    orderId: order.id,
    gateway: order.gateway,
    expiresAt: order.expiresAt,
    attempt,
    settings,
  };
  await client.workflow.start(PURCHASE_WORKFLOW, {
    workflowId: purchaseWorkflowId(order.id),
    taskQueue,
    args: [input],
    // With the default policy a second start after the workflow has closed would be a second purchase.
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    workflowIdConflictPolicy: 'FAIL',
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    requestEagerStart: eager,
    typedSearchAttributes: [
      { key: ORDER_STATUS, value: 'processing' },
      { key: GATEWAY, value: order.gateway },
      { key: NEEDS_REVIEW, value: false },
    ],
    staticSummary: `${formatMoney(order.amount)} by ${order.gateway}, order ${order.id}`,
    staticDetails: `Charges the order once. It is payable until ${order.expiresAt}; this workflow stays open until it is paid or closed.`,
  });
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
