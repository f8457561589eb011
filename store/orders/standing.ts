import type { AttemptStatus } from '../../domain/attempt.ts';
import type { Currency } from '../../domain/currencies.ts';
import type { EvidenceKind } from '../../domain/evidence.ts';
import type { OrderStatus } from '../../domain/order.ts';
import type { DeclineCode } from '../../domain/outcome.ts';
import type { GatewayChoice } from '../../domain/routing.ts';
import type { Queryable } from '../database.ts';

/** Everything that the steps of a purchase need to know about an order and its last attempt, in one read. */
export interface PurchaseRow {
  readonly orderId: string;
  readonly orderStatus: OrderStatus;
  readonly amount: { readonly minorUnits: number; readonly currency: Currency };
  /** Where the last attempt was made; before the first, where it will be. */
  readonly gateway: string;
  /** Where the order may be charged. */
  readonly gateways: GatewayChoice;
  readonly description: string | null;
  readonly expiresAt: string;
  readonly needsReview: boolean;
  /** The shop wants it cancelled. */
  readonly cancelRequested: boolean;
  readonly provenBy: EvidenceKind | null;
  /** 0 before the first attempt. */
  readonly attemptNumber: number;
  readonly attempt: AttemptRow | null;
}

export interface AttemptRow {
  readonly status: AttemptStatus;
  /** Why it came to nothing; null while it has not. */
  readonly declineCode: DeclineCode | null;
  readonly claimedByRun: string;
  readonly merchantReference: string;
  readonly gatewayReference: string | null;
  readonly paymentMethod: string;
  readonly returnUrl: string | null;
  readonly sends: number;
  readonly firstSentAt: string | null;
  readonly lastSentAt: string | null;
  readonly requestKey: string | null;
  readonly requestBody: string | null;
}

interface Row {
  readonly status: OrderStatus;
  readonly amount_minor_units: number;
  readonly currency: Currency;
  readonly order_gateway: string;
  readonly fallback_gateways: string[];
  readonly attempt_gateway: string | null;
  readonly decline_code: DeclineCode | null;
  readonly description: string | null;
  readonly expires_at: string;
  readonly needs_review: boolean;
  readonly cancel_requested: boolean;
  readonly current_attempt: number;
  readonly evidence_kind: EvidenceKind | null;
  readonly attempt_status: AttemptStatus | null;
  readonly claimed_by_run: string;
  readonly merchant_reference: string;
  readonly gateway_reference: string | null;
  readonly payment_method: string;
  readonly return_url: string | null;
  readonly sends: number;
  readonly sent_at: string | null;
  readonly last_sent_at: string | null;
  readonly request_key: string | null;
  readonly request_body: string | null;
}

/** @throws Error when there is no such order: a workflow is only ever started for an order that is stored. */
export async function readPurchase(database: Queryable, orderId: string): Promise<PurchaseRow> {
  const { rows } = await database.query<Row>(
    `select orders.status, amount_minor_units, currency, orders.gateway as order_gateway, fallback_gateways,
       attempt.gateway as attempt_gateway, decline_code, description, expires_at, needs_review, cancel_requested_at is not null as cancel_requested,
       current_attempt, evidence.kind as evidence_kind, attempt.status as attempt_status, claimed_by_run,
       merchant_reference, gateway_reference, payment_method, attempt.return_url, sends, sent_at, last_sent_at, request_key, request_body
     from orders
     left join payment_attempts attempt on attempt.order_id = orders.id and attempt.attempt_number = current_attempt
     left join evidence on evidence.id = orders.evidence_id
     where orders.id = $1`,
    [orderId],
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`There is no order ${orderId}`);
  return {
    orderId,
    orderStatus: row.status,
    amount: { minorUnits: row.amount_minor_units, currency: row.currency },
    gateway: row.attempt_gateway ?? row.order_gateway,
    gateways: [row.order_gateway, ...row.fallback_gateways],
    description: row.description,
    expiresAt: row.expires_at,
    needsReview: row.needs_review,
    cancelRequested: row.cancel_requested,
    provenBy: row.evidence_kind,
    attemptNumber: row.current_attempt,
    attempt: row.attempt_status === null ? null : attemptOf(row, row.attempt_status),
  };
}

function attemptOf(row: Row, status: AttemptStatus): AttemptRow {
  return {
    status,
    declineCode: row.decline_code,
    claimedByRun: row.claimed_by_run,
    merchantReference: row.merchant_reference,
    gatewayReference: row.gateway_reference,
    paymentMethod: row.payment_method,
    returnUrl: row.return_url,
    sends: row.sends,
    firstSentAt: row.sent_at,
    lastSentAt: row.last_sent_at,
    requestKey: row.request_key,
    requestBody: row.request_body,
  };
}
