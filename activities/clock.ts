import { activityInfo } from '@temporalio/activity';
import type { Gateway } from '../domain/gateway.ts';

/**
 * The time as the steps see it: this machine's clock, or Temporal's where that is ahead. In production the two agree; in the
 * time-skipping environment Temporal's clock runs ahead by days, and an absence that becomes conclusive after minutes
 * must be judged by the same clock that the schedule runs on.
 * @param at the workflow's time, which a local activity is given because it cannot ask Temporal's server
 */
export function now({ at }: { readonly at?: string } = {}): Date {
  const temporal = at === undefined ? activityInfo().currentAttemptScheduledTimestampMs : Date.parse(at);
  return new Date(Math.max(Date.now(), temporal));
}

export function secondsBetween(earlier: string, later: Date): number {
  return (later.getTime() - Date.parse(earlier)) / 1_000;
}

/** How long ago, by Temporal's clock, the activity was first scheduled: retries do not reset it. */
export function secondsSinceScheduled(): number {
  const { scheduledTimestampMs, currentAttemptScheduledTimestampMs } = activityInfo();
  return Math.max(0, (currentAttemptScheduledTimestampMs - scheduledTimestampMs) / 1_000);
}

/** Our own request must have ended by now, answered or not: its time-out has passed. */
export function isOwnCallOver(
  { capabilities }: Gateway,
  { lastSentAt }: { readonly lastSentAt: string | null },
  time: Date,
): boolean {
  return lastSentAt !== null && secondsBetween(lastSentAt, time) > capabilities.callTimeoutSeconds;
}
