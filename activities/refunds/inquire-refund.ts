import { isAbsenceConclusive, mayRepeat } from '../../domain/after-unknown.ts';
import type { Gateway } from '../../domain/gateway.ts';
import { secondsToNextInquiry } from '../../domain/inquiry-schedule.ts';
import { markRefundSentAgain, readStoredRequest } from '../../store/refunds/refund-sends.ts';
import type { Refund } from '../../store/refunds/refunds.ts';
import type { InquireRefundCommand, InquireRefundResult } from '../../workflows/contracts.ts';
import { isOwnCallOver, secondsBetween, secondsSinceScheduled } from '../clock.ts';
import { type Finding, found, nothing, stillUnknown } from '../finding.ts';
import type { Tools } from '../tools.ts';
import {
  askAboutRefund,
  nudgeRefund,
  readRefund,
  recordRefund,
  refundStandingOf,
  sendAndRecordRefund,
} from './refund.ts';

/** How long a repeat may take before the activity leaves it to itself; the call goes on and records what comes. */
const REPEAT_HANDOVER_MS = 15_000;
/** A gateway that has lost so many is not helped by one more. */
const SENDS_MAX = 3;

/** Finds out how a sent refund ended, in the way of `inquire`: the row first, then the gateway, then a benign failure. */
export async function inquireRefund(tools: Tools, command: InquireRefundCommand): Promise<InquireRefundResult> {
  const before = await readRefund(tools, command.refundId);
  if (before.status !== command.knownStatus) return { kind: 'changed', standing: refundStandingOf(before) };
  const finding = await findOut(tools, before);
  await writeDown(tools, before, finding);
  const after = await readRefund(tools, command.refundId);
  if (after.status !== command.knownStatus) return { kind: 'changed', standing: refundStandingOf(after) };
  if (finding.kind === 'needs_a_person') return { kind: 'schedule_over', standing: refundStandingOf(after) };

  const elapsed = command.secondsBefore + secondsSinceScheduled(await tools.clock());
  const wait = secondsToNextInquiry(command.scheduleSeconds, elapsed, finding.kind !== 'unavailable');
  if (wait === undefined) return { kind: 'schedule_over', standing: refundStandingOf(after) };
  throw stillUnknown(finding, wait);
}

async function findOut(tools: Tools, refund: Refund): Promise<Finding> {
  const gateway = tools.gateways.get(refund.gateway);
  const answer = await askAboutRefund(tools, gateway, refund);
  switch (answer.kind) {
    case 'unavailable':
      return { kind: 'unavailable', reason: `The gateway did not answer the inquiry: ${answer.reason}.` };
    case 'found':
      return found(answer.outcome);
    case 'absent':
      return absent(tools, { gateway, refund, time: await tools.clock() }, answer.raw);
  }
}

interface Subject {
  readonly gateway: Gateway;
  readonly refund: Refund;
  readonly time: Date;
}

/**
 * "Not found" is not "failed". Once it is conclusive the same bytes go out again where the gateway recognises them; elsewhere
 * the refund counts as requested again, and is asked about once more before it is sent.
 */
async function absent(tools: Tools, subject: Subject, raw: string): Promise<Finding> {
  const { gateway, refund, time } = subject;
  if (refund.status === 'pending') return nothing('The gateway does not find a refund that it has told us of.');
  const repeatIsSafe = mayRepeat({
    capabilities: { ...gateway.capabilities, repeat: gateway.capabilities.refund?.repeat ?? { by: 'nothing' } },
    secondsSinceFirstSent: secondsBetween(refund.firstSentAt ?? '', time),
  });
  if (!isAbsent(subject, repeatIsSafe))
    return nothing('The gateway does not know the refund yet; a request may still be on its way.');
  if (refund.sends >= SENDS_MAX)
    return { kind: 'needs_a_person', reason: 'The gateway has lost this refund again and again.' };
  if (repeatIsSafe) return repeat(tools, subject);
  const reason = 'The gateway does not know the refund, and no request can be on its way any more.';
  return { kind: 'news', outcome: { kind: 'not_processed', declineCode: 'never_arrived', reason, raw }, reason };
}

/** Where absence proves nothing, a repeat that the gateway recognises finds out as well. */
function isAbsent({ gateway, refund, time }: Subject, repeatIsSafe: boolean): boolean {
  const { capabilities } = gateway;
  if (!isOwnCallOver(gateway, refund, time)) return false;
  if (capabilities.inquiry.absentConclusiveAfterSeconds === null) return repeatIsSafe;
  return isAbsenceConclusive({ capabilities, secondsSinceLastSent: secondsBetween(refund.lastSentAt ?? '', time) });
}

async function repeat(tools: Tools, { gateway, refund, time }: Subject): Promise<Finding> {
  const { id: refundId, refundReference, sends } = refund;
  const stored = await readStoredRequest(tools.database, refundId);
  if (stored === undefined) throw new Error(`Refund ${refundId} was sent without its request stored`);
  const again = { refundId, sendsBefore: sends, now: time.toISOString() };
  if (!(await markRefundSentAgain(tools.database, again)))
    return nothing('Another process is repeating the request, or a person looks at it.');
  const prepared = { refundReference, requestKey: stored.requestKey, body: stored.requestBody };
  await tools.calls.run(
    () => sendAndRecordRefund(tools, { gateway, prepared, refundId, permittedAt: time, isFirst: false }),
    REPEAT_HANDOVER_MS,
    () => nudgeRefund(tools, refundId),
  );
  return nothing('The same request was sent again, which the gateway cannot take for a second refund.');
}

async function writeDown(tools: Tools, refund: Refund, finding: Finding): Promise<void> {
  const { id: refundId, gateway } = refund;
  if (finding.kind === 'news') return recordRefund(tools, { refundId, kind: 'inquiry', outcome: finding.outcome });
  if (refund.status !== 'sent' || !isOwnCallOver(tools.gateways.get(gateway), refund, await tools.clock())) return;
  const outcome = { kind: 'unknown', reason: `No answer to our own call. ${finding.reason}`, raw: '' } as const;
  await recordRefund(tools, { refundId, kind: 'inquiry', outcome });
}
