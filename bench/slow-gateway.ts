import { setTimeout as sleep } from 'node:timers/promises';
import type { Shop } from '../cli/tour/shop.ts';
import type { Database } from '../store/database.ts';
import { createOrders, payAndExpectPaid } from './purchases.ts';
import type { BenchGateway } from './stack.ts';

/** All the many come in one instant, then wait for their gateway, then are answered in one instant. */
export type Phase = 'arriving' | 'waiting' | 'leaving';

/** Milliseconds that orders at a healthy gateway took meanwhile, one after the other. */
export type SlowGatewayTimes = Readonly<Record<Phase, readonly number[]>>;

const SLOW_GATEWAY: BenchGateway = 'twenty-seconds';
const PAUSE_MS = 150;

/** Lets so many orders wait at a gateway that answers after 20 s, and pays others at a healthy one until they are answered. */
export async function measureBesideSlowGateway(
  shop: Shop,
  database: Database,
  many: number,
): Promise<SlowGatewayTimes> {
  const slow = await createOrders(shop, SLOW_GATEWAY, many);
  const times: Record<Phase, number[]> = { arriving: [], waiting: [], leaving: [] };
  let haveArrived = false;
  let areAnswered = false;
  const payments = Promise.all(slow.map((order) => payAndExpectPaid(shop, order))).finally(() => {
    areAnswered = true;
  });
  const lookAround = async (): Promise<boolean> => {
    const allWait = (await countWaiting(database)) === many;
    haveArrived ||= allWait;
    return allWait;
  };
  const measure = async (): Promise<void> => {
    while (!areAnswered) {
      const order = await shop.createOrder('at-once');
      const before = { allWait: await lookAround(), haveArrived };
      const began = performance.now();
      await payAndExpectPaid(shop, order);
      const milliseconds = performance.now() - began;
      const stillAll = await lookAround();
      if (!before.haveArrived) times.arriving.push(milliseconds);
      else times[before.allWait && stillAll ? 'waiting' : 'leaving'].push(milliseconds);
      await sleep(PAUSE_MS);
    }
  };
  await Promise.all([payments, measure()]);
  return times;
}

async function countWaiting(database: Database): Promise<number> {
  const { rows } = await database.query<{ readonly waiting: number }>(
    `select count(*) as waiting from payment_attempts where gateway = $1 and status in ('sent', 'unknown', 'pending')`,
    [SLOW_GATEWAY],
  );
  return rows[0]?.waiting ?? 0;
}
