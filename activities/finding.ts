import type { Gateway } from '../domain/gateway.ts';
import type { GatewayOutcome } from '../domain/outcome.ts';
import type { AttemptRow, PurchaseRow } from '../store/standing.ts';

/** What one look at the gateway brought. `reason` is one sentence for the operator. */
export type Finding =
  | { readonly kind: 'news'; readonly outcome: GatewayOutcome; readonly reason: string }
  | { readonly kind: 'nothing' | 'unavailable' | 'needs_a_person'; readonly reason: string };

/** What is being found out about. */
export interface Subject {
  readonly row: PurchaseRow;
  readonly attempt: AttemptRow;
  readonly gateway: Gateway;
  readonly expiresAt: string;
  readonly time: Date;
}

export function nothing(reason: string): Finding {
  return { kind: 'nothing', reason };
}
