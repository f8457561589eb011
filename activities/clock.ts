import { activityInfo } from '@temporalio/activity';
import type { Gateway } from '../domain/gateway.ts';

export function secondsBetween(earlier: string, later: Date): number {
  return (later.getTime() - Date.parse(earlier)) / 1_000;
}

/** How long ago the activity was first scheduled: its retries do not reset it. */
export function secondsSinceScheduled(time: Date): number {
  return Math.max(0, (time.getTime() - activityInfo().scheduledTimestampMs) / 1_000);
}

/**
 * What is left of a call's time-out, in milliseconds, counted from its permission: by the end of it others count the request
 * as dead and may act on that, so a process that stood still meanwhile (a stopped container, a suspended laptop) has to be done
 * by then all the same. Zero or less: it must not send any more.
 */
export function timeLeftOfCall({ capabilities }: Gateway, permittedAt: Date, now: Date): number {
  const timeoutMs = capabilities.callTimeoutSeconds * 1_000;
  return Math.min(timeoutMs, timeoutMs - (now.getTime() - permittedAt.getTime()));
}

/** Our own request must have ended by now, answered or not: its time-out has passed. */
export function isOwnCallOver(
  { capabilities }: Gateway,
  { lastSentAt }: { readonly lastSentAt: string | null },
  time: Date,
): boolean {
  return lastSentAt !== null && secondsBetween(lastSentAt, time) > capabilities.callTimeoutSeconds;
}
