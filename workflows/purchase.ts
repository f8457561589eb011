import { condition, sleep } from '@temporalio/workflow';
import { isClosed, isPayable } from '../domain/order.ts';
import { isToBeCancelled } from './cancel.ts';
import type { Standing } from './contracts.ts';
import { openDesk } from './desk.ts';
import { makeAttempts } from './make-attempts.ts';
import type { AttemptRequest, PurchaseInput, PurchaseResult } from './messages.ts';
import { createOperatorView } from './operator-view.ts';
import { isUnresolved, resolve } from './resolve.ts';
import { local } from './steps.ts';

const DAY_MS = 24 * 3_600_000;
const PAUSE_MS = 5_000;

/**
 * One order's payment life: from the first click on "pay" until it is paid or closed. Decides only; what is true stands on
 * the order's row, and each step can run again without doing its work twice.
 */
export async function purchase(input: PurchaseInput): Promise<PurchaseResult> {
  const { orderId } = input;
  const view = createOperatorView('processing');
  const desk = openDesk(input, view);

  let request: AttemptRequest | undefined = input.attempt;
  while (!isClosed(desk.standing.orderStatus)) {
    if (desk.hasEvents() || desk.hasCancel()) desk.standing = await desk.refresh();
    if (request !== undefined) desk.standing = await makeAttempts(input, request, view);
    request = undefined;
    const { orderStatus, attemptStatus, attemptNumber } = desk.standing;
    if (isUnresolved(desk.standing)) {
      await resolve(input, desk, view);
    } else if (isToBeCancelled(desk.standing)) {
      desk.standing = await local.cancel({ orderId });
    } else if (isPayable(orderStatus)) {
      view.show(desk.standing, 'Waits for the customer to try again, until the order expires.');
      request = await desk.nextRequest(Date.parse(input.expiresAt));
      if (request === undefined && !desk.hasEvents() && !desk.hasCancel()) desk.standing = await expireWhenDue(orderId);
    } else if (orderStatus === 'processing' && attemptStatus === 'not_processed') {
      // A claim that was refused would be refused again at once; without the pause this would spin.
      await condition(() => desk.hasNews(), PAUSE_MS);
      request = { ...input.attempt, attemptNumber: attemptNumber + 1 };
    } else if (!isClosed(orderStatus)) {
      view.show(desk.standing, 'Waits for news about the order.');
      await condition(() => desk.hasNews(), DAY_MS);
      desk.standing = await desk.refresh();
    }
  }
  while (desk.hasEvents()) desk.standing = await desk.refresh();
  view.show(desk.standing, 'Nothing: the order is closed.');
  await desk.close();
  const { orderStatus, attemptNumber, provenBy } = desk.standing;
  return { status: orderStatus, attempts: attemptNumber, provenBy };
}

/** Closes the unpaid order. Where this machine's clock and Temporal's disagree about the hour, it waits rather than spins. */
async function expireWhenDue(orderId: string): Promise<Standing> {
  const standing = await local.expire({ orderId });
  if (!isClosed(standing.orderStatus)) await sleep(PAUSE_MS);
  return standing;
}
