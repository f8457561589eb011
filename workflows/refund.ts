import {
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  isCancellation,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { secondsToNextInquiry } from '../domain/inquiry-schedule.ts';
import { isRefundSettled, type RefundObstacle } from '../domain/refund.ts';
import type { InquireRefundResult, RefundStanding } from './contracts.ts';
import { type RefundInput, type RefundResult, type RefundState, ROW_CHANGED_SIGNAL, STATE_QUERY } from './messages.ts';
import { localRefund, refundInquiries } from './steps.ts';

const rowChangedSignal = defineSignal(ROW_CHANGED_SIGNAL);
const stateQuery = defineQuery<RefundState>(STATE_QUERY);

/** How soon a refund that was not sent is tried again, by what is in its way; whoever removes the obstacle says so at once. */
const RETRY_SECONDS: Readonly<Record<RefundObstacle, readonly number[]>> = {
  approval: [6 * 3_600],
  dispute: [6 * 3_600],
  person: [6 * 3_600],
  another_refund: [2, 5, 15, 60],
};
const UNREACHABLE_RETRY_SECONDS = [1, 2, 5, 15, 30, 60, 300, 900, 3_600];
const REVIEW_SCHEDULE_SECONDS = [60, 3_600, 3 * 3_600, 6 * 3_600, 12 * 3_600, 24 * 3_600];
const REVIEW_REASON = 'The inquiry schedule is over and the outcome of the refund is still not known.';

/** What the workflow knows of the refund, and whether somebody has written to its row since it last looked. */
interface Desk {
  standing: RefundStanding;
  news: boolean;
}

/**
 * One refund, from the moment it may be sent until the gateway says how it ended. Decides only; what is true stands on the
 * refund's row, and each step can run again without doing its work twice.
 */
export async function refund(input: RefundInput): Promise<RefundResult> {
  const desk: Desk = { standing: { status: 'requested', waitsFor: null, inReview: false }, news: false };
  const noteNews = (): void => {
    desk.news = true;
  };
  setHandler(rowChangedSignal, noteNews, { description: 'The row has changed: look at it.' });
  setHandler(stateQuery, () => desk.standing, { description: 'How the refund stands and what it waits for.' });
  const { refundId, settings } = input;
  for (let tries = 0; !isRefundSettled(desk.standing.status); tries += 1) {
    desk.news = false;
    desk.standing = await localRefund.sendRefund({ refundId, handoverAfterMs: settings.handoverAfterMs });
    const { status } = desk.standing;
    if (isInDoubt(desk.standing)) await findOut(input, desk);
    else if (!isRefundSettled(status)) await waitToSend(desk, tries);
  }
  return { status: desk.standing.status };
}

function isInDoubt({ status }: RefundStanding): boolean {
  return status === 'sent' || status === 'pending' || status === 'unknown';
}

async function waitToSend(desk: Desk, tries: number): Promise<void> {
  const { waitsFor } = desk.standing;
  const steps = waitsFor === null ? UNREACHABLE_RETRY_SECONDS : RETRY_SECONDS[waitsFor];
  const seconds = steps[Math.min(tries, steps.length - 1)] ?? 60;
  setCurrentDetails(
    waitsFor === null
      ? `The gateway did not take it; nothing was refunded. Tries again in ${seconds} s.`
      : `Nothing was sent. Waits for: ${waitsFor.replaceAll('_', ' ')}.`,
  );
  await condition(() => desk.news, seconds * 1_000);
}

/** Asks the gateway by the schedule, then from the review pool, until somebody knows; never sends by itself. */
async function findOut(input: RefundInput, desk: Desk): Promise<void> {
  let scheduleSeconds = input.settings.inquiryScheduleSeconds;
  let began = Date.now();
  while (isInDoubt(desk.standing)) {
    setCurrentDetails('The refund was sent and nobody knows yet how it ended. Asks the gateway.');
    const wait = secondsToNextInquiry(scheduleSeconds, (Date.now() - began) / 1_000, true) ?? 0;
    if (wait > 0) await condition(() => desk.news, wait * 1_000);
    const secondsBefore = (Date.now() - began) / 1_000;
    const result = await inquire(input, desk, { scheduleSeconds, secondsBefore });
    desk.standing = result.standing;
    if (result.kind === 'changed') continue;
    const wasInReview = desk.standing.inReview;
    desk.standing = await localRefund.putRefundInReview({ refundId: input.refundId, reason: REVIEW_REASON });
    const left = began + (scheduleSeconds.at(-1) ?? 0) * 1_000 - Date.now();
    // A round that ended early, because only a person can tell, must not begin again at once.
    if (wasInReview && left > 0) await condition(() => desk.news, left);
    scheduleSeconds = REVIEW_SCHEDULE_SECONDS;
    began = Date.now();
  }
}

interface Round {
  readonly scheduleSeconds: readonly number[];
  readonly secondsBefore: number;
}

/** One inquiry, which retries inside Temporal; ended early when somebody else has written to the row. */
async function inquire({ refundId }: RefundInput, desk: Desk, round: Round): Promise<InquireRefundResult> {
  const look = async (): Promise<InquireRefundResult> => {
    desk.news = false;
    return { kind: 'changed', standing: await localRefund.lookAtRefund({ refundId }) };
  };
  if (desk.news) return look();
  const scope = new CancellationScope();
  let ended = false;
  const knownStatus = desk.standing.status;
  const asked = scope
    .run(() => refundInquiries.inquireRefund({ refundId, knownStatus, ...round }))
    .catch((failure: unknown) => {
      if (isCancellation(failure)) return undefined;
      throw failure;
    })
    .finally(() => {
      ended = true;
    });
  await condition(() => ended || desk.news);
  if (!ended) scope.cancel();
  return (await asked) ?? look();
}
