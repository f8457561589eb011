import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import type { FaultInput } from '../../gateways/simulator/control.ts';
import { type PurchaseResult, SETTLE_UPDATE } from '../../workflows/messages.ts';
import { waitUntil } from './stack.ts';
import type { BuyOptions, Purchase } from './workbench.ts';

/** A way through the purchase workflow in a few seconds of real time, as it goes while nobody dies. */
export interface RestartPath {
  readonly what: string;
  readonly options: BuyOptions;
  /** What goes wrong at the gateway for this order. */
  readonly fault?: Omit<FaultInput, 'match'>;
  /** What the customer or an operator does before the end. */
  readonly meanwhile?: (purchase: Purchase) => Promise<void>;
  /** All steps, in their order. */
  readonly steps: readonly string[];
  readonly ends: Partial<PurchaseResult>;
  readonly charges: number;
}

/**
 * What the gateway is declared to need. The first inquiry finds no reference that a request could still bring; the second
 * one, after our own call's three seconds, does.
 */
export const RESTART_CAPABILITIES = { call_timeout_seconds: 3, absent_conclusive_after_seconds: 1, close: true };
const SCHEDULE = { scheduleSeconds: [0.3, 4.5, 9, 15, 20] };

const ATTEMPT = ['makeAttempt'];
const PAID = { status: 'paid', attempts: 1 } as const;
const DECISION = { outcome: 'paid', operator: 'operator@shop.example', reason: 'Seen on the bank statement of today.' };

export const RESTART_PATHS: readonly RestartPath[] = [
  {
    what: 'paid',
    options: { ...SCHEDULE, paymentMethods: ['tok_ok'] },
    steps: ATTEMPT,
    ends: PAID,
    charges: 1,
  },
  {
    what: 'answer lost',
    options: { ...SCHEDULE, paymentMethods: ['tok_lost_answer'] },
    steps: [...ATTEMPT, 'inquire'],
    ends: PAID,
    charges: 1,
  },
  {
    what: 'never arrived and sent again',
    options: { ...SCHEDULE, paymentMethods: ['tok_never_arrives'] },
    steps: [...ATTEMPT, 'inquire', 'inquire'],
    ends: PAID,
    charges: 1,
  },
  {
    what: 'declined, then paid by attempt 2',
    options: { ...SCHEDULE, paymentMethods: ['tok_declined', 'tok_ok'] },
    meanwhile: async (purchase) => {
      await waitUntil('the decline', async () => (await purchase.row()).orderStatus === 'failed');
      await purchase.payAgain(2);
    },
    steps: [...ATTEMPT, ...ATTEMPT],
    ends: { status: 'paid', attempts: 2 },
    charges: 1,
  },
  {
    what: 'not accepted, then tried again without the customer',
    options: { ...SCHEDULE, paymentMethods: ['tok_ok'] },
    fault: { fault: { kind: 'not_accepted' }, times: 1 },
    steps: [...ATTEMPT, ...ATTEMPT],
    ends: { status: 'paid', attempts: 2 },
    charges: 1,
  },
  {
    what: 'declined and expired',
    // Long enough for the claim of a worker that takes over on a busy machine.
    options: { ...SCHEDULE, paymentMethods: ['tok_declined'], expiresInMs: 7_000 },
    steps: [...ATTEMPT, 'expire'],
    ends: { status: 'expired', attempts: 1 },
    charges: 0,
  },
  {
    what: 'cancelled while the customer acts',
    // Asked when the wish comes, and closed once our own call's three seconds are over.
    options: { scheduleSeconds: [4, 9, 15, 20], paymentMethods: ['tok_action'] },
    meanwhile: async (purchase) => {
      await waitUntil('the action', async () => (await purchase.row()).orderStatus === 'requires_action');
      await purchase.cancel();
    },
    steps: [...ATTEMPT, 'look', 'inquire', 'inquire', 'cancel'],
    ends: { status: 'cancelled', attempts: 1 },
    charges: 0,
  },
  {
    what: 'reviewed and settled by an operator',
    options: { scheduleSeconds: [0.3, 2.5], paymentMethods: ['tok_lost_answer'] },
    fault: { fault: { kind: 'inquiry_unavailable' }, times: null },
    meanwhile: async (purchase) => {
      await waitUntil('the review', async () => (await purchase.row()).needsReview);
      await waitUntil('the decision', () => settle(purchase));
    },
    steps: [...ATTEMPT, 'inquire', 'inquire', 'putInReview', 'settle', 'look'],
    ends: { ...PAID, provenBy: 'operator_decision' },
    charges: 1,
  },
  {
    what: 'slow call handed over',
    options: { ...SCHEDULE, paymentMethods: ['tok_ok'], handoverAfterMs: 100 },
    fault: { fault: { kind: 'slow', seconds: 1.5 }, times: 1 },
    steps: [...ATTEMPT, 'inquire'],
    ends: PAID,
    charges: 1,
  },
];

/** Temporal turns updates away after a workflow task has failed twice, as it may when a worker dies: people click again. */
async function settle({ handle }: Purchase): Promise<boolean> {
  try {
    await handle.executeUpdate(SETTLE_UPDATE, { args: [DECISION] });
    return true;
  } catch (error) {
    if (isFailedPrecondition(error)) return false;
    throw error;
  }
}

function isFailedPrecondition(error: unknown): boolean {
  return error instanceof ServiceError && isGrpcServiceError(error.cause) && error.cause.code === 9;
}
