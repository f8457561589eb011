import {
  ATTEMPT_TRANSITIONS,
  type AttemptStatus,
  isSettled,
  ORDER_STATUS_AFTER,
  type SettledAttemptStatus,
} from './attempt.ts';
import { formatMoney, type Money, sameMoney } from './money.ts';
import { canMove, type EvidencedOrderStatus, isClosed, needsEvidence, type OrderStatus } from './order.ts';
import type { GatewayOutcome } from './outcome.ts';

/** What the row says at the moment when news about an attempt comes in. */
export interface AttemptOnTrial {
  readonly orderStatus: OrderStatus;
  readonly orderAmount: Money;
  readonly attemptStatus: AttemptStatus;
  /** The gateway's number for the attempt, as the row has it. */
  readonly gatewayReference: string | null;
  /** The gateway's number in the news already belongs to another attempt. */
  readonly gatewayReferenceTaken: boolean;
  /** The money that the news is about is written down as an over-payment already. */
  readonly overPaymentKnown: boolean;
  /** The news came by itself and in no sure order (a webhook), so it may be older than what is known. */
  readonly mayBeOld?: boolean;
  /** Why the news cannot be about this attempt at all, whatever it says: another account or gateway tells it. */
  readonly stranger?: string;
}

/** What is written because of the news. */
export type Ruling =
  /** Nothing new: the row says it already, or knows better. */
  | { readonly kind: 'nothing_new' }
  | {
      readonly kind: 'applied';
      readonly attemptStatus: AttemptStatus;
      readonly orderStatus: OrderStatus;
      readonly provesAttemptStatus: SettledAttemptStatus | null;
      readonly provesOrderStatus: EvidencedOrderStatus | null;
    }
  /** The money is there and the order does not need it: it goes back, once. The order stays what it is. */
  | {
      readonly kind: 'over_paid';
      readonly attemptStatus: AttemptStatus;
      readonly orderStatus: OrderStatus;
      readonly provesAttemptStatus: 'approved' | null;
      readonly reason: string;
    }
  /** The news cannot be true together with the order. It is kept, never applied, and a person looks at it. */
  | {
      readonly kind: 'doubted';
      readonly attemptStatus: AttemptStatus;
      readonly orderStatus: OrderStatus;
      readonly reason: string;
    };

/**
 * Decides what news about an attempt means for its order. First writer wins: a settled attempt never changes, and money
 * that turns up afterwards is an over-payment. An approval counts only for exactly the order's amount: of any other, or
 * of a charge that belongs to another attempt, nobody can say whose money it is, so it goes before a person.
 * @param anotherFollows a further attempt is made without the customer, so a request that never left does not fail the order
 */
export function ruleOn(attempt: AttemptOnTrial, outcome: GatewayOutcome, anotherFollows = false): Ruling {
  if (attempt.stranger !== undefined) {
    const { attemptStatus, orderStatus, stranger: reason } = attempt;
    return { kind: 'doubted', attemptStatus, orderStatus, reason };
  }
  if (outcome.kind === 'approved' && isUnneeded(attempt, outcome)) return ruleOnUnneeded(attempt, outcome);
  if (isSettled(attempt.attemptStatus)) return ruleOnSettled(attempt, outcome);
  const doubt = findDoubt(attempt, outcome);
  if (doubt !== undefined) {
    return {
      kind: 'doubted',
      attemptStatus: ATTEMPT_TRANSITIONS[attempt.attemptStatus].includes('unknown') ? 'unknown' : attempt.attemptStatus,
      orderStatus: move(attempt.orderStatus, 'unknown'),
      reason: doubt,
    };
  }
  if (isOlderNews(attempt, outcome)) return { kind: 'nothing_new' };
  const orderStatus = nextOrderStatus(attempt, outcome, anotherFollows);
  return {
    kind: 'applied',
    attemptStatus: outcome.kind,
    orderStatus,
    provesAttemptStatus: isSettled(outcome.kind) ? outcome.kind : null,
    provesOrderStatus: orderStatus !== attempt.orderStatus && needsEvidence(orderStatus) ? orderStatus : null,
  };
}

type Approval = GatewayOutcome & { readonly kind: 'approved' };

/**
 * Money for an attempt that is dead, for an order that is over, or by a second charge beside the one that paid. An approval
 * without a number, of an attempt that is approved, is taken for the same charge: to refund it might refund the payment.
 */
