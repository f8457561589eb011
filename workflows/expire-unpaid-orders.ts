import { housekeeping } from './steps.ts';

const BATCH = 200;
/** Bounds one run; the schedule comes again after minutes. */
const BATCHES_MAX = 50;

/** Closes the orders that nobody ever tried to pay, and so have no workflow of their own. Started by a schedule. */
export async function expireUnpaidOrders(): Promise<number> {
  let closed = 0;
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    const inBatch = await housekeeping.expireUnpaidOrders({ limit: BATCH });
    closed += inBatch;
    if (inBatch < BATCH) break;
  }
  return closed;
}
