import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { type PurchaseSettings, REFUND_WORKFLOW } from '../workflows/messages.ts';
import { refundStartOptions, type StartableRefund } from '../workflows/refund-start.ts';
import { createTemporalCalls } from './temporal-calls.ts';

export interface RefundStarter {
  /**
   * Has the refund's one workflow carry it out. One that runs already is left alone.
   * @throws CodedError `temporal_unavailable`; the refund stands on its row, and the sweeper starts it later
   */
  start(refund: StartableRefund): Promise<void>;
  /** Resolves when no call is on its way any more; before that the connection must not be closed. */
  ended(): Promise<void>;
}

const CALL_TIMEOUT_MS = 5_000;

export function createRefundStarter(options: {
  readonly client: Client;
  readonly settings: PurchaseSettings;
  readonly taskQueue?: string;
}): RefundStarter {
  const { client, settings, taskQueue } = options;
  const calls = createTemporalCalls(client);
  const queue = taskQueue === undefined ? {} : { taskQueue };
  return {
    start: async (refund) => {
      const start = refundStartOptions({ refund, settings, mode: 'once', ...queue });
      try {
        await calls.make(CALL_TIMEOUT_MS, () => client.workflow.start(REFUND_WORKFLOW, start));
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    },
    ended: () => calls.ended(),
  };
}
