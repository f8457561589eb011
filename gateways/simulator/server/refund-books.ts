import type { WireMoney } from './entries.ts';
import type { MoneyBackEntry, RefundEntry } from './money-back-entries.ts';

export type RefundStatus = 'succeeded' | 'failed' | 'pending';

/** One refund as the gateway knows it now, put together from the ledger's rows. */
export interface Refund {
  readonly id: string;
  readonly account: string;
  /** The merchant's reference for the refund; it need not be unique. */
  readonly reference: string;
  readonly chargeId: string;
  readonly chargeReference: string;
  readonly amount: WireMoney;
  readonly status: RefundStatus;
  readonly failureCode: string | null;
  readonly createdAt: string;
  readonly settlesAt: string | null;
  readonly settlesAs: 'approved' | 'declined' | null;
  /** When the customer's bank will send it back, and why. */
  readonly comesBack: { readonly at: string; readonly code: string } | null;
}

/** What the gateway remembers of refunds; made from the ledger, like everything that it knows. */
export interface RefundBooks {
  apply(entry: MoneyBackEntry): void;
  refund(id: string): Refund | undefined;
  /** Every refund under a reference, oldest first; more than one where references are not kept unique. */
  refundsOf(account: string, reference: string): readonly Refund[];
  /** The latest refund made with this key. */
  keyUse(account: string, key: string): { refundId: string; fingerprint: string; usedAt: string } | undefined;
  /** What has gone back of a charge, or may still. */
  takenFrom(chargeId: string): number;
  /** Refunds that time will change; asked for once, after a start. */
  waitingForTime(): readonly Refund[];
}

type KeyUse = NonNullable<ReturnType<RefundBooks['keyUse']>>;

export function createRefundBooks(): RefundBooks {
  const refunds = new Map<string, Refund>();
  const keys = new Map<string, KeyUse>();
  const all = (): Refund[] => [...refunds.values()];
  return {
    apply(entry) {
      if (!('refund_id' in entry) || entry.kind === 'refund_repeated') return;
      const { refund_id: refundId, request, account, at: usedAt } = entry;
      const before = refunds.get(refundId);
      refunds.set(refundId, refundAfter(entry, before));
      if (before !== undefined || request === null || request.idempotency_key === null) return;
      const { idempotency_key: key, fingerprint } = request;
      keys.set(`${account}\n${key}`, { refundId, fingerprint, usedAt });
    },
    refund: (id) => refunds.get(id),
    refundsOf: (account, reference) =>
      all().filter((refund) => refund.account === account && refund.reference === reference),
    keyUse: (account, key) => keys.get(`${account}\n${key}`),
    takenFrom: (chargeId) =>
      all()
        .filter((refund) => refund.chargeId === chargeId && refund.status !== 'failed')
        .reduce((sum, { amount }) => sum + amount.minor_units, 0),
    waitingForTime: () =>
      all().filter(({ status, comesBack }) => status === 'pending' || (status === 'succeeded' && comesBack !== null)),
  };
}

type DecidingEntry = Exclude<RefundEntry, { readonly kind: 'refund_repeated' }>;

const STATUS_AFTER: Readonly<Record<DecidingEntry['kind'], RefundStatus>> = {
  refund_moved: 'succeeded',
  refund_declined: 'failed',
  refund_opened: 'pending',
  refund_returned: 'failed',
};

function refundAfter(entry: DecidingEntry, before: Refund | undefined): Refund {
  const isOpen = entry.kind === 'refund_opened';
  return {
    id: entry.refund_id,
    account: entry.account,
    reference: entry.refund_reference,
    chargeId: entry.gateway_reference,
    chargeReference: entry.reference,
    amount: entry.amount,
    createdAt: before?.createdAt ?? entry.at,
    status: STATUS_AFTER[entry.kind],
    failureCode: 'code' in entry ? entry.code : null,
    settlesAt: isOpen ? entry.settles_at : null,
    settlesAs: isOpen ? entry.settles_as : null,
    comesBack: entry.kind === 'refund_moved' ? (entry.comes_back ?? null) : null,
  };
}
