import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { refundWorkflowId } from '../workflows/ids.ts';
import { type PurchaseSettings, REFUND_WORKFLOW, ROW_CHANGED_SIGNAL } from '../workflows/messages.ts';
import { refundStartOptions, type StartableRefund } from '../workflows/refund-start.ts';

export interface StartRefundOptions {
  readonly client: Client;
  readonly settings: PurchaseSettings;
  readonly taskQueue?: string;
}

/** See `Tools.startRefund`. */
export function createStartRefund({ client, settings, taskQueue }: StartRefundOptions) {
  return async (refund: StartableRefund): Promise<'resumed' | 'running'> => {
    const queue = taskQueue === undefined ? {} : { taskQueue };
    try {
      await client.workflow.start(REFUND_WORKFLOW, refundStartOptions({ refund, settings, mode: 'again', ...queue }));
      return 'resumed';
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return 'running';
      throw error;
    }
  };
}

/** See `Tools.nudgeRefund`. */
export function createNudgeRefund(client: Client) {
  return (refundId: string): Promise<void> =>
    client.workflow.getHandle(refundWorkflowId(refundId)).signal(ROW_CHANGED_SIGNAL);
}
