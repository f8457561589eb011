import type { Refund } from './refund-books.ts';

/** A refund as the gateway tells it, in answers and in webhooks. */
export function refundOnTheWire({ id, reference, chargeId, status, amount, failureCode, createdAt }: Refund): object {
  const failure = status === 'failed' ? failureCode : null;
  return { id, reference, charge: chargeId, status, amount, failure_code: failure, created_at: createdAt };
}
