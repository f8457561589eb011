import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { applyEventWorkflowId, purchaseWorkflowId, TASK_QUEUE } from '../workflows/ids.ts';
import { APPLY_EVENT_WORKFLOW, EVENT_STORED_SIGNAL } from '../workflows/messages.ts';
import { createTemporalCalls } from './temporal-calls.ts';

/** Has stored events of gateways applied. Nothing is lost when it fails: inquiries and the sweeper look for them too. */
export interface EventTeller {
  /**
   * Tells the order's workflow that an event waits, or starts a short workflow that applies it when no such workflow runs:
   * before the first pay, and after the order's end.
   * @throws CodedError `temporal_unavailable`
   */
  tell(event: { readonly id: string; readonly orderId: string }): Promise<void>;
  /** Resolves when no call is on its way any more; before that the connection must not be closed. */
  ended(): Promise<void>;
}

const CALL_TIMEOUT_MS = 5_000;

export function createEventTeller(client: Client, taskQueue: string = TASK_QUEUE): EventTeller {
  const calls = createTemporalCalls(client);
  return {
    async tell({ id, orderId }) {
      try {
        const handle = client.workflow.getHandle(purchaseWorkflowId(orderId));
        await calls.make(CALL_TIMEOUT_MS, () => handle.signal(EVENT_STORED_SIGNAL));
        return;
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
      const options = {
        workflowId: applyEventWorkflowId(id),
        taskQueue,
        args: [{ inboxEventId: id }],
        // Applying is marked on the event's row, so a second run does nothing; a replay needs one.
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy: 'FAIL',
        staticSummary: `Applies a gateway's event to order ${orderId}`,
      } as const;
      try {
        await calls.make(CALL_TIMEOUT_MS, () => client.workflow.start(APPLY_EVENT_WORKFLOW, options));
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },
    ended: () => calls.ended(),
  };
}
