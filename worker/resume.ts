import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { OpenOrder } from '../store/orders/open-orders.ts';
import { PURCHASE_WORKFLOW, type PurchaseSettings } from '../workflows/messages.ts';
import { purchaseStartOptions } from '../workflows/purchase-start.ts';

export interface ResumeOptions {
  readonly client: Client;
  readonly settings: PurchaseSettings;
  readonly taskQueue?: string;
}

/** See `Tools.resume`. */
export function createResume({ client, settings, taskQueue }: ResumeOptions) {
  return async (order: OpenOrder): Promise<'resumed' | 'running'> => {
    const queue = taskQueue === undefined ? {} : { taskQueue };
    const options = purchaseStartOptions({ order, attempt: order.attempt, settings, mode: 'again', ...queue });
    try {
      await client.workflow.start(PURCHASE_WORKFLOW, options);
      return 'resumed';
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return 'running';
      throw error;
    }
  };
}
