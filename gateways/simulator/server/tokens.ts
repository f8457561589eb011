import type { DeliveryFault, RulingFault } from './faults.ts';

export interface TokenBehaviour {
  readonly ruling?: RulingFault;
  readonly delivery?: DeliveryFault;
}

function declined(code: string): TokenBehaviour {
  return { ruling: { kind: 'decline', code } };
}

/** Payment-method tokens that behave in a known way without any script; docs/gateways/simulator.md lists the same. */
export const TOKENS: Readonly<Record<string, TokenBehaviour>> = {
  tok_ok: {},
  tok_declined: declined('card_declined'),
  tok_insufficient_funds: declined('insufficient_funds'),
  tok_expired_card: declined('expired_card'),
  tok_action: { ruling: { kind: 'requires_action' } },
  tok_pending_approved: { ruling: { kind: 'pending', seconds: 2, settles_as: 'approved', code: 'card_declined' } },
  tok_pending_declined: { ruling: { kind: 'pending', seconds: 2, settles_as: 'declined', code: 'card_declined' } },
  tok_slow_5s: { delivery: { kind: 'slow', seconds: 5, charge: 'at_once' } },
  tok_slow_20s: { delivery: { kind: 'slow', seconds: 20, charge: 'at_once' } },
  tok_lost_answer: { delivery: { kind: 'lost_answer' } },
  tok_error_after: { delivery: { kind: 'error_after', status: 500 } },
  tok_never_arrives: { delivery: { kind: 'never_arrives' } },
  tok_late_5s: { delivery: { kind: 'late', seconds: 5 } },
  tok_duplicated: { delivery: { kind: 'duplicated' } },
  tok_wrong_amount: { delivery: { kind: 'wrong_amount', by: -1 } },
};

/**
 * How a token behaves. `tok_ok_` and any ending is one more good token, for tests that tell requests apart by it. What is
 * not in the table is refused as a card would be: a typing mistake must not pass for a good card.
 */
export function behaviourOf(token: string): TokenBehaviour {
  if (Object.hasOwn(TOKENS, token)) return TOKENS[token] ?? {};
  return token.startsWith('tok_ok_') ? {} : declined('invalid_payment_method');
}
