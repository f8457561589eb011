import { CodedError } from '../domain/errors.ts';
import { isAnswerable, isClosed } from '../domain/order.ts';
import { nextGateway } from '../domain/routing.ts';
import type { Logger } from '../process/log.ts';
import { reach } from '../process/points.ts';
import type { Database } from '../store/database.ts';
import { findOpenOrder } from '../store/orders/open-orders.ts';
import type { Order } from '../store/orders/orders.ts';
import type { BreakerGate } from './breaker-gate.ts';
import type { ApiSettings } from './dependencies.ts';
import { readKnownOrder } from './known-order.ts';
import type { PayMetrics } from './observation.ts';
import { isPastExpiry, takesNewAttempt } from './order-answer.ts';
import type { OrderWatch } from './order-watch.ts';
import type { PurchaseStarter } from './purchases.ts';
import { returnAddress } from './return-link.ts';

export interface PayDependencies {
  readonly database: Database;
  readonly purchases: PurchaseStarter;
  readonly watch: OrderWatch;
  readonly metrics: PayMetrics;
  readonly breaker: BreakerGate;
  readonly settings: ApiSettings;
  readonly log: Logger;
}

export interface PayCommand {
  readonly orderId: string;
  /** From the payment token, which is verified already. */
  readonly attemptNumber: number;
  readonly paymentMethod: string;
  readonly returnUrl: string | null;
  readonly waitMs: number;
}

export interface PayResult {
  readonly order: Order;
  /** False: not known yet, ask again with the same token. */
  readonly answered: boolean;
}

/**
 * Makes, or joins, the attempt that the token names, and waits for its answer on the order's row. A charge can come of it only
 * through the order's one workflow and the unique row of the attempt; here nothing is decided that could make a second one.
 * @throws CodedError `order_not_found`, `order_expired`, `order_not_payable`, `payment_token_invalid`, `gateway_unavailable`,
 *   `temporal_unavailable`
 */
export async function pay(dependencies: PayDependencies, command: PayCommand): Promise<PayResult> {
  const { metrics, watch } = dependencies;
  const { attemptNumber } = command;
  const order = await readKnownOrder(dependencies.database, command.orderId);
  const isReady = (seen: Order): boolean => answers(seen, attemptNumber);

  if (isReady(order)) {
    metrics.count('already_final');
    return { order, answered: true };
  }
  let resumed: Promise<void> | undefined;
  if (attemptNumber <= order.currentAttempt) {
    metrics.count('joined');
    resumed = resumeIfLeft(dependencies, order);
  } else await startAttempt(dependencies, order, command);

  const seen = await watch.wait({ order, isReady, timeoutMs: command.waitMs });
  if (isReady(seen)) return { order: seen, answered: true };
  await resumed;
  return { order: seen, answered: false };
}

/**
 * An attempt that nobody has written about for a while may have lost its workflow (somebody ended it): whoever asks for the
 * answer brings it back, and need not wait for the sweeper. The attempt is never made again, only found out about.
 */
async function resumeIfLeft({ database, purchases, log }: PayDependencies, order: Order): Promise<void> {
  if (Date.now() - Date.parse(order.updatedAt) < LEFT_AFTER_MS) return;
  try {
    const open = await findOpenOrder(database, order.id);
    if (open === undefined) return;
    const way = await purchases.resume(open, open.attempt);
    if (way === 'resumed') log.warn({ orderId: order.id }, "An order's workflow was gone and has been started again.");
  } catch (cause) {
    log.warn({ orderId: order.id, err: cause }, 'It could not be seen to that the workflow of an order runs.');
  }
}

/** Longer than a worker's death or a gateway's slow answer leaves a row alone. */
const LEFT_AFTER_MS = 20_000;

/**
 * Does the row answer for this attempt? Between the start of a further attempt and its claim the row still shows how the one
 * before it ended, and that is no answer.
 */
function answers(order: Order, attemptNumber: number): boolean {
  return isClosed(order.status) || (order.currentAttempt >= attemptNumber && isAnswerable(order.status));
}

async function startAttempt(
  { database, purchases, metrics, breaker, settings }: PayDependencies,
  order: Order,
  { attemptNumber, paymentMethod, returnUrl }: PayCommand,
): Promise<void> {
  refuseUnlessStartable(order, attemptNumber);
  await breaker.admit(gatewayOfNext(order));
  await reach('start_due', order.id);
  const backTo = returnAddress(order, returnUrl, settings);
  const way = await purchases.pay(order, { attemptNumber, paymentMethod, returnUrl: backTo });
  metrics.count(way);
  if (way !== 'over') return;
  // The workflow may have ended in this very moment, with the order; then the row has the answer.
  const now = await readKnownOrder(database, order.id);
  if (!answers(now, attemptNumber)) {
    throw new CodedError(
      'order_not_payable',
      "The order's workflow ends again and again although the order is open; an operator has to look at it. Nothing was charged.",
    );
  }
}

/** Where the attempt will go; the claim decides by the same rule on the same rows. */
function gatewayOfNext({ gateway, fallbackGateways, lastAttempt, decline }: Order): string {
  const last = lastAttempt === null ? null : { ...lastAttempt, declineCode: decline?.code ?? null };
  return nextGateway([gateway, ...fallbackGateways], last);
}

function refuseUnlessStartable(order: Order, attemptNumber: number): void {
  const now = new Date();
  // Only a database that lost rows, say to an old backup, can be behind a token of ours; its next attempt may be a second charge.
  if (attemptNumber > order.currentAttempt + 1) {
    throw new CodedError('payment_token_invalid', undefined, { field: 'payment_token' });
  }
  if (isPastExpiry(order, now)) throw new CodedError('order_expired');
  if (!takesNewAttempt(order, now)) {
    throw new CodedError('order_not_payable', `The order is ${order.status} and takes no new payment attempt.`);
  }
}
