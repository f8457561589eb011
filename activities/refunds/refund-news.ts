import type { RefundStatus } from '../../domain/refund.ts';
import type { Recorded } from '../../store/orders/records.ts';
import { listRefundsOfOrder } from '../../store/refunds/refunds.ts';
import type { Tools } from '../tools.ts';
import { nudgeRefund } from './refund.ts';

type StartTools = Pick<Tools, 'startRefund' | 'log'>;

const WAITS_FOR_AN_END: ReadonlySet<RefundStatus> = new Set(['sent', 'pending', 'unknown']);

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

/** The refunds of an order whose workflows wait to hear how they ended. */
export async function listWaitingRefunds({ database }: Pick<Tools, 'database'>, orderId: string): Promise<string[]> {
  const refunds = await listRefundsOfOrder(database, orderId);
  return refunds.filter(({ status }) => WAITS_FOR_AN_END.has(status)).map(({ id }) => id);
}

/**
 * Has every refund of an order that was not sent yet looked at now: one that came with an over-payment gets its workflow,
 * one that waits is told that what it waits for (a dispute, another refund) may be over. Those that waited for their end
 * before an event was applied are told that it may have come; should nobody tell them, their next inquiry sees the row.
 */
export async function stirRefunds(
  tools: StartTools & Pick<Tools, 'database' | 'nudgeRefund'>,
  orderId: string,
  waiting: readonly string[],
): Promise<void> {
  for (const refundId of waiting) await nudgeRefund(tools, refundId);
  for (const { id: refundId, status, gateway } of await listRefundsOfOrder(tools.database, orderId)) {
    if (status !== 'requested') continue;
    const started = await tools.startRefund({ refundId, orderId, gateway }).catch(() => undefined);
    if (started === 'running') await nudgeRefund(tools, refundId);
  }
}
