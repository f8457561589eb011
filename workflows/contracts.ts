import type { AttemptStatus } from '../domain/attempt.ts';
import type { EvidenceKind } from '../domain/evidence.ts';
import type { InboxEventState } from '../domain/gateway-event.ts';
import type { OrderStatus } from '../domain/order.ts';
import type { RefundObstacle, RefundStatus } from '../domain/refund.ts';
import type { AttemptRequest, OperatorDecision } from './messages.ts';

/**
 * What the workflows may ask to be done. The workflows own these contracts and the activities implement them, so that no
 * workflow ever imports code, or even a type, that reaches the database or the network.
 */

/** Where an order and its last attempt stand on the row, as far as the workflow needs it to decide. */
export interface Standing {
  readonly orderStatus: OrderStatus;
  readonly attemptNumber: number;
  /** Null before the first attempt. */
  readonly attemptStatus: AttemptStatus | null;
  readonly needsReview: boolean;
  /** The shop wants it cancelled. Absent in histories from before there was such a wish. */
  readonly cancelRequested?: boolean;
  readonly provenBy: EvidenceKind | null;
}

export interface MakeAttemptCommand {
  readonly orderId: string;
  readonly attempt: AttemptRequest;
  /** `firstExecutionRunId`: the same across retries, resets and worker deaths, so a claim recognises its own commit. */
  readonly run: string;
  readonly handoverAfterMs: number;
  /** A further automatic attempt follows if nothing left this machine, so the order is not to be shown as failed yet. */
  readonly anotherFollowsIfNotProcessed: boolean;
}

export interface InquireCommand {
  readonly orderId: string;
  readonly attemptNumber: number;
  /** Offsets in seconds since the resolution began; see domain/inquiry-schedule.ts. */
  readonly scheduleSeconds: readonly number[];
  /** How long the resolution was going on when this activity was scheduled. */
  readonly secondsBefore: number;
  /** The attempt's status as the workflow knows it; the activity returns as soon as the row says something else. */
  readonly knownStatus: AttemptStatus | null;
  /** No new request leaves after this, not even a protected repeat: the customer has gone. */
  readonly expiresAt: string;
}

export type InquireResult =
  | { readonly kind: 'changed'; readonly standing: Standing }
  /** The schedule is over and nothing is known: a person has to look. */
  | { readonly kind: 'schedule_over'; readonly standing: Standing };

export interface SettleCommand {
  readonly orderId: string;
  readonly decision: OperatorDecision;
}

export interface ResumeCommand {
  /** The last order that was looked at; null at the beginning. */
  readonly after: string | null;
  readonly limit: number;
}

export interface ResumeResult {
  /** Where the next page begins; null when there is none. */
  readonly next: string | null;
  readonly looked: number;
  readonly resumed: number;
}

export interface AskWaitingCommand {
  readonly gateway: string;
  /** The last order that was told; null at the beginning. */
  readonly after: string | null;
  readonly limit: number;
}

export interface AskWaitingResult {
  /** Where the next page begins; null when there is none. */
  readonly next: string | null;
  readonly told: number;
}

export interface SweepInboxCommand {
  readonly limit: number;
}

export interface SweepInboxResult {
  readonly matched: number;
  readonly pooled: number;
  readonly applied: number;
}

/** Short steps against the database, run as local activities. Each may run twice and has its effect once. */
export interface LocalActivities {
  /** Claims the attempt and charges it. An attempt that comes back as `sent` or `unknown` has to be resolved. */
  makeAttempt(command: MakeAttemptCommand): Promise<Standing>;
  look(command: { readonly orderId: string }): Promise<Standing>;
  /** Closes an unpaid order whose time is over; does nothing to any other. Returns how it stands afterwards. */
  expire(command: { readonly orderId: string }): Promise<Standing>;
  /** Carries out the shop's wish to cancel if nothing of the order is alive. Returns how it stands afterwards. */
  cancel(command: { readonly orderId: string }): Promise<Standing>;
  putInReview(command: { readonly orderId: string; readonly reason: string }): Promise<Standing>;
  settle(command: SettleCommand): Promise<Standing>;
  /** Applies the gateway's events that wait for the order. */
  applyEvents(command: { readonly orderId: string }): Promise<Standing>;
  /** Applies one event; returns how it stands. */
  applyEvent(command: { readonly inboxEventId: string }): Promise<InboxEventState>;
}

/** Steps that ask or wait, run as regular activities so that the Temporal UI shows them pending with their attempt count. */
export interface RegularActivities {
  inquire(command: InquireCommand): Promise<InquireResult>;
  /** Applies events that nobody was told of, matches those without an order, pools what has found none for a day. */
  sweepInbox(command: SweepInboxCommand): Promise<SweepInboxResult>;
  /** Closes a batch of unpaid orders without a workflow; returns how many, so that the caller knows whether to go on. */
  expireUnpaidOrders(command: { readonly limit: number }): Promise<number>;
  /** Looks at a page of orders in flight and starts the workflow of each that has none. */
  resumeOrders(command: ResumeCommand): Promise<ResumeResult>;
  /** Starts the workflow of each refund in flight that has none; returns how many. */
  resumeRefunds(command: { readonly limit: number }): Promise<number>;
  /** Counts events for merchants that are long overdue or were given up, and says so in the log. */
  countStuckDeliveries(): Promise<number>;
  /** Tells a page of the orders that wait for a gateway to ask it now. */
  askWaitingOrders(command: AskWaitingCommand): Promise<AskWaitingResult>;
}

/** Where a refund stands on its row, as far as its workflow needs it to decide. */
export interface RefundStanding {
  readonly status: RefundStatus;
  /** Why it was not sent; null when nothing is in its way. */
  readonly waitsFor: RefundObstacle | null;
  readonly inReview: boolean;
}

export interface InquireRefundCommand {
  readonly refundId: string;
  /** The activity returns as soon as the row says something else. */
  readonly knownStatus: RefundStatus;
  /** See `InquireCommand`. */
  readonly scheduleSeconds: readonly number[];
  readonly secondsBefore: number;
}

export type InquireRefundResult =
  | { readonly kind: 'changed'; readonly standing: RefundStanding }
  | { readonly kind: 'schedule_over'; readonly standing: RefundStanding };

/** Short steps of a refund, run as local activities. Each may run twice and has its effect once. */
export interface LocalRefundActivities {
  /** Sends the refund, unless it was sent or has to wait. One that comes back as `sent` or `unknown` has to be resolved. */
  sendRefund(command: { readonly refundId: string; readonly handoverAfterMs: number }): Promise<RefundStanding>;
  lookAtRefund(command: { readonly refundId: string }): Promise<RefundStanding>;
  putRefundInReview(command: { readonly refundId: string; readonly reason: string }): Promise<RefundStanding>;
}

export interface RegularRefundActivities {
  inquireRefund(command: InquireRefundCommand): Promise<InquireRefundResult>;
}

/** Types of the failures that cross from activities to workflows; classes do not survive the way, strings do. */
export const STILL_UNKNOWN = 'StillUnknown';
export const NOT_SETTLEABLE = 'NotSettleable';
