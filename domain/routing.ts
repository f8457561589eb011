import type { AttemptStatus } from './attempt.ts';
import type { DeclineCode } from './outcome.ts';

/** Where an order may be charged: its gateway first, then its fallbacks in this order. */
export type GatewayChoice = readonly [string, ...string[]];

/** How the last attempt stands, and where it was made. */
export interface LastAttempt {
  readonly gateway: string;
  readonly status: AttemptStatus;
  readonly declineCode: DeclineCode | null;
}

/**
 * Failures that are the gateway's and not the customer's, and that are certain: nothing was sent, or the gateway says that
 * it took nothing. Not `never_arrived`: there a request did leave, and what made its absence certain is a rule about
 * one gateway's delivery times; with money asked for at a second gateway nobody could settle the doubt any more.
 */
const FAILOVER_CODES: readonly DeclineCode[] = ['gateway_unreachable', 'refused_by_gateway'];

/**
 * Which gateway the next attempt goes to. The next one of the list only after a definite failure of the last attempt that is
 * the gateway's own; in every other case, and at the end of the list, where the last attempt was. An attempt whose outcome is
 * not settled has no next attempt at all; should one be asked for nevertheless, it never leads to another gateway.
 */
export function nextGateway(gateways: GatewayChoice, last: LastAttempt | null): string {
  if (last === null) return gateways[0];
  const failedOver =
    last.status === 'not_processed' && last.declineCode !== null && FAILOVER_CODES.includes(last.declineCode);
  if (!failedOver) return last.gateway;
  return gateways[gateways.indexOf(last.gateway) + 1] ?? last.gateway;
}
