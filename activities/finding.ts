import { ApplicationFailure, activityInfo } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { Gateway } from '../domain/gateway.ts';
import type { GatewayOutcome } from '../domain/outcome.ts';
import type { AttemptRow, PurchaseRow } from '../store/orders/standing.ts';
import { STILL_UNKNOWN } from '../workflows/contracts.ts';

/** What one look at the gateway brought. `reason` is one sentence for the operator. */
export type Finding =
  | { readonly kind: 'news'; readonly outcome: GatewayOutcome; readonly reason: string }
  | { readonly kind: 'nothing' | 'unavailable' | 'needs_a_person'; readonly reason: string };

/** What is being found out about. */
export interface Subject {
  readonly row: PurchaseRow;
  readonly attempt: AttemptRow;
  readonly gateway: Gateway;
  readonly expiresAt: string;
  readonly time: Date;
}

export function nothing(reason: string): Finding {
  return { kind: 'nothing', reason };
}

/** What a gateway says when it answers: news, unless it does not know either. */
export function found(outcome: GatewayOutcome): Finding {
  return outcome.kind === 'unknown'
    ? nothing(`The gateway does not know the outcome itself: ${outcome.reason}.`)
    : { kind: 'news', outcome, reason: `The gateway says ${outcome.kind}.` };
}

/**
 * The end of an inquiry that found nothing: a benign failure that says when to try again. Temporal keeps the count, the last
 * failure and the next try in sight of the operator, and the history does not grow.
 */
export function stillUnknown({ reason }: Finding, nextInSeconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: STILL_UNKNOWN,
    message: `Inquiry ${activityInfo().attempt}: ${reason} Next in ${Math.round(nextInSeconds)} s.`,
    nextRetryDelay: Math.ceil(nextInSeconds * 1_000),
    category: ApplicationFailureCategory.BENIGN,
  });
}
