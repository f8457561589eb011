import { listStuckDeliveries } from '../../store/deliveries/deliveries.ts';
import { listOpenOrders, type OpenOrder } from '../../store/orders/open-orders.ts';
import { listRefundsInFlight } from '../../store/refunds/refunds.ts';
import type { ResumeCommand, ResumeResult } from '../../workflows/contracts.ts';
import type { Tools } from '../tools.ts';
import { inLanes } from './lanes.ts';

/** A row that has just moved has somebody who moves it; asking Temporal about it would be for nothing. */
const UNTOUCHED_SECONDS = 60;

type ResumeTools = Pick<Tools, 'database' | 'clock' | 'resume' | 'log'>;

export interface ResumePage extends ResumeCommand {
  readonly untouchedSeconds: number;
  /** See `OpenOrderPage`. */
  readonly withFailed: boolean;
}

/** What the sweeper does, a page at a time: orders in flight only, because nothing is lost where only a wish is waited for. */
export function resumeOrders(tools: ResumeTools, command: ResumeCommand): Promise<ResumeResult> {
  return resumePage(tools, { ...command, untouchedSeconds: UNTOUCHED_SECONDS, withFailed: false });
}

/**
 * Has Temporal start the workflow of each order of one page. Temporal itself says which ones run already, in the same step
 * that would start them, so that nobody can come between the look and the start.
 */
export async function resumePage(tools: ResumeTools, page: ResumePage): Promise<ResumeResult> {
  const { after, limit, withFailed } = page;
  const time = await tools.clock();
  const untouchedSince = new Date(time.getTime() - page.untouchedSeconds * 1_000).toISOString();
  const orders = await listOpenOrders(tools.database, { after, untouchedSince, withFailed, limit });
  const resumed: string[] = [];
  await inLanes(orders, async (order) => {
    if (await resumeOne(tools, order)) resumed.push(order.id);
  });
  const last = orders.at(-1);
  const next = orders.length < limit || last === undefined ? null : last.id;
  return { next, looked: orders.length, resumed: resumed.length };
}

/** The same for refunds, oldest first; few are ever in flight, so there are no pages. */
export async function resumeRefunds(tools: Tools, { limit }: { readonly limit: number }): Promise<number> {
  const untouchedSince = new Date((await tools.clock()).getTime() - UNTOUCHED_SECONDS * 1_000).toISOString();
  let resumed = 0;
  await inLanes(await listRefundsInFlight(tools.database, { untouchedSince, limit }), async (refund) => {
    if ((await tools.startRefund(refund)) === 'resumed') resumed += 1;
  });
  return resumed;
}

/** Overdue by this much, and it seems that no worker delivers. */
const OVERDUE_SECONDS = 15 * 60;
const STUCK_MAX = 1_000;

/** Events for merchants are delivered by the workers' own loop, which nothing here can do better; a person has to know. */
export async function countStuckDeliveries({ database, clock, log }: Tools): Promise<number> {
  const overdueSince = new Date((await clock()).getTime() - OVERDUE_SECONDS * 1_000).toISOString();
  const { length } = await listStuckDeliveries(database, { overdueSince, limit: STUCK_MAX });
  if (length > 0) log.warn({ deliveries: length }, 'Events for merchants are overdue or were given up.');
  return length;
}

async function resumeOne(tools: ResumeTools, order: OpenOrder): Promise<boolean> {
  if ((await tools.resume(order)) === 'running') return false;
  tools.log.warn({ orderId: order.id }, "An order's workflow was gone and has been started again.");
  return true;
}
