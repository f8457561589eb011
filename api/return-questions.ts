import type { Logger } from '../process/log.ts';
import type { Order } from '../store/orders/orders.ts';
import type { OrderWatch } from './order-watch.ts';
import type { PurchaseStarter } from './purchases.ts';

/** A customer looks at an empty page meanwhile, and the shop's own page can wait as well. */
const WAIT_MS = 6_000;
/** However often the link is opened, the gateway is asked about an order no sooner than this after the last time. */
const PAUSE_MS = 2_000;

export interface ReturnQuestions {
  /** Has the gateway asked about the order now, and waits a moment for its answer on the row. */
  findOut(order: Order): Promise<Order>;
}

/** What a customer's return sets going. Nothing here can pay or end an order; it only asks sooner. */
export function createReturnQuestions({
  watch,
  purchases,
  log,
}: {
  readonly watch: OrderWatch;
  readonly purchases: Pick<PurchaseStarter, 'askNow'>;
  readonly log: Logger;
}): ReturnQuestions {
  /** Asked within the last pause; whoever comes meanwhile waits for the same answer. */
  const asked = new Set<string>();
  const ask = (orderId: string): void => {
    if (asked.has(orderId)) return;
    asked.add(orderId);
    setTimeout(() => asked.delete(orderId), PAUSE_MS).unref();
    purchases.askNow(orderId).catch((cause: unknown) => {
      log.warn(
        { orderId, err: cause },
        'A customer came back and the workflow could not be told; it asks by its schedule.',
      );
    });
  };
  return {
    async findOut(order) {
      let seen = order;
      // The gateway may know no sooner than its customer, so it is asked again while the customer waits.
      for (let waited = 0; waited < WAIT_MS && isWaiting(seen); waited += PAUSE_MS) {
        ask(order.id);
        seen = await watch.wait({ order: seen, isReady: (now) => !isWaiting(now), timeoutMs: PAUSE_MS });
      }
      return seen;
    },
  };
}

function isWaiting({ status }: Order): boolean {
  return status === 'processing' || status === 'requires_action' || status === 'unknown';
}