function isUnneeded({ attemptStatus, orderStatus, gatewayReference }: AttemptOnTrial, outcome: Approval): boolean {
  if (attemptStatus === 'approved') {
    return (
      gatewayReference !== null &&
      outcome.gatewayReference !== undefined &&
      outcome.gatewayReference !== gatewayReference
    );
  }
  if (isSettled(attemptStatus)) return true;
  return attemptStatus !== 'claimed' && isClosed(orderStatus) && orderStatus !== 'paid';
}

function ruleOnUnneeded(attempt: AttemptOnTrial, outcome: Approval): Ruling {
  const { attemptStatus, orderStatus, orderAmount, gatewayReferenceTaken, overPaymentKnown } = attempt;
  if (overPaymentKnown) return { kind: 'nothing_new' };
  const words = `The gateway approved a payment for an attempt that is ${attemptStatus}, of an order that is ${orderStatus}`;
  const doubt = (reason: string): Ruling => ({ kind: 'doubted', attemptStatus, orderStatus, reason });
  if (gatewayReferenceTaken) return doubt(`${words}, by a gateway reference that belongs to another attempt.`);
  if (!sameMoney(outcome.amount, orderAmount)) {
    return doubt(`${words}, of ${formatMoney(outcome.amount)}; the order is for ${formatMoney(orderAmount)}.`);
  }
  const settlesNow = !isSettled(attemptStatus);
  return {
    kind: 'over_paid',
    attemptStatus: settlesNow ? 'approved' : attemptStatus,
    orderStatus,
    provesAttemptStatus: settlesNow ? 'approved' : null,
    reason: `${words}.`,
  };
}

function ruleOnSettled({ attemptStatus, orderStatus, orderAmount }: AttemptOnTrial, outcome: GatewayOutcome): Ruling {
  if (attemptStatus === 'approved' && outcome.kind === 'approved' && !sameMoney(outcome.amount, orderAmount)) {
    const reason = `The gateway says that it took ${formatMoney(outcome.amount)} for an attempt that was approved for ${formatMoney(orderAmount)}.`;
    return { kind: 'doubted', attemptStatus, orderStatus, reason };
  }
  if (outcome.kind !== 'declined' || attemptStatus !== 'approved') return { kind: 'nothing_new' };
  return {
    kind: 'doubted',
    attemptStatus,
    orderStatus,
    reason: `The gateway says ${outcome.kind} for an attempt that was settled as ${attemptStatus}.`,
  };
}

function findDoubt(
  { attemptStatus, orderStatus, orderAmount, gatewayReferenceTaken }: AttemptOnTrial,
  outcome: GatewayOutcome,
): string | undefined {
  if (attemptStatus === 'claimed' && outcome.kind !== 'not_processed' && outcome.kind !== 'unknown') {
    return `The gateway says ${outcome.kind} for an attempt that we never sent.`;
  }
  if (outcome.kind === 'approved' && !sameMoney(outcome.amount, orderAmount)) {
    return `The gateway approved ${formatMoney(outcome.amount)}, the order is for ${formatMoney(orderAmount)}.`;
  }
  if (outcome.kind === 'approved' && !canMove(orderStatus, 'paid')) {
    return `The gateway approved a payment of an order that is ${orderStatus} and cannot become paid.`;
  }
  if (gatewayReferenceTaken) return 'The gateway answered with a gateway reference that belongs to another attempt.';
  return undefined;
}

/**
 * "We do not know" never replaces what is known: a pending payment stays pending when an inquiry is lost. And of two steps on
 * the way that webhooks tell of, nobody can say which was first: the one that is known stays, and the next inquiry tells.
 */
function isOlderNews({ attemptStatus: status, mayBeOld = false }: AttemptOnTrial, outcome: GatewayOutcome): boolean {
  if (outcome.kind === status || (outcome.kind === 'unknown' && status !== 'sent')) return true;
  return mayBeOld && !isSettled(outcome.kind) && (status === 'pending' || status === 'requires_action');
}

function nextOrderStatus(
  { orderStatus }: AttemptOnTrial,
  outcome: GatewayOutcome,
  anotherFollows: boolean,
): OrderStatus {
  // Only while the order is processed: one that has become unknown meanwhile would stay so, and nobody would try again.
  if (outcome.kind === 'not_processed' && anotherFollows && orderStatus === 'processing') return orderStatus;
  return move(orderStatus, ORDER_STATUS_AFTER[outcome.kind]);
}

/** An order that cannot go there stays: an unknown order stays unknown while its attempt is found to be pending. */
function move(from: OrderStatus, to: OrderStatus): OrderStatus {
  return canMove(from, to) ? to : from;
}
