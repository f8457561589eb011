import type { z } from 'zod';
import { ATTEMPT_NUMBER_MAX } from '../domain/attempt.ts';
import type { Evidence } from '../domain/evidence.ts';
import { isPayable } from '../domain/order.ts';
import type { Decline } from '../domain/outcome.ts';
import type { Order } from '../store/orders/orders.ts';
import type { PaymentAttempt } from '../store/orders/payment-attempts.ts';
import type { ApiSettings } from './dependencies.ts';
import { createPaymentToken } from './payment-token.ts';
import type * as schemas from './schemas.ts';

/** Time is up although the row may not say so yet: the schedule that closes unpaid orders comes round every few minutes. */
export function isPastExpiry(order: Order, now: Date): boolean {
  return Date.parse(order.expiresAt) <= now.getTime();
}

/**
 * May a new attempt be made? Not while a person has to look at the order: the reason may be money that came in for an
 * attempt that counts as declined. Nor after the shop's wish to cancel.
 */
export function takesNewAttempt(order: Order, now: Date): boolean {
  const { status, needsReview, currentAttempt, cancelRequestedAt } = order;
  return (
    isPayable(status) &&
    !needsReview &&
    cancelRequestedAt === null &&
    currentAttempt < ATTEMPT_NUMBER_MAX &&
    !isPastExpiry(order, now)
  );
}

/** The token for the next attempt, or null while there can be none. */
export function tokenFor(order: Order, settings: ApiSettings, now: Date): z.infer<typeof schemas.paymentToken> | null {
  if (!takesNewAttempt(order, now)) return null;
  const attemptNumber = order.currentAttempt + 1;
  const untilTokenEnds = Math.floor(now.getTime() / 1_000) + settings.paymentTokenSeconds;
  const untilOrderEnds = Math.ceil(Date.parse(order.expiresAt) / 1_000);
  const expiresAt = Math.min(untilTokenEnds, untilOrderEnds);
  return {
    token: createPaymentToken({ orderId: order.id, attemptNumber, expiresAt }, settings.paymentTokenSecrets[0]),
    attempt_number: attemptNumber,
    expires_at: new Date(expiresAt * 1_000).toISOString(),
  };
}

type PaymentFields = Omit<z.infer<typeof schemas.payment>, 'payment_token'>;

/** What the holder of a payment token may see of an order. */
export function describePayment(order: Order): PaymentFields {
  return {
    id: order.id,
    status: order.status,
    amount: { minor_units: order.amount.minorUnits, currency: order.amount.currency },
    attempt_number: order.currentAttempt,
    // The last attempt keeps its reason when the order moves on; the answer is about now.
    decline: order.status === 'failed' ? describeDecline(order.decline) : null,
    action: order.status === 'requires_action' ? order.action : null,
    expires_at: order.expiresAt,
  };
}

/** What the shop may see of an order, but for the token. */
export function describeOrder(order: Order): z.infer<typeof schemas.listedOrder> {
  return {
    ...describePayment(order),
    gateway: order.gateway,
    fallback_gateways: [...order.fallbackGateways],
    refund_status: order.refundStatus,
    shop_reference: order.shopReference,
    description: order.description,
    return_url: order.returnUrl,
    entitlements: [...order.entitlementKinds],
    product: order.product,
    customer: order.customer,
    limit: order.purchaseLimit,
    cancel_requested_at: order.cancelRequestedAt,
    needs_review: order.needsReview,
    review_reason: order.reviewReason,
    created_at: order.createdAt,
    updated_at: order.updatedAt,
  };
}

/** The same with the token for the next attempt, for whoever may pay. */
export function describeOrderWithToken(order: Order, settings: ApiSettings): z.infer<typeof schemas.order> {
  return { ...describeOrder(order), payment_token: tokenFor(order, settings, new Date()) };
}

export function describeAttempt(attempt: PaymentAttempt): z.infer<typeof schemas.attemptList>['attempts'][number] {
  return {
    attempt_number: attempt.attemptNumber,
    status: attempt.status,
    merchant_reference: attempt.merchantReference,
    gateway: attempt.gateway,
    gateway_reference: attempt.gatewayReference,
    sends: attempt.sends,
    first_sent_at: attempt.firstSentAt,
    last_sent_at: attempt.lastSentAt,
    decline: describeDecline(attempt.decline),
    action: attempt.action,
    evidence_id: attempt.evidenceId,
    created_at: attempt.createdAt,
    updated_at: attempt.updatedAt,
  };
}

export function describeEvidence(evidence: Evidence): z.infer<typeof schemas.evidenceList>['evidence'][number] {
  return {
    id: evidence.id,
    attempt_number: evidence.attemptNumber,
    kind: evidence.kind,
    proves_order_status: evidence.provesOrderStatus,
    proves_attempt_status: evidence.provesAttemptStatus,
    detail: evidence.detail,
    recorded_at: evidence.recordedAt,
  };
}

function describeDecline(decline: Decline | null): z.infer<typeof schemas.decline> | null {
  if (decline === null) return null;
  return { code: decline.code, gateway_code: decline.gatewayCode ?? null, retriable: decline.retriable };
}
