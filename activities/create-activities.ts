import type {
  LocalActivities,
  LocalRefundActivities,
  RegularActivities,
  RegularRefundActivities,
} from '../workflows/contracts.ts';
import { applyEvent, applyEvents, sweepInbox } from './inbox/apply-events.ts';
import { cancel, expire, expireUnpaidOrders, putInReview, settle } from './purchase/close.ts';
import { inquire } from './purchase/inquire.ts';
import { makeAttempt } from './purchase/make-attempt.ts';
import { readStanding } from './purchase/standing.ts';
import { inquireRefund } from './refunds/inquire-refund.ts';
import { lookAtRefund, putRefundInReview, sendRefund } from './refunds/refund.ts';
import type { Tools } from './tools.ts';
import { askWaitingOrders } from './upkeep/recover.ts';
import { countStuckDeliveries, resumeOrders, resumeRefunds } from './upkeep/sweep.ts';

type AllActivities = LocalActivities & LocalRefundActivities & RegularActivities & RegularRefundActivities;

/** Binds the steps to their tools: what a worker registers. The type is the workflows' contract, whole. */
export function createActivities(tools: Tools): AllActivities {
  return {
    makeAttempt: (command) => makeAttempt(tools, command),
    look: ({ orderId }) => readStanding(tools, orderId),
    expire: (command) => expire(tools, command),
    cancel: (command) => cancel(tools, command),
    putInReview: (command) => putInReview(tools, command),
    settle: (command) => settle(tools, command),
    applyEvents: (command) => applyEvents(tools, command),
    applyEvent: (command) => applyEvent(tools, command),
    inquire: (command) => inquire(tools, command),
    sendRefund: (command) => sendRefund(tools, command),
    lookAtRefund: ({ refundId }) => lookAtRefund(tools, refundId),
    putRefundInReview: (command) => putRefundInReview(tools, command),
    inquireRefund: (command) => inquireRefund(tools, command),
    sweepInbox: (command) => sweepInbox(tools, command),
    expireUnpaidOrders: (command) => expireUnpaidOrders(tools, command),
    resumeOrders: (command) => resumeOrders(tools, command),
    resumeRefunds: (command) => resumeRefunds(tools, command),
    countStuckDeliveries: () => countStuckDeliveries(tools),
    askWaitingOrders: (command) => askWaitingOrders(tools, command),
  };
}
