import type { EvidenceKind } from '../domain/evidence.ts';
import type { OrderStatus } from '../domain/order.ts';
import type { RefundObstacle, RefundStatus } from '../domain/refund.ts';

/** The workflow types by name, for the clients that start them without importing workflow code. */
export const PURCHASE_WORKFLOW = 'purchase';
export const REFUND_WORKFLOW = 'refund';
export const EXPIRE_UNPAID_ORDERS_WORKFLOW = 'expireUnpaidOrders';
export const SWEEP_WORKFLOW = 'sweep';
export const RECOVER_WORKFLOW = 'recover';

export const APPLY_EVENT_WORKFLOW = 'applyEvent';

/** What a customer's click asks for: this attempt, paid by this token of the gateway's. */
export interface AttemptRequest {
  readonly attemptNumber: number;
  /** The gateway's own token for the card or wallet; never a card number. */
  readonly paymentMethod: string;
  readonly returnUrl: string | null;
}

/** The argument of the purchase workflow. Times are ISO strings, durations milliseconds or seconds as their names say. */
export interface PurchaseInput {
  readonly orderId: string;
  readonly gateway: string;
  /** When an unpaid order is closed; after this no further attempt is accepted. */
  readonly expiresAt: string;
  readonly attempt: AttemptRequest;
  readonly settings: PurchaseSettings;
}

/** What the starter decides for this run; part of the input, so that a replay never reads a changed configuration. */
export interface PurchaseSettings {
  /** How long the charge step waits for the gateway's answer before it hands the call over and goes on to resolve. */
  readonly handoverAfterMs: number;
  readonly inquiryScheduleSeconds: readonly number[];
}

/** Signal: the customer makes a further attempt after a decline. */
export const PAY_SIGNAL = 'pay';
/** Signal: somebody else (a late answer, a webhook, a statement) wrote to the order's row; look at it. */
export const ROW_CHANGED_SIGNAL = 'rowChanged';
/** Signal: the gateway is heard again after an outage; ask it now, whatever the schedule says. */
export const ASK_NOW_SIGNAL = 'askNow';
/** Signal: an event of the gateway is in the inbox; apply what waits there. */
export const EVENT_STORED_SIGNAL = 'eventStored';
/** Signal: the shop wants the order cancelled; its row says how far that is. */
export const CANCEL_SIGNAL = 'cancel';
/** Update: an operator settles an order that nobody else could. Rejected unless the order is `unknown`. */
export const SETTLE_UPDATE = 'settle';
/** Query: what the order waits for, in words. */
export const STATE_QUERY = 'state';

export interface ApplyEventInput {
  readonly inboxEventId: string;
}

export interface OperatorDecision {
  readonly outcome: 'paid' | 'failed';
  /** Who decided: a name or mail address, kept as evidence. */
  readonly operator: string;
  /** Why; at least ten characters, because the auditor will read it. */
  readonly reason: string;
}

export interface PurchaseState {
  readonly status: OrderStatus;
  readonly attemptNumber: number;
  readonly waitsFor: string;
  readonly needsReview: boolean;
}

/** How the purchase ended, as the workflow's result in the Temporal UI. */
export interface PurchaseResult {
  readonly status: OrderStatus;
  readonly attempts: number;
  readonly provenBy: EvidenceKind | null;
}

/** What a run of the sweeper did. */
export interface SweepReport {
  /** Orders in flight. */
  readonly looked: number;
  /** Those of them that had no workflow, and have one now. */
  readonly resumed: number;
  /** Refunds in flight that had no workflow, and have one now. */
  readonly refundsResumed: number;
  /** Events of gateways that nobody had applied. */
  readonly eventsApplied: number;
  /** Events of gateways that found no order for a day and wait for a person now. */
  readonly eventsPooled: number;
  /** Events for merchants that are long overdue or were given up. */
  readonly stuckDeliveries: number;
}

/** The argument of the recovery after a gateway's outage. */
export interface RecoverInput {
  readonly gateway: string;
  /** Where to go on; null at the beginning. */
  readonly after: string | null;
}

/** The argument of the refund workflow. */
export interface RefundInput {
  readonly refundId: string;
  readonly orderId: string;
  readonly settings: PurchaseSettings;
}

/** How the refund stands, for the query of that name. */
export interface RefundState {
  readonly status: RefundStatus;
  readonly waitsFor: RefundObstacle | null;
}

/** How the refund ended, as the workflow's result in the Temporal UI. */
export interface RefundResult {
  readonly status: RefundStatus;
}
