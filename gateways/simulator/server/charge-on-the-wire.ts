import type { Charge } from './books.ts';

/** A charge as the gateway tells it: only in the API's own words, never what the simulator knows beyond. */
export function chargeOnTheWire(
  { id, reference, status, amount, declineCode, createdAt }: Charge,
  origin: string,
): object {
  return {
    id,
    reference,
    status,
    amount,
    decline_code: status === 'declined' ? declineCode : null,
    action_url: status === 'requires_action' ? `${origin}/actions/${id}` : null,
    created_at: createdAt,
  };
}
