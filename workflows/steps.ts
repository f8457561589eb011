import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type {
  LocalActivities,
  LocalRefundActivities,
  RegularActivities,
  RegularRefundActivities,
} from './contracts.ts';

/**
 * Steps inside the workflow task: no queue and no extra round trip. Retried until they work, because each may run twice:
 * when Postgres is away the order simply waits. The time-out holds for one try and covers a hand-over of the charge.
 */
const SHORT_STEPS = {
  startToCloseTimeout: 30_000,
  retry: { initialInterval: 100, backoffCoefficient: 2, maximumInterval: 5_000 },
  localRetryThreshold: 10_000,
} as const;

export const local = proxyLocalActivities<LocalActivities>(SHORT_STEPS);
export const localRefund = proxyLocalActivities<LocalRefundActivities>(SHORT_STEPS);

/**
 * Asking the gateway. The retry policy here is for our own faults (Postgres away); while the outcome is unknown the
 * activity itself says when to come again. A worker that dies in the middle is noticed after the time-out.
 */
const INQUIRIES = {
  startToCloseTimeout: 30_000,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: 1_000, backoffCoefficient: 2, maximumInterval: 30_000 },
} as const;

export const inquiries = proxyActivities<Pick<RegularActivities, 'inquire'>>({
  ...INQUIRIES,
  summary: 'Ask the gateway how the attempt ended',
});

export const refundInquiries = proxyActivities<RegularRefundActivities>({
  ...INQUIRIES,
  summary: 'Ask the gateway how the refund ended',
});

export const housekeeping = proxyActivities<Pick<RegularActivities, 'expireUnpaidOrders'>>({
  startToCloseTimeout: 60_000,
  retry: { initialInterval: 1_000, maximumInterval: 60_000 },
  summary: 'Close orders that nobody paid in time',
});

type SweepingSteps = 'resumeOrders' | 'askWaitingOrders' | 'resumeRefunds' | 'sweepInbox' | 'countStuckDeliveries';

/** One page at a time; what a try that failed has done already is not done again, because what runs is not started. */
export const sweeping = proxyActivities<Pick<RegularActivities, SweepingSteps>>({
  startToCloseTimeout: 60_000,
  retry: { initialInterval: 1_000, maximumInterval: 30_000, maximumAttempts: 5 },
  summary: 'Bring back what waits longer than it has to',
});
