import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { purchaseWorkflowId, recoverWorkflowId } from '../workflows/ids.ts';
import { ASK_NOW_SIGNAL, RECOVER_WORKFLOW } from '../workflows/messages.ts';

/** See `Tools.askNow`. */
export function createAskNow(client: Client) {
  return async (orderId: string): Promise<boolean> => {
    try {
      await client.workflow.getHandle(purchaseWorkflowId(orderId)).signal(ASK_NOW_SIGNAL);
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  };
}

/** See `GatewayWatchParts.recover`. One that runs already goes through all waiting orders itself. */
export function createRecover(client: Client, taskQueue: string) {
  return async (gateway: string): Promise<void> => {
    try {
      await client.workflow.start(RECOVER_WORKFLOW, {
        workflowId: recoverWorkflowId(gateway),
        taskQueue,
        args: [{ gateway, after: null }],
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'FAIL',
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  };
}
