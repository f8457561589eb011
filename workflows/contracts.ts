import type { AttemptStatus } from '../domain/attempt.ts';
import type { EvidenceKind } from '../domain/evidence.ts';
import type { OrderStatus } from '../domain/order.ts';
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
  readonly provenBy: EvidenceKind | null;
}

export interface ClaimCommand {
  readonly orderId: string;
  readonly attempt: AttemptRequest;
  /** `firstExecutionRunId`: the same across retries, resets and worker deaths, so a claim recognises its own commit. */
  readonly run: string;
}

export type ClaimResult =
  /** The attempt is ours and was not sent yet: go on to charge. Also the answer when this very claim was made before. */
  | { readonly kind: 'claimed' }
  /** The attempt exists and is beyond the claim: never charge, find out how it stands. */
  | { readonly kind: 'already_sent'; readonly standing: Standing }
  /** No such attempt can be made: the order is closed or expired, or the number is not the next one. */
  | { readonly kind: 'refused'; readonly standing: Standing };

export interface ChargeActivityCommand {
  readonly orderId: string;
  readonly attemptNumber: number;
  readonly run: string;
  readonly handoverAfterMs: number;
  /** A further automatic attempt follows if nothing left this machine, so the order is not to be shown as failed yet. */
  readonly anotherFollowsIfNotProcessed: boolean;
}

export type ChargeResult =
  /** The answer came in time and is on the row. */
  | { readonly kind: 'recorded'; readonly standing: Standing }
  /** The request is out and its answer not here, or it was sent before by somebody who cannot tell: resolve. */
  | { readonly kind: 'in_flight' };

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

/** Short steps against the database, run as local activities. Each may run twice and has its effect once. */
export interface LocalActivities {
  claim(command: ClaimCommand): Promise<ClaimResult>;
  charge(command: ChargeActivityCommand): Promise<ChargeResult>;
  look(command: { readonly orderId: string }): Promise<Standing>;
  /** Closes an unpaid order whose time is over; does nothing to any other. Returns how it stands afterwards. */
  expire(command: { readonly orderId: string }): Promise<Standing>;
  putInReview(command: { readonly orderId: string; readonly reason: string }): Promise<Standing>;
  settle(command: SettleCommand): Promise<Standing>;
}

/** Steps that ask or wait, run as regular activities so that the Temporal UI shows them pending with their attempt count. */
export interface RegularActivities {
  inquire(command: InquireCommand): Promise<InquireResult>;
  /** Closes a batch of unpaid orders without a workflow; returns how many, so that the caller knows whether to go on. */
  expireUnpaidOrders(command: { readonly limit: number }): Promise<number>;
}

/** Types of the failures that cross from activities to workflows; classes do not survive the way, strings do. */
export const STILL_UNKNOWN = 'StillUnknown';
export const NOT_SETTLEABLE = 'NotSettleable';
