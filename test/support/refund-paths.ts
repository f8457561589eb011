import type { WorkflowHandle } from '@temporalio/client';
import { v7 as newId } from 'uuid';
import { money } from '../../domain/money.ts';
import type { GatewayOutcome } from '../../domain/outcome.ts';
import type { Database } from '../../store/database.ts';
import { inTransaction } from '../../store/database.ts';
import { recordDispute } from '../../store/refunds/disputes.ts';
import { requestRefund } from '../../store/refunds/refund-requests.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import { REFUND_WORKFLOW, ROW_CHANGED_SIGNAL } from '../../workflows/messages.ts';
import { refundStartOptions } from '../../workflows/refund-start.ts';
import type { PlayOptions, PlayOut, Stage } from './plays.ts';
import { CHARGES, createScriptedGateway, type ScriptedInquiry } from './scripted-gateway.ts';
import {
  REFUND_ANSWER_LOST,
  REFUND_NEVER_ARRIVES,
  REFUND_REFUSED,
  REFUND_UNREACHABLE,
  REFUNDS,
  type RefundingGateway,
  type ScriptedRefund,
  withRefunds,
} from './scripted-refunds.ts';
import { untilCommand } from './until-command.ts';

export interface PlayedRefund {
  readonly handle: WorkflowHandle;
  readonly refundId: string;
  readonly gateway: RefundingGateway;
}

export interface RefundScript {
  readonly refunds?: ScriptedRefund[];
  readonly inquiries?: ScriptedInquiry[];
  readonly unprotected?: boolean;
  readonly scheduleSeconds?: readonly number[];
  readonly handoverAfterMs?: number;
  readonly before?: (stage: Stage) => Promise<void>;
  readonly meanwhile?: (stage: Stage, played: PlayedRefund) => Promise<void>;
}

/** Pays an order of 10.00, asks for 4.00 back and plays the refund's workflow to its end. */
export async function playRefund(playOut: PlayOut, script: RefundScript, options?: PlayOptions): Promise<PlayedRefund> {
  const { refunds, inquiries, unprotected = false } = script;
  const gateway = withRefunds(createScriptedGateway({ charges: [CHARGES] }), {
    ...(refunds !== undefined && { refunds: [...refunds] }),
    ...(inquiries !== undefined && { inquiries: [...inquiries] }),
    ...(unprotected && { repeat: { by: 'nothing' } }),
  });
  let played: PlayedRefund | undefined;
  await playOut(gateway, options, async (stage) => {
    const { environment, database, purchase } = stage;
    await purchase.handle.result();
    const refundId = await askBack(database, purchase.orderId, new Date(await environment.currentTimeMs()));
    await script.before?.(stage);
    const { taskQueue } = await purchase.handle.describe();
    const { handoverAfterMs = 3_000, scheduleSeconds = [5, 15, 60, 180, 600] } = script;
    const settings = { handoverAfterMs, inquiryScheduleSeconds: scheduleSeconds };
    const refund = { refundId, orderId: purchase.orderId, gateway: gateway.name };
    const start = refundStartOptions({ refund, settings, taskQueue, mode: 'once' });
    const handle = await environment.client.workflow.start(REFUND_WORKFLOW, start);
    played = { handle, refundId, gateway };
    await script.meanwhile?.(stage, played);
    await handle.result();
  });
  if (played === undefined) throw new Error('The refund was not started');
  return played;
}

async function askBack(database: Database, orderId: string, now: Date): Promise<string> {
  const id = newId();
  await inTransaction(database, (transaction) =>
    requestRefund(transaction, {
      ...{ id, orderId, minorUnits: 400, currency: undefined, reason: null, requestedBy: 'api-key:1' },
      ...{ approvalLimits: {}, now: now.toISOString() },
    }),
  );
  return id;
}

async function dispute({ database, purchase }: Stage, status: 'opened' | 'won'): Promise<void> {
  const { orderId } = purchase;
  await recordDispute(database, {
    ...{ orderId, attemptNumber: 1, gateway: 'scripted', gatewayReference: `dp_${orderId}`, status },
    ...{ amount: money(1_000, 'EUR'), kind: 'webhook', detail: '{}', now: new Date().toISOString() },
  });
}

/** A refund that moves at once and whose answer comes when the test says so. */
function slowly(): { readonly refund: ScriptedRefund; readonly answer: () => void } {
  let answer: () => void = () => undefined;
  const told = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const answers = async (): Promise<GatewayOutcome> => {
    await told;
    return { kind: 'approved', amount: money(400, 'EUR'), raw: 'refunded' };
  };
  return { refund: { moves: true, answers }, answer: () => answer() };
}

const AWAY: ScriptedInquiry = { kind: 'unavailable', reason: 'connection refused' };

const PATHS_BY_SCRIPT: Readonly<Record<string, () => RefundScript>> = {
  refunded: () => ({}),
  'refund-refused': () => ({ refunds: [REFUND_REFUSED] }),
  'refund-answer-lost': () => ({ refunds: [REFUND_ANSWER_LOST] }),
  'refund-unreachable-then-made': () => ({ refunds: [REFUND_UNREACHABLE, REFUNDS] }),
  'refund-never-arrived-asked-and-sent-again': () => ({
    refunds: [REFUND_NEVER_ARRIVES, REFUNDS],
    unprotected: true,
  }),
  'refund-reviewed-then-found': () => ({
    refunds: [REFUND_ANSWER_LOST],
    inquiries: [AWAY],
    scheduleSeconds: [5, 15],
    meanwhile: async ({ environment, database }, { refundId, gateway, handle }) => {
      const isInReview = async () => (await findRefund(database, refundId))?.reviewReason != null;
      while (!(await isInReview())) await environment.sleep('5s');
      await untilCommand(handle, 'timer 60 s');
      gateway.answersToRefundInquiries.splice(0, 1, 'truth');
    },
  }),
  'refund-answered-after-handover': () => {
    const { refund, answer } = slowly();
    return {
      refunds: [refund],
      handoverAfterMs: 50,
      meanwhile: async (_, { handle }) => {
        await untilCommand(handle, 'timer 5 s');
        answer();
        await untilCommand(handle, 'signal rowChanged');
      },
    };
  },
  'refund-waits-for-a-dispute': () => ({
    before: (stage) => dispute(stage, 'opened'),
    meanwhile: async (stage, { handle }) => {
      await untilCommand(handle, 'timer 6 h');
      await dispute(stage, 'won');
      await handle.signal(ROW_CHANGED_SIGNAL);
    },
  }),
};

/** One way through the refund workflow each. */
export const REFUND_PATHS = Object.fromEntries(
  Object.entries(PATHS_BY_SCRIPT).map(([name, script]) => [
    name,
    async (playOut: PlayOut, options?: PlayOptions) => (await playRefund(playOut, script(), options)).handle,
  ]),
);
