import { merchantReference } from '../../domain/merchant-reference.ts';
import { nextGateway } from '../../domain/routing.ts';
import type { Database } from '../../store/database.ts';
import { claimAttempt, takeOverClaim } from '../../store/orders/claims.ts';
import { failUnclaimable } from '../../store/orders/fail-unclaimable.ts';
import { readPurchase } from '../../store/orders/standing.ts';
import type { MakeAttemptCommand, Standing } from '../../workflows/contracts.ts';
import type { Tools } from '../tools.ts';
import { standingOf } from './standing.ts';

export type ClaimCommand = Pick<MakeAttemptCommand, 'orderId' | 'attempt' | 'run'>;

export type ClaimResult =
  /** The attempt is ours and was not sent yet: go on to charge. Also the answer when this very claim was made before. */
  | { readonly kind: 'claimed' }
  /** The attempt exists and is beyond the claim: never charge, find out how it stands. */
  | { readonly kind: 'already_sent'; readonly standing: Standing }
  /** No such attempt can be made: the order is closed or expired, or the number is not the next one. */
  | { readonly kind: 'refused'; readonly standing: Standing };

/**
 * Claims an attempt for this workflow. A claim that was committed before, and whose answer was lost with its worker, is
 * recognised by its run and counts as won; one that a vanished workflow left behind unsent is taken over.
 */
export async function claim({ database, clock }: Tools, { orderId, attempt, run }: ClaimCommand): Promise<ClaimResult> {
  const { attemptNumber, paymentMethod, returnUrl } = attempt;
  const time = (await clock()).toISOString();
  const reference = merchantReference(orderId, attemptNumber);
  const fresh = { orderId, attemptNumber, run, merchantReference: reference, paymentMethod, returnUrl, now: time };
  const route = attemptNumber === 1 ? {} : { gateway: await routeOf(database, orderId) };
  if (await claimAttempt(database, { ...fresh, ...route })) return { kind: 'claimed' };

  const row = await readPurchase(database, orderId);
  if (row.attempt === null || row.attemptNumber < attemptNumber) {
    await failUnclaimable(database, orderId, time);
    return { kind: 'refused', standing: standingOf(await readPurchase(database, orderId)) };
  }
  if (row.attemptNumber > attemptNumber || row.attempt.status !== 'claimed') {
    return { kind: 'already_sent', standing: standingOf(row) };
  }
  if (row.attempt.claimedByRun === run || (await takeOverClaim(database, fresh))) return { kind: 'claimed' };
  return { kind: 'already_sent', standing: standingOf(await readPurchase(database, orderId)) };
}

/**
 * Where a further attempt goes. Read before the claim, and still true when it succeeds: then the attempt before was settled,
 * and what is settled does not change. One that is settled in between is not yet so here, and keeps its gateway.
 */
async function routeOf(database: Database, orderId: string): Promise<string> {
  const { gateway, gateways, attempt } = await readPurchase(database, orderId);
  return nextGateway(gateways, attempt === null ? null : { ...attempt, gateway });
}
