import { v7 as newId } from 'uuid';
import type { Money } from '../../domain/money.ts';
import type { Queryable } from '../database.ts';
import { insertOutboxEvent } from '../deliveries/outbox-events.ts';
import { insertMovement } from './journal.ts';
import { insertRefund } from './refunds.ts';

export interface NewOverPayment {
  readonly orderId: string;
  readonly attemptNumber: number;
  readonly gateway: string;
  /** Null where the news did not carry one. */
  readonly gatewayReference: string | null;
  readonly amount: Money;
  readonly reason: string;
  readonly evidenceId: string;
  readonly now: string;
}

/**
 * Writes down money that an order does not need, and asks for its refund in the same transaction: both rows exist or
 * neither does, and each exists once, whoever brings the news. The order's row has to be locked. Returns the refund's id.
 */
export async function insertOverPayment(transaction: Queryable, extra: NewOverPayment): Promise<string> {
  const { orderId, attemptNumber, gateway, gatewayReference, amount, now } = extra;
  const id = newId();
  await transaction.query(
    `insert into over_payments (id, order_id, attempt_number, gateway, gateway_reference, amount_minor_units, currency,
       reason, evidence_id, recorded_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      id,
      orderId,
      attemptNumber,
      gateway,
      gatewayReference,
      amount.minorUnits,
      amount.currency,
      extra.reason,
      extra.evidenceId,
      now,
    ],
  );
  await insertMovement(transaction, {
    movement: `over_payment:${id}`,
    orderId,
    amount,
    from: 'over_payments',
    to: 'gateway',
    now,
  });
  const refundId = newId();
  await insertRefund(transaction, {
    id: refundId,
    orderId,
    attemptNumber,
    chargeGatewayReference: gatewayReference,
    overPaymentId: id,
    gateway,
    amount,
    reason: extra.reason,
    requestedBy: 'automatic',
    needsApproval: false,
    now,
  });
  const details = {
    over_payment: { id, minor_units: amount.minorUnits, currency: amount.currency, refund_id: refundId },
  };
  await insertOutboxEvent(transaction, {
    orderId,
    attemptNumber,
    kind: 'order.over_paid',
    subjectId: id,
    details,
    now,
  });
  return refundId;
}

/**
 * Is this money written down already? Of two reports of which one lacks the gateway's number nobody can tell whether they
 * mean one charge or two, so they count as one: refunding too little is put right by a person, too much by nobody.
 */
export async function isOverPaymentKnown(
  transaction: Queryable,
  charge: {
    readonly orderId: string;
    readonly attemptNumber: number;
    readonly gateway: string;
    readonly gatewayReference: string | null;
  },
): Promise<boolean> {
  const { rows } = await transaction.query(
    `select from over_payments
     where (gateway = $3 and gateway_reference = $4)
       or (order_id = $1 and attempt_number = $2 and (gateway_reference is null or $4::text is null))`,
    [charge.orderId, charge.attemptNumber, charge.gateway, charge.gatewayReference],
  );
  return rows.length > 0;
}
