import { refundWorkflowId, TASK_QUEUE } from './ids.ts';
import type { PurchaseSettings, RefundInput } from './messages.ts';
import { GATEWAY } from './search-attributes.ts';

/** What has to be known of a refund to start its workflow: all of it stands on the row. */
export interface StartableRefund {
  readonly refundId: string;
  readonly orderId: string;
  readonly gateway: string;
}

export interface RefundStart {
  readonly refund: StartableRefund;
  readonly settings: PurchaseSettings;
  readonly taskQueue?: string;
  /** See `PurchaseStart.mode`. */
  readonly mode: 'once' | 'again';
}

/** The options of every start of a refund's workflow, whoever starts it: API, worker or sweeper. Data, no call. */
export function refundStartOptions({ refund, settings, taskQueue = TASK_QUEUE, mode }: RefundStart) {
  const { refundId, orderId, gateway } = refund;
  const input: RefundInput = { refundId, orderId, settings };
  return {
    workflowId: refundWorkflowId(refundId),
    taskQueue,
    args: [input] as [RefundInput],
    // What makes it happen once is the mark on the refund's row; this only saves the second run.
    workflowIdReusePolicy: mode === 'once' ? ('REJECT_DUPLICATE' as const) : ('ALLOW_DUPLICATE' as const),
    workflowIdConflictPolicy: 'FAIL' as const,
    workflowTaskTimeout: '5s',
    typedSearchAttributes: [{ key: GATEWAY, value: gateway }],
    staticSummary: `Refund ${refundId} of order ${orderId} by ${gateway}`,
  };
}
