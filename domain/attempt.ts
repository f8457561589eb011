import type { OrderStatus } from './order.ts';

/** Every status a payment attempt can have. `claimed`: the token is burnt, nothing sent. `sent`: the request may be out. */
export const ATTEMPT_STATUSES = [
  'claimed',
  'sent',
  'requires_action',
  'pending',
  'unknown',
  'approved',
  'declined',
  'not_processed',
] as const;

export type AttemptStatus = (typeof ATTEMPT_STATUSES)[number];

const UNSETTLED_NEXT = ['requires_action', 'pending', 'unknown', 'approved', 'declined', 'not_processed'] as const;

/**
 * Where an attempt may go. `claimed` may end as `not_processed` without being sent: a request that could not leave the
 * machine. The last three statuses never change; money that turns up later is a contradiction for a person.
 */
export const ATTEMPT_TRANSITIONS: Readonly<Record<AttemptStatus, readonly AttemptStatus[]>> = {
  claimed: ['sent', 'not_processed'],
  sent: UNSETTLED_NEXT,
  requires_action: UNSETTLED_NEXT.filter((status) => status !== 'requires_action'),
  pending: UNSETTLED_NEXT.filter((status) => status !== 'pending'),
  unknown: UNSETTLED_NEXT.filter((status) => status !== 'unknown'),
  approved: [],
  declined: [],
  not_processed: [],
};

/** The attempt is over; the database wants an evidence row for each of these. */
export const SETTLED_ATTEMPT_STATUSES = ['approved', 'declined', 'not_processed'] as const;

export type SettledAttemptStatus = (typeof SETTLED_ATTEMPT_STATUSES)[number];

export function isSettled(status: AttemptStatus): status is SettledAttemptStatus {
  return (SETTLED_ATTEMPT_STATUSES as readonly AttemptStatus[]).includes(status);
}

/** What an order becomes when its live attempt gets this status. `sent` and `claimed` leave it in `processing`. */
export const ORDER_STATUS_AFTER: Readonly<Record<AttemptStatus, OrderStatus>> = {
  claimed: 'processing',
  sent: 'processing',
  pending: 'processing',
  requires_action: 'requires_action',
  unknown: 'unknown',
  approved: 'paid',
  declined: 'failed',
  not_processed: 'failed',
};

/** Attempts per order; the two-character suffix of the merchant reference would hold more, a shopper's patience not. */
export const ATTEMPT_NUMBER_MAX = 99;
