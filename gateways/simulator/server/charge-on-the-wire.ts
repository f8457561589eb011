import type { Charge } from './books.ts';

/** A charge as the gateway tells it: only in the API's own words, never what the simulator knows beyond. */
export function chargeOnTheWire(
  { id, reference, status, amount, declineCode, createdAt, held, endedBy }: Charge,
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
    authorized: held === null ? null : { amount: held.amount, lapses_at: held.lapsesAt },
    ended_by: endedBy === null ? null : endedBy.reference,
  };
}
