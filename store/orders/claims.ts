import type { Queryable } from '../database.ts';

export interface Claim {
  readonly orderId: string;
  readonly attemptNumber: number;
  readonly run: string;
  readonly merchantReference: string;
  /** One of the order's gateways; by default its first. */
  readonly gateway?: string;
  readonly paymentMethod: string;
  readonly returnUrl: string | null;
  /** ISO time. */
  readonly now: string;
}

/**
 * The claim: moves the order from attempt n-1 to attempt n and burns the token of attempt n, in one statement and so in
 * one transaction. Of any number of claims for one attempt exactly one finds its row. Possible when the order is payable,
 * or when it is being processed and its last attempt provably never left this machine. Never while a person has to look at
 * it: the reason may be money that came in for an attempt which counts as declined. Nor once the shop has asked to cancel. Returns whether this call won.
 */
export async function claimAttempt(database: Queryable, claim: Claim): Promise<boolean> {
  const { rowCount } = await database.query(
    `with claimed as (
       update orders set status = 'processing', current_attempt = $2, evidence_id = null, updated_at = $7
       where id = $1 and current_attempt = $2 - 1 and expires_at > $7 and not needs_review
         and cancel_requested_at is null
         and (status in ('created', 'failed')
              or (status = 'processing' and exists (
                select from payment_attempts
                where order_id = $1 and attempt_number = $2 - 1 and status = 'not_processed')))
       returning id, gateway)
     insert into payment_attempts
       (order_id, attempt_number, merchant_reference, gateway, claimed_by_run, payment_method, return_url, created_at, updated_at)
     select id, $2, $3, coalesce($8, gateway), $4, $5, $6, $7, $7 from claimed`,
    [
      claim.orderId,
      claim.attemptNumber,
      claim.merchantReference,
      claim.run,
      claim.paymentMethod,
      claim.returnUrl,
      claim.now,
      claim.gateway ?? null,
    ],
  );
  return rowCount === 1;
}

/**
 * Hands an attempt that was claimed but never sent to another run: the workflow that claimed it is gone (its namespace
 * was lost, or it was deleted). From now on the old run cannot send it, should it still be alive.
 */
export async function takeOverClaim(
  database: Queryable,
  claim: Pick<Claim, 'orderId' | 'attemptNumber' | 'run' | 'now'>,
): Promise<boolean> {
  const { rowCount } = await database.query(
    `update payment_attempts set claimed_by_run = $3, updated_at = $4
     where order_id = $1 and attempt_number = $2 and status = 'claimed' and sends = 0`,
    [claim.orderId, claim.attemptNumber, claim.run, claim.now],
  );
  return rowCount === 1;
}
