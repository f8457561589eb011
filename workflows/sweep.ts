import type { ResumeResult } from './contracts.ts';
import type { SweepReport } from './messages.ts';
import { sweeping } from './steps.ts';

const PAGE = 200;
/** Bounds one run and its history; the schedule comes again after minutes. */
const PAGES_MAX = 100;
const REFUNDS_MAX = 1_000;

/**
 * Looks for what nobody works on although somebody should, and brings it back. Started by a schedule, so that whatever ends a
 * workflow from outside (an operator's click, a lost namespace, a mistake of ours) costs minutes and never an order.
 */
export async function sweep(): Promise<SweepReport> {
  const orders = await sweepOrders();
  const refundsResumed = await sweeping.resumeRefunds({ limit: REFUNDS_MAX });
  const events = await sweepEvents();
  return { ...orders, refundsResumed, ...events, stuckDeliveries: await sweeping.countStuckDeliveries() };
}

async function sweepOrders(): Promise<Pick<SweepReport, 'looked' | 'resumed'>> {
  let after: string | null = null;
  let looked = 0;
  let resumed = 0;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const result: ResumeResult = await sweeping.resumeOrders({ after, limit: PAGE });
    looked += result.looked;
    resumed += result.resumed;
    after = result.next;
    if (after === null) break;
  }
  return { looked, resumed };
}

async function sweepEvents(): Promise<Pick<SweepReport, 'eventsApplied' | 'eventsPooled'>> {
  let eventsApplied = 0;
  let eventsPooled = 0;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { applied, pooled } = await sweeping.sweepInbox({ limit: PAGE });
    eventsApplied += applied;
    eventsPooled += pooled;
    if (applied < PAGE && pooled < PAGE) break;
  }
  return { eventsApplied, eventsPooled };
}
