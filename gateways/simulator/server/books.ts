import { type AuthorizationEntry, isAboutAuthorization } from './authorization-entries.ts';
import type { Entry, WireMoney } from './entries.ts';
import { isMoneyBack, type MoneyBackEntry } from './money-back-entries.ts';
import { createRefundBooks, type RefundBooks } from './refund-books.ts';

export type ChargeStatus = 'approved' | 'declined' | 'pending' | 'requires_action' | 'authorized' | 'voided' | 'lapsed';

/** One charge as the gateway knows it now, put together from the ledger's rows. */
export interface Charge {
  readonly id: string;
  readonly account: string;
  readonly reference: string;
  readonly amount: WireMoney;
  readonly status: ChargeStatus;
  readonly declineCode: string | null;
  readonly createdAt: string;
  readonly settlesAt: string | null;
  readonly settlesAs: 'approved' | 'declined' | null;
  readonly returnUrl: string | null;
  /** The money is to be held first, and taken by a capture only. */
  readonly isHeldFirst: boolean;
  /** What is or was held; null where nothing ever was. */
  readonly held: { readonly amount: WireMoney; readonly lapsesAt: string | null } | null;
  /** The request that ended the authorization. */
  readonly endedBy: { readonly reference: string; readonly kind: FollowUpKind } | null;
}

export type FollowUpKind = 'capture' | 'void';

export interface KeyUse {
  readonly chargeId: string;
  readonly fingerprint: string;
  readonly usedAt: string;
}

/**
 * What the gateway remembers. All of it is made from the ledger, row by row, so that idempotency keys and unique
 * references outlive `kill -9` exactly as the money does.
 */
export interface Books {
  apply(entry: Entry): void;
  charge(id: string): Charge | undefined;
  /** Every charge under a reference, oldest first; more than one where references are not kept unique. */
  chargesOf(account: string, reference: string): readonly Charge[];
  /** The merchant has closed the reference; nothing under it can be asked for any more. */
  isClosed(account: string, reference: string): boolean;
  /** The latest charge made with this key. */
  keyUse(account: string, key: string): KeyUse | undefined;
  /** Charges that time will change; asked for once, after a start. */
  waitingForTime(): readonly Charge[];
  entries(): readonly Entry[];
  readonly refunds: RefundBooks;
}

export function createBooks(recovered: readonly Entry[]): Books {
  const entries: Entry[] = [];
  const charges = new Map<string, Charge>();
  const idsByReference = new Map<string, string[]>();
  const closed = new Set<string>();
  const keys = new Map<string, KeyUse>();
  const refunds = createRefundBooks();

  const open = (entry: ChargeEntry, id: string): void => {
    const owner = pair(entry.account, entry.reference);
    idsByReference.set(owner, [...(idsByReference.get(owner) ?? []), id]);
    const { request } = entry;
    if (request === null || request.idempotency_key === null) return;
    keys.set(pair(entry.account, request.idempotency_key), {
      chargeId: id,
      fingerprint: request.fingerprint,
      usedAt: entry.at,
    });
  };

  const apply = (entry: Entry): void => {
    entries.push(entry);
    if (isMoneyBack(entry)) {
      refunds.apply(entry);
      return;
    }
    if (isAboutAuthorization(entry)) {
      const held = charges.get(entry.gateway_reference);
      if (held !== undefined) charges.set(held.id, afterHolding(entry, held));
      return;
    }
    if (entry.kind === 'reference_closed') {
      closed.add(pair(entry.account, entry.reference));
      return;
    }
    const id = entry.gateway_reference;
    if (id === null || entry.kind === 'request_repeated') return;
    const before = charges.get(id);
    if (before === undefined) open(entry, id);
    charges.set(id, chargeAfter(entry, id, before));
  };

  for (const entry of recovered) apply(entry);
  return {
    apply,
    charge: (id) => charges.get(id),
    chargesOf: (account, reference) =>
      (idsByReference.get(pair(account, reference)) ?? []).flatMap((id) => charges.get(id) ?? []),
    isClosed: (account, reference) => closed.has(pair(account, reference)),
    keyUse: (account, key) => keys.get(pair(account, key)),
    waitingForTime: () => [...charges.values()].filter(({ status }) => status === 'pending' || status === 'authorized'),
    entries: () => entries,
    refunds,
  };
}

/** A line end can stand in neither part, so two different pairs never make one text. */
function pair(account: string, word: string): string {
  return `${account}\n${word}`;
}

type ChargeEntry = Exclude<
  Entry,
  MoneyBackEntry | AuthorizationEntry | { kind: 'request_repeated' | 'reference_closed' }
>;

const SETTLED: Readonly<Record<'money_moved' | 'charge_declined' | 'charge_authorized', ChargeStatus>> = {
  money_moved: 'approved',
  charge_declined: 'declined',
  charge_authorized: 'authorized',
};

function chargeAfter(entry: ChargeEntry, id: string, before: Charge | undefined): Charge {
  const born = {
    ...{ id, account: entry.account, reference: entry.reference, amount: entry.amount, createdAt: entry.at },
    ...{ isHeldFirst: entry.request?.capture === false, held: null, endedBy: null },
  };
  const returnUrl = before?.returnUrl ?? entry.request?.return_url ?? null;
  if (entry.kind === 'charge_opened') {
    const status = entry.settles_at === null ? 'requires_action' : 'pending';
    return {
      ...born,
      status,
      declineCode: entry.code,
      settlesAt: entry.settles_at,
      settlesAs: entry.settles_as,
      returnUrl,
    };
  }
  const declineCode = entry.kind === 'charge_declined' ? entry.code : null;
  const held = entry.kind === 'charge_authorized' ? { amount: entry.amount, lapsesAt: entry.lapses_at } : null;
  const end = { status: SETTLED[entry.kind], declineCode, settlesAt: null, settlesAs: null, returnUrl, held };
  return before === undefined ? { ...born, ...end } : { ...before, ...end };
}

const AFTER_HOLDING = {
  authorization_captured: { status: 'approved', kind: 'capture' },
  authorization_voided: { status: 'voided', kind: 'void' },
} as const;

function afterHolding(entry: AuthorizationEntry, held: Charge): Charge {
  if (entry.kind === 'authorization_kept') return held;
  if (entry.kind === 'authorization_lapsed') return { ...held, status: 'lapsed' };
  const { status, kind } = AFTER_HOLDING[entry.kind];
  const endedBy = { reference: entry.follow_up_reference, kind };
  return { ...held, status, endedBy, amount: kind === 'capture' ? entry.amount : held.amount };
}
