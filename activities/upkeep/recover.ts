import { listWaitingOrders } from '../../store/gateway-health.ts';
import { findOpenOrder } from '../../store/orders/open-orders.ts';
import type { AskWaitingCommand, AskWaitingResult } from '../../workflows/contracts.ts';
import type { Tools } from '../tools.ts';
import { inLanes } from './lanes.ts';

/**
 * Tells the workflows of one page of waiting orders to ask the gateway now. One that is gone is started again, which asks as
 * well. Telling one twice costs a question and moves no money.
 */
export async function askWaitingOrders(tools: Tools, command: AskWaitingCommand): Promise<AskWaitingResult> {
  const orderIds = await listWaitingOrders(tools.database, command);
  await inLanes(orderIds, async (orderId) => {
    if (await tools.askNow(orderId)) return;
    const open = await findOpenOrder(tools.database, orderId);
    if (open !== undefined) await tools.resume(open);
  });
  const next = orderIds.length < command.limit ? null : (orderIds.at(-1) ?? null);
  return { next, told: orderIds.length };
}
