import { formatMoney, type Money } from '../domain/money.ts';
import { purchaseWorkflowId, TASK_QUEUE } from './ids.ts';
import type { AttemptRequest, PurchaseInput, PurchaseSettings } from './messages.ts';
import { GATEWAY, NEEDS_REVIEW, ORDER_STATUS } from './search-attributes.ts';

/** What has to be known of an order to start its workflow: all of it stands on the row. */
export interface StartableOrder {
  readonly id: string;
  readonly gateway: string;
  readonly amount: Money;
  readonly expiresAt: string;
}

export interface PurchaseStart {
  readonly order: StartableOrder;
  /** The customer's wish. For a workflow that is lost: the last attempt as it stands on its row, whatever became of it. */
  readonly attempt: AttemptRequest;
  readonly settings: PurchaseSettings;
  readonly taskQueue?: string;
  /**
   * `once`: refused for ever after the first start, whatever became of it. `again`: refused only while the workflow runs;
   * for orders whose row says that they are open, by docs/decisions/0014-starting-again.md.
   */
  readonly mode: 'once' | 'again';
}

/** A worker that dies in the middle of a step is replaced after this; the default of 10 s keeps the customer waiting longer. */
const WORKFLOW_TASK_TIMEOUT = '5s';

/** The options of every start of a purchase workflow, whoever starts it: API, sweeper or rebuild. Data, no call. */
export function purchaseStartOptions({ order, attempt, settings, taskQueue = TASK_QUEUE, mode }: PurchaseStart) {
  const { id: orderId, gateway, expiresAt } = order;
  const input: PurchaseInput = { orderId, gateway, expiresAt, attempt, settings };
  return {
    workflowId: purchaseWorkflowId(orderId),
    taskQueue,
    args: [input] as [PurchaseInput],
    // With the default policy a second start after the workflow has closed would be a second purchase.
    workflowIdReusePolicy: mode === 'once' ? ('REJECT_DUPLICATE' as const) : ('ALLOW_DUPLICATE' as const),
    workflowIdConflictPolicy: 'FAIL' as const,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    typedSearchAttributes: [
      { key: ORDER_STATUS, value: 'processing' },
      { key: GATEWAY, value: gateway },
      { key: NEEDS_REVIEW, value: false },
    ],
    staticSummary: `${formatMoney(order.amount)} by ${gateway}, order ${orderId}`,
    staticDetails: `Charges the order once. It is payable until ${expiresAt}; this workflow stays open until it is paid or closed.`,
  };
}
