import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import type { AttemptStatus } from '../domain/attempt.ts';
import { secondsToNextInquiry } from '../domain/inquiry-schedule.ts';
import type { InquireResult, Standing } from './contracts.ts';
import type { Desk } from './desk.ts';
import type { PurchaseInput } from './messages.ts';
import type { OperatorView } from './operator-view.ts';
import { inquiries, local } from './steps.ts';

type UnresolvedStatus = Exclude<AttemptStatus, 'approved' | 'declined' | 'not_processed'>;

const WAITS_FOR: Readonly<Record<UnresolvedStatus, string>> = {
  claimed: 'Waits for the first request to the gateway.',
  sent: 'The request is out. Waits for its answer and asks the gateway.',
  pending: 'The gateway is still working on the payment. Asks again.',
  unknown: 'Nobody knows yet whether the money moved. Asks the gateway.',
  requires_action: 'Waits for the customer to confirm at the gateway. Asks again.',
};

const REVIEW_REASON = 'The inquiry schedule is over and the outcome of the attempt is still not known.';
const IN_REVIEW =
  'A person has to find out what happened: use the update "settle". Still asks the gateway, a few times a day.';
/** Again and again from the review pool; a gateway that was only away is found back as soon as before. */
const REVIEW_SCHEDULE_SECONDS = [60, 3_600, 3 * 3_600, 6 * 3_600, 12 * 3_600, 24 * 3_600];

/** Whether the last attempt still waits for its outcome. */
export function isUnresolved({ attemptStatus }: Standing): boolean {
  return attemptStatus !== null && attemptStatus in WAITS_FOR;
}

/** Which offsets the inquiries follow, and since when they count. */
interface Round {
  readonly scheduleSeconds: readonly number[];
  readonly began: number;
}

/**
 * Finds out how a sent attempt ended, for as long as it takes: by the schedule for a day, then from the review pool, where
 * the order stays locked against a new charge and is asked about a few times a day. Returns only when somebody knows.
 */
export async function resolve(input: PurchaseInput, desk: Desk, view: OperatorView): Promise<void> {
  let round: Round = { scheduleSeconds: input.settings.inquiryScheduleSeconds, began: Date.now() };
  while (isUnresolved(desk.standing)) {
    const { attemptStatus, needsReview } = desk.standing;
    view.show(desk.standing, needsReview ? IN_REVIEW : WAITS_FOR[attemptStatus as UnresolvedStatus]);
    await waitForNextInquiry(round, desk);
    const result = await inquire(input, round, desk);
    desk.standing = result.standing;
    if (result.kind === 'changed' || !isUnresolved(desk.standing)) continue;
    desk.standing = await local.putInReview({ orderId: input.orderId, reason: REVIEW_REASON });
    if (needsReview) await waitForEndOf(round, desk);
    round = { scheduleSeconds: REVIEW_SCHEDULE_SECONDS, began: Date.now() };
  }
}

/** Whoever begins to ask, or has just been told something, waits for the next time in the schedule. */
async function waitForNextInquiry({ scheduleSeconds, began }: Round, desk: Desk): Promise<void> {
  const elapsed = (Date.now() - began) / 1_000;
  const wait = secondsToNextInquiry(scheduleSeconds, elapsed, true) ?? 0;
  if (wait > 0) await condition(() => desk.isCalled(), wait * 1_000);
}

/** A round of the review that ended early, because only a person can tell, must not begin again at once. */
async function waitForEndOf({ scheduleSeconds, began }: Round, desk: Desk): Promise<void> {
  const left = began + (scheduleSeconds.at(-1) ?? 0) * 1_000 - Date.now();
  if (left > 0) await condition(() => desk.isCalled(), left);
}

/** One inquiry activity, which retries inside Temporal; begun anew when the gateway should be asked sooner than it would. */
async function inquire(input: PurchaseInput, round: Round, desk: Desk): Promise<InquireResult> {
  while (!desk.takeNews()) {
    desk.takeCall();
    const result = await askUntilCalled(input, round, desk);
    if (result !== undefined) return result;
  }
  return { kind: 'changed', standing: await desk.refresh() };
}

/** Undefined when the question was given up because somebody else has written to the row, or calls for a new one. */
async function askUntilCalled(input: PurchaseInput, round: Round, desk: Desk): Promise<InquireResult | undefined> {
  const scope = new CancellationScope();
  let ended = false;
  const asked = scope
    .run(() => startInquiry(input, round, desk.standing))
    .catch((failure: unknown) => {
      if (isCancellation(failure)) return undefined;
      throw failure;
    })
    .finally(() => {
      ended = true;
    });
  await condition(() => ended || desk.isCalled());
  if (!ended) scope.cancel();
  return asked;
}

function startInquiry(
  { orderId, expiresAt }: PurchaseInput,
  { scheduleSeconds, began }: Round,
  standing: Standing,
): Promise<InquireResult> {
  const { attemptNumber, attemptStatus: knownStatus } = standing;
  const secondsBefore = (Date.now() - began) / 1_000;
  return inquiries.inquire({ orderId, attemptNumber, scheduleSeconds, secondsBefore, knownStatus, expiresAt });
}
