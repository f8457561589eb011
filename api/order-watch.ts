import type { Database } from '../store/database.ts';
import type { OrderChanges } from '../store/orders/order-changes.ts';
import { findOrder, type Order } from '../store/orders/orders.ts';

/** A notification can be lost with its connection, so the row is read again at least this often. */
const POLL_MS = 1_000;

export interface WaitRequest {
  /** The order as it was last read. */
  readonly order: Order;
  readonly isReady: (order: Order) => boolean;
  readonly timeoutMs: number;
}

export interface OrderWatch {
  /** Resolves with the order as soon as `isReady` holds for it, or with how it was last seen when the time is over. */
  wait(request: WaitRequest): Promise<Order>;
  /** The process shuts down: nobody waits any longer, now or later. */
  end(): void;
}

interface Watched {
  readonly waiters: Set<Waiter>;
  /** Has the row read again at once, for somebody who has just come. */
  lookNow: () => void;
}

interface Waiter {
  see(order: Order): void;
  giveUp(): void;
  fail(error: unknown): void;
}

/**
 * However many requests wait for one order, its row is read once per change and once per second: fifty clicks on one order
 * must not become fifty times the questions.
 */
export function createOrderWatch(database: Database, orderChanges: Pick<OrderChanges, 'waitForChange'>): OrderWatch {
  const byOrder = new Map<string, Watched>();
  let ended = false;

  function join(orderId: string, waiter: Waiter): () => void {
    const known = byOrder.get(orderId);
    const watched: Watched = known ?? { waiters: new Set(), lookNow: () => undefined };
    watched.waiters.add(waiter);
    if (known === undefined) {
      byOrder.set(orderId, watched);
      follow(orderId, watched).catch((error: unknown) => {
        for (const waiting of [...watched.waiters]) waiting.fail(error);
      });
    } else {
      watched.lookNow();
    }
    return () => {
      watched.waiters.delete(waiter);
      // Nobody waits any more: lets the loop end.
      if (watched.waiters.size === 0) watched.lookNow();
    };
  }

  async function follow(orderId: string, watched: Watched): Promise<void> {
    try {
      while (watched.waiters.size > 0) {
        // Listen first, then read: a change between a reading and the listening after it would be seen a second late.
        const changed = orderChanges.waitForChange(orderId, POLL_MS);
        const asked = new Promise<void>((resolve) => {
          watched.lookNow = resolve;
        });
        const order = await findOrder(database, orderId);
        if (order !== undefined) for (const waiter of [...watched.waiters]) waiter.see(order);
        if (watched.waiters.size > 0) await Promise.race([changed, asked]);
      }
    } finally {
      // In the same moment as the loop ends, so that nobody joins one that follows no more.
      byOrder.delete(orderId);
    }
  }

  return {
    wait: (request) =>
      ended || request.timeoutMs <= 0 || request.isReady(request.order)
        ? Promise.resolve(request.order)
        : waitAmong(request, join),
    end: () => {
      ended = true;
      for (const { waiters } of byOrder.values()) for (const waiter of [...waiters]) waiter.giveUp();
    },
  };
}

function waitAmong(
  { order, isReady, timeoutMs }: WaitRequest,
  join: (orderId: string, waiter: Waiter) => () => void,
): Promise<Order> {
  return new Promise((resolve, reject) => {
    let seen = order;
    const giveUp = (): void => {
      clearTimeout(timer);
      leave();
      resolve(seen);
    };
    const timer = setTimeout(giveUp, timeoutMs);
    const leave = join(order.id, {
      see: (news) => {
        seen = news;
        if (isReady(news)) giveUp();
      },
      giveUp,
      fail: (error) => {
        clearTimeout(timer);
        leave();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    });
  });
}
