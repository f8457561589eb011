import { activityInfo } from '@temporalio/activity';
import type { Gateway } from '../domain/gateway.ts';

export function secondsBetween(earlier: string, later: Date): number {
  return (later.getTime() - Date.parse(earlier)) / 1_000;
}

/** How long ago the activity was first scheduled: its retries do not reset it. */
export function secondsSinceScheduled(time: Date): number {
  return Math.max(0, (time.getTime() - activityInfo().scheduledTimestampMs) / 1_000);
}

/** Our own request must have ended by now, answered or not: its time-out has passed. */
export function isOwnCallOver(
  { capabilities }: Gateway,
  { lastSentAt }: { readonly lastSentAt: string | null },
  time: Date,
): boolean {
  return lastSentAt !== null && secondsBetween(lastSentAt, time) > capabilities.callTimeoutSeconds;
}
