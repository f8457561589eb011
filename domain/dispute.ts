import { formatMoney, type Money, sameMoney } from './money.ts';

/** A customer's bank takes money back (`opened`), and gives it back (`won`) or keeps it (`lost`). */
export const DISPUTE_STATUSES = ['opened', 'won', 'lost'] as const;

export type DisputeStatus = (typeof DISPUTE_STATUSES)[number];

export interface DisputeOnTrial {
  readonly known: { readonly orderId: string; readonly status: DisputeStatus; readonly amount: Money } | undefined;
  readonly orderId: string;
  readonly orderCurrency: string;
}

export type DisputeRuling =
  | { readonly kind: 'nothing_new' }
  /** What has to be written, in this order: one that is first heard of when it is lost was opened before. */
  | { readonly kind: 'applied'; readonly steps: readonly DisputeStatus[] }
  | { readonly kind: 'doubted'; readonly reason: string };

/** Decides what news about a dispute means. The first word on how it ended stays; "opened" after the end is old news. */
export function ruleOnDispute(
  { known, orderId, orderCurrency }: DisputeOnTrial,
  { status, amount }: { readonly status: DisputeStatus; readonly amount: Money },
): DisputeRuling {
  if (amount.currency !== orderCurrency) {
    return { kind: 'doubted', reason: `A dispute of ${formatMoney(amount)}, and the order is in ${orderCurrency}.` };
  }
  if (known === undefined) return { kind: 'applied', steps: status === 'opened' ? ['opened'] : ['opened', status] };
  if (known.status === status || status === 'opened') return { kind: 'nothing_new' };
  if (known.orderId !== orderId) return { kind: 'doubted', reason: 'A dispute of another order came for this one.' };
  if (known.status !== 'opened') {
    return { kind: 'doubted', reason: `A dispute that was ${known.status} is told to be ${status}.` };
  }
  if (!sameMoney(known.amount, amount)) {
    return {
      kind: 'doubted',
      reason: `A dispute opened over ${formatMoney(known.amount)} ended over ${formatMoney(amount)}.`,
    };
  }
  return { kind: 'applied', steps: [status] };
}
