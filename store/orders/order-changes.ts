import pg from 'pg';
import type { DatabaseLog } from '../database.ts';
import type { Queryable } from '../queryable.ts';

const CHANNEL = 'order_changed';

/**
 * Tells every process that listens that the order's row has changed. Inside a transaction it is delivered with the commit,
 * or never: whoever is woken finds the new row.
 */
export async function notifyOrderChanged(transaction: Queryable, orderId: string): Promise<void> {
  await transaction.query('select pg_notify($1, $2)', [CHANNEL, orderId]);
}

export interface OrderChanges {
  /**
   * Resolves when the order changes, or after `timeoutMs` at the latest, and never rejects. A notification that came before
   * the call is not seen, and one sent while the connection was down is lost: so call it first, then read the row, then
   * await it, and read the row again at least once a second.
   */
  waitForChange(orderId: string, timeoutMs: number): Promise<void>;
  /** Resolves once the first connection listens, so that a start-up check can tell; never rejects, it is tried for ever. */
  readonly listening: Promise<void>;
  /** Wakes all who wait and closes the connection. */
  close(): Promise<void>;
}

export interface OrderChangesOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly log?: DatabaseLog;
}

const RECONNECT_PAUSE_MS_MIN = 100;
const RECONNECT_PAUSE_MS_MAX = 5_000;
const CONNECTION_TIMEOUT_MS = 5_000;

/**
 * Opens the one LISTEN connection of this process and keeps it open: a lost one is replaced, after pauses that grow to five
 * seconds. When it is back, all who wait are woken, because what happened meanwhile was not heard. Needs a direct connection:
 * a pooler that hands out connections per transaction does not pass notifications on.
 */
export function listenForOrderChanges(options: OrderChangesOptions): OrderChanges {
  const waiters = createWaiters();
  let closed = false;
  let client: pg.Client | undefined;
  let reconnect: NodeJS.Timeout | undefined;
  let announceListening: () => void = () => undefined;
  const listening = new Promise<void>((resolve) => {
    announceListening = resolve;
  });

  async function connect(pauseMs: number): Promise<void> {
    const candidate = new pg.Client({
      connectionString: options.url,
      application_name: options.applicationName,
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      // Nothing is ever sent on this connection, so only the operating system can notice that the other end has vanished.
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    client = candidate;
    let lost = false;
    const onLost = (error?: Error): void => {
      if (lost || closed) return;
      lost = true;
      options.log?.warn(
        { err: error, pauseMs },
        'the connection for order changes was lost; polling goes on meanwhile',
      );
      void candidate.end().catch(() => undefined);
      reconnect = setTimeout(() => void connect(Math.min(pauseMs * 2, RECONNECT_PAUSE_MS_MAX)), pauseMs);
    };
    candidate.on('error', onLost);
    candidate.on('end', () => onLost());
    candidate.on('notification', ({ payload }) => waiters.wake(payload));
    try {
      await candidate.connect();
      await candidate.query(`listen ${CHANNEL}`);
      pauseMs = RECONNECT_PAUSE_MS_MIN;
      announceListening();
      waiters.wakeAll();
    } catch (error) {
      onLost(error instanceof Error ? error : new Error(String(error)));
    }
  }

  void connect(RECONNECT_PAUSE_MS_MIN);
  return {
    waitForChange: waiters.wait,
    listening,
    close: async () => {
      closed = true;
      clearTimeout(reconnect);
      waiters.wakeAll();
      await client?.end();
    },
  };
}

interface Waiters {
  wait(orderId: string, timeoutMs: number): Promise<void>;
  wake(orderId: string | undefined): void;
  wakeAll(): void;
}

function createWaiters(): Waiters {
  const byOrder = new Map<string, Set<() => void>>();

  function wake(orderId: string | undefined): void {
    for (const resolve of byOrder.get(orderId ?? '') ?? []) resolve();
  }

  return {
    wait: (orderId, timeoutMs) =>
      new Promise((resolve) => {
        const waiting = byOrder.get(orderId) ?? new Set();
        byOrder.set(orderId, waiting);
        const done = (): void => {
          clearTimeout(timer);
          waiting.delete(done);
          if (waiting.size === 0 && byOrder.get(orderId) === waiting) byOrder.delete(orderId);
          resolve();
        };
        const timer = setTimeout(done, timeoutMs);
        waiting.add(done);
      }),
    wake,
    wakeAll: () => {
      for (const orderId of [...byOrder.keys()]) wake(orderId);
    },
  };
}
