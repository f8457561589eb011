import type { InboxEventState } from '../../domain/gateway-event.ts';
import { constraintOf, isTransactionConflict, isUnavailable } from '../../store/database.ts';
import { applyInboxEvent } from '../../store/inbox/apply-event.ts';
import { findInboxEvent } from '../../store/inbox/inbox-events.ts';
import {
  listStoredEvents,
  listUnappliedEvents,
  matchInboxEvents,
  poolUnmatchedEvents,
  setEventAside,
} from '../../store/inbox/inbox-upkeep.ts';
import type { Standing, SweepInboxCommand, SweepInboxResult } from '../../workflows/contracts.ts';
import { readStanding } from '../purchase/standing.ts';
import { listWaitingRefunds, stirRefunds } from '../refunds/refund-news.ts';
import type { Tools } from '../tools.ts';

const MATCHES_MAX = 100;
/** Whoever stored an event tells its order at once; what is older than this was not told, or nobody took the word. */
const UNTOLD_SECONDS = 60;
const POOLED_AFTER_SECONDS = 24 * 3_600;

type InboxTools = Pick<Tools, 'database' | 'clock' | 'nudge' | 'startRefund' | 'nudgeRefund' | 'log'>;

/** Applies what waits for the order, in the order in which it came, and tells how the order stands then. */
export async function applyEvents(tools: Tools, { orderId }: { readonly orderId: string }): Promise<Standing> {
  await applyStoredEvents(tools, orderId);
  return readStanding(tools, orderId);
}

/** Also for an inquiry, which looks here before it asks: an event may be stored that nobody was told of. */
export async function applyStoredEvents(tools: InboxTools, orderId: string): Promise<void> {
  await matchInboxEvents(tools.database, { orderId, limit: MATCHES_MAX });
  const stored = await listStoredEvents(tools.database, orderId);
  if (stored.length === 0) return;
  const waiting = await listWaitingRefunds(tools, orderId);
  for (const id of stored) await applyOne(tools, id);
  await stirRefunds(tools, orderId, waiting);
}

/** Applies one event, for which no purchase workflow was found. Should one run by now, it is told to look. */
export async function applyEvent(
  tools: InboxTools,
  { inboxEventId: id }: { readonly inboxEventId: string },
): Promise<InboxEventState> {
  const before = await findInboxEvent(tools.database, id);
  if (before === undefined) throw new Error(`There is no inbox event ${id}`);
  const { orderId } = before;
  const waiting = orderId === null ? [] : await listWaitingRefunds(tools, orderId);
  await applyOne(tools, id);
  if (orderId !== null) {
    await tools.nudge(orderId).catch(() => undefined);
    await stirRefunds(tools, orderId, waiting);
  }
  return (await findInboxEvent(tools.database, id))?.state ?? before.state;
}

/**
 * What the sweeper does for the inbox: applies what nobody was told of, gives what found no order another look, and puts
 * what has found none for a day before a person.
 */
export async function sweepInbox(tools: InboxTools, { limit }: SweepInboxCommand): Promise<SweepInboxResult> {
  const { database } = tools;
  const time = (await tools.clock()).getTime();
  const ago = (seconds: number): string => new Date(time - seconds * 1_000).toISOString();
  const matched = await matchInboxEvents(database, { limit });
  const pooled = await poolUnmatchedEvents(database, { before: ago(POOLED_AFTER_SECONDS), limit });
  const unapplied = await listUnappliedEvents(database, { before: ago(UNTOLD_SECONDS), limit });
  for (const { id } of unapplied) await applyEvent(tools, { inboxEventId: id });
  return { matched, pooled, applied: unapplied.length };
}

/** An event that cannot be applied must not keep its order from going on: it is set aside, where a person sees it. */
async function applyOne(tools: InboxTools, id: string): Promise<void> {
  try {
    await applyInboxEvent(tools.database, { id, now: (await tools.clock()).toISOString() });
  } catch (cause) {
    if (isUnavailable(cause) || isTransactionConflict(cause)) throw cause;
    tools.log.error({ inboxEventId: id, err: cause }, 'An event of a gateway could not be applied and is set aside.');
    const remark = `Applying it failed (${constraintOf(cause) ?? 'no constraint'}); the log of the worker says more.`;
    await setEventAside(tools.database, { id, remark });
  }
}
