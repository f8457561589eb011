import type { Queryable } from '../database.ts';

export interface FirstSend {
  readonly orderId: string;
  readonly attemptNumber: number;
  readonly run: string;
  readonly requestKey: string;
  readonly requestBody: string;
  /** ISO time. */
  readonly now: string;
}

/**
 * Marks an attempt as sent, before the request leaves, by compare-and-set: of all processes and retries that ever try, one
 * gets `true` and may send. This row, and not Temporal's attempt count, is what makes the charge happen at most once.
 * Refused as well once the order has expired: nobody is charged hours after they went away.
 */
export async function markSent(database: Queryable, send: FirstSend): Promise<boolean> {
  const { rowCount } = await database.query(
    `update payment_attempts
     set status = 'sent', sends = 1, sent_at = $6, last_sent_at = $6, request_key = $4, request_body = $5, updated_at = $6
     from orders
     where order_id = $1 and attempt_number = $2 and claimed_by_run = $3
       and payment_attempts.status = 'claimed' and sends = 0
       and orders.id = order_id and orders.status = 'processing' and orders.expires_at > $6`,
    [send.orderId, send.attemptNumber, send.run, send.requestKey, send.requestBody, send.now],
  );
  return rowCount === 1;
}

/**
 * Permits one repeat of a sent request, by compare-and-set on the number of sends: two processes that both think a repeat is
 * due get one permission between them. Only for gateways that answer a repeat without charging again.
 */
export async function markSentAgain(
  database: Queryable,
  repeat: {
    readonly orderId: string;
    readonly attemptNumber: number;
    readonly sendsBefore: number;
    readonly now: string;
  },
): Promise<boolean> {
  const { rowCount } = await database.query(
    `update payment_attempts set sends = sends + 1, last_sent_at = $4, updated_at = $4
     where order_id = $1 and attempt_number = $2 and sends = $3 and status in ('sent', 'pending', 'unknown')`,
    [repeat.orderId, repeat.attemptNumber, repeat.sendsBefore, repeat.now],
  );
  return rowCount === 1;
}

/** Keeps the gateway's number as soon as it is known, so that a lost answer can be asked for by it. Never replaces one. */
export async function saveGatewayReference(
  database: Queryable,
  saved: {
    readonly orderId: string;
    readonly attemptNumber: number;
    readonly gatewayReference: string;
    readonly now: string;
  },
): Promise<void> {
  await database.query(
    `update payment_attempts set gateway_reference = $3, updated_at = $4
     where order_id = $1 and attempt_number = $2 and gateway_reference is null`,
    [saved.orderId, saved.attemptNumber, saved.gatewayReference, saved.now],
  );
}
