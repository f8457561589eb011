import { setTimeout as sleep } from 'node:timers/promises';
import type { Shop } from '../cli/tour/shop.ts';
import { timeAll } from './load.ts';
import { createOrders, payAndExpectPaid } from './purchases.ts';

/** The last workflow closes a moment after its answer; stopped in the middle, Temporal would only have to do it later. */
const CLOSING_MS = 300;

/**
 * Pays orders that are paid already, while Temporal's process is stopped by the operating system: a call to it, any call,
 * would wait for ever, so answers that come are the proof that none is made.
 */
export async function measureRepeatedPay(shop: Shop, temporal: number, repeats: number): Promise<readonly number[]> {
  const [order] = await createOrders(shop, 'at-once', 1);
  if (order === undefined) throw new Error('No order was created');
  await payAndExpectPaid(shop, order);
  await sleep(CLOSING_MS);
  process.kill(temporal, 'SIGSTOP');
  try {
    const { milliseconds } = await timeAll(Array.from({ length: repeats }), 1, () => payAndExpectPaid(shop, order));
    return milliseconds;
  } finally {
    process.kill(temporal, 'SIGCONT');
  }
}
