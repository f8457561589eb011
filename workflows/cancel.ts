import { isPayable } from '../domain/order.ts';
import type { Standing } from './contracts.ts';

/**
 * Is there a wish to cancel that can be carried out now? Nothing of the order may be alive, and no person may have to look at it:
 * the reason may be money that came in for an attempt which counts as declined.
 */
export function isToBeCancelled({ orderStatus, attemptStatus, cancelRequested, needsReview }: Standing): boolean {
  if (cancelRequested !== true || needsReview) return false;
  return isPayable(orderStatus) || (orderStatus === 'processing' && attemptStatus === 'not_processed');
}
