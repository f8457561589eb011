import { listOpenOrders, type OpenOrder } from '../store/open-orders.ts';
import type { ResumeCommand, ResumeResult } from '../workflows/contracts.ts';
import type { Tools } from './tools.ts';

/** A row that has just moved has somebody who moves it; asking Temporal about it would be for nothing. */
const UNTOUCHED_SECONDS = 60;
const AT_ONCE = 10;

/**
 * Has Temporal start the workflow of each order of one page. Temporal itself says which ones run already, in the same step
 * that would start them, so that nobody can come between the look and the start.
 */
export async function resumeOrders(tools: Tools, { after, limit }: ResumeCommand): Promise<ResumeResult> {
  const time = await tools.clock();
  const untouchedSince = new Date(time.getTime() - UNTOUCHED_SECONDS * 1_000).toISOString();
  const orders = await listOpenOrders(tools.database, { after, untouchedSince, withFailed: false, limit });
  const resumed: string[] = [];
  const queue = orders.values();
  const lane = async (): Promise<void> => {
    for (const order of queue) if (await resumeOne(tools, order)) resumed.push(order.id);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const last = orders.at(-1);
  return {
    next: orders.length < limit || last === undefined ? null : last.id,
    looked: orders.length,
    resumed: resumed.length,
  };
}

async function resumeOne(tools: Tools, order: OpenOrder): Promise<boolean> {
  if ((await tools.resume(order)) === 'running') return false;
  tools.log.warn({ orderId: order.id }, "An order's workflow was gone and has been started again.");
  return true;
}
