import { ApplicationFailure } from '@temporalio/activity';
import type { GatewayOutcome } from '../../domain/outcome.ts';
import { carryOutCancel } from '../../store/orders/cancellation.ts';
import { expireOrder, listExpired } from '../../store/orders/expiry.ts';
import { recordNews } from '../../store/orders/records.ts';
import { putInReview as putOrderInReview } from '../../store/orders/reviews.ts';
import { type PurchaseRow, readPurchase } from '../../store/orders/standing.ts';
import { NOT_SETTLEABLE, type SettleCommand, type Standing } from '../../workflows/contracts.ts';
import type { OperatorDecision } from '../../workflows/messages.ts';
import type { Tools } from '../tools.ts';
import { readStanding, standingOf } from './standing.ts';

export async function expire(tools: Tools, { orderId }: { readonly orderId: string }): Promise<Standing> {
  await expireOrder(tools.database, orderId, (await tools.clock()).toISOString());
  return readStanding(tools, orderId);
}

export async function cancel(tools: Tools, { orderId }: { readonly orderId: string }): Promise<Standing> {
  await carryOutCancel(tools.database, orderId, (await tools.clock()).toISOString());
  return readStanding(tools, orderId);
}

export async function expireUnpaidOrders(
  { database, clock }: Tools,
  { limit }: { readonly limit: number },
): Promise<number> {
  const time = (await clock()).toISOString();
  const orderIds = await listExpired(database, time, limit);
  for (const orderId of orderIds) await expireOrder(database, orderId, time);
  return orderIds.length;
}

export async function putInReview(
  tools: Tools,
  { orderId, reason }: { readonly orderId: string; readonly reason: string },
): Promise<Standing> {
  await putOrderInReview(tools.database, { orderId, reason, now: (await tools.clock()).toISOString() });
  return readStanding(tools, orderId);
}

/**
 * Settles an unknown order by an operator's word, which becomes its evidence. Anybody else who settled it first wins; the
 * same decision, executed again or twice at once, counts as made.
 * @throws ApplicationFailure `NotSettleable` when the order is not unknown (any more)
 */
export async function settle(tools: Tools, { orderId, decision }: SettleCommand): Promise<Standing> {
  const before = await readPurchase(tools.database, orderId);
  const recorded = await recordNews(tools.database, {
    orderId,
    attemptNumber: before.attemptNumber,
    kind: 'operator_decision',
    outcome: outcomeOf(decision, before),
    now: (await tools.clock()).toISOString(),
    onlyWhile: 'unknown',
  });
  const after = await readPurchase(tools.database, orderId);
  const isMade = after.orderStatus === decision.outcome && after.provenBy === 'operator_decision';
  if (recorded.kind === 'not_now' && !isMade) {
    throw ApplicationFailure.nonRetryable(
      `The order is ${recorded.orderStatus}, not unknown: there is nothing to settle.`,
      NOT_SETTLEABLE,
    );
  }
  return standingOf(after);
}

function outcomeOf({ outcome, operator, reason }: OperatorDecision, { amount }: PurchaseRow): GatewayOutcome {
  const raw = JSON.stringify({ operator, reason });
  if (outcome === 'paid') return { kind: 'approved', amount, raw };
  return { kind: 'declined', decline: { code: 'settled_by_operator', retriable: true }, raw };
}
