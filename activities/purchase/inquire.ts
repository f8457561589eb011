import { secondsToNextInquiry } from '../../domain/inquiry-schedule.ts';
import { reach } from '../../process/points.ts';
import { recordNews } from '../../store/orders/records.ts';
import { type PurchaseRow, readPurchase } from '../../store/orders/standing.ts';
import type { InquireCommand, InquireResult } from '../../workflows/contracts.ts';
import { isOwnCallOver, secondsSinceScheduled } from '../clock.ts';
import { type Finding, stillUnknown } from '../finding.ts';
import { applyStoredEvents } from '../inbox/apply-events.ts';
import { startRefundOf } from '../refunds/refund-news.ts';
import type { Tools } from '../tools.ts';
import { endOfAction } from './close-reference.ts';
import { findOut } from './find-out.ts';
import { standingOf } from './standing.ts';

/**
 * Finds out how a sent attempt ended. Looks into the inbox and at the row first, because news may have come meanwhile; then asks.
 * While nothing is known it fails with `stillUnknown`.
 */
export async function inquire(tools: Tools, command: InquireCommand): Promise<InquireResult> {
  await applyStoredEvents(tools, command.orderId);
  const before = await readPurchase(tools.database, command.orderId);
  const changed = changeIn(before, command);
  if (changed !== undefined) return changed;

  const finding = await findOut(tools, before, command.expiresAt);
  await reach('inquiry_answered', command.orderId);
  await writeDown(tools, before, finding);
  const after = await readPurchase(tools.database, command.orderId);
  const news = changeIn(after, command);
  if (news !== undefined) return news;
  if (finding.kind === 'needs_a_person') return { kind: 'schedule_over', standing: standingOf(after) };

  const elapsed = command.secondsBefore + secondsSinceScheduled(await tools.clock());
  const wait = secondsToNextInquiry(command.scheduleSeconds, elapsed, finding.kind !== 'unavailable');
  if (wait === undefined) return { kind: 'schedule_over', standing: standingOf(after) };
  const next = Math.min(wait, await secondsToEndOfAction(tools, after, command.expiresAt));
  throw stillUnknown(finding, next);
}

function changeIn(row: PurchaseRow, { attemptNumber, knownStatus }: InquireCommand): InquireResult | undefined {
  const same = row.attemptNumber === attemptNumber && row.attempt !== null && row.attempt.status === knownStatus;
  return same ? undefined : { kind: 'changed', standing: standingOf(row) };
}

/** An action that the customer has left alone is closed when its time is over, and not when the schedule comes round to it. */
async function secondsToEndOfAction(tools: Tools, { attempt }: PurchaseRow, expiresAt: string): Promise<number> {
  if (attempt?.status !== 'requires_action') return Number.POSITIVE_INFINITY;
  const left = (endOfAction(tools, { attempt, expiresAt }) - (await tools.clock()).getTime()) / 1_000;
  return left > 0 ? left + 1 : Number.POSITIVE_INFINITY;
}

async function writeDown(tools: Tools, row: PurchaseRow, finding: Finding): Promise<void> {
  const { orderId, attemptNumber } = row;
  const time = await tools.clock();
  if (finding.kind === 'news') {
    const { outcome } = finding;
    const news = { orderId, attemptNumber, kind: 'inquiry', outcome, now: time.toISOString() } as const;
    await startRefundOf(tools, orderId, await recordNews(tools.database, news));
    return;
  }
  if (row.attempt?.status === 'sent' && isOwnCallOver(tools.gateways.get(row.gateway), row.attempt, time)) {
    const outcome = { kind: 'unknown', reason: `No answer to our own call. ${finding.reason}`, raw: '' } as const;
    await recordNews(tools.database, { orderId, attemptNumber, kind: 'inquiry', outcome, now: time.toISOString() });
  }
}
