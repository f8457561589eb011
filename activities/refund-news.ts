import type { Recorded } from '../store/records.ts';
import { listRefundsOfOrder } from '../store/refunds.ts';
import { nudgeRefund } from './refund.ts';
import type { Tools } from './tools.ts';

type StartTools = Pick<Tools, 'startRefund' | 'log'>;

/**
 * Starts the workflow of the refund that came with an over-payment. The refund stands on its row already, so a start that
 * fails costs time and nothing else: the sweeper finds it.
 */
export async function startRefundOf(tools: StartTools, orderId: string, recorded: Recorded): Promise<void> {
  if (recorded.kind !== 'over_paid') return;
  const { refundId, gateway } = recorded;
  await tools.startRefund({ refundId, orderId, gateway }).catch((cause: unknown) => {
    tools.log.warn({ refundId, err: cause }, 'The workflow of a refund could not be started; the sweeper will.');
  });
}

/**
 * Has every refund of an order that was not sent yet looked at now: one that came with an over-payment gets its workflow,
 * one that waits is told that what it waits for (a dispute, another refund) may be over.
 */
export async function stirRefunds(
  tools: StartTools & Pick<Tools, 'database' | 'nudgeRefund'>,
  orderId: string,
): Promise<void> {
  for (const { id: refundId, status, gateway } of await listRefundsOfOrder(tools.database, orderId)) {
    if (status !== 'requested') continue;
    const started = await tools.startRefund({ refundId, orderId, gateway }).catch(() => undefined);
    if (started === 'running') await nudgeRefund(tools, refundId);
  }
}
