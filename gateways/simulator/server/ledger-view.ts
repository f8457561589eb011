import { type AuthorizationEntry, isAboutAuthorization } from './authorization-entries.ts';
import type { Entry, WireMoney } from './entries.ts';
import { isMoneyBack, type MoneyBackEntry } from './money-back-entries.ts';

/**
 * The oracle's view of one reference, in one currency: what really happened to the customer's money. Every test and every
 * step of the tour is judged by it and by nothing that the product says of itself.
 */
export interface LedgerRow {
  readonly account: string;
  readonly reference: string;
  /** How many charges moved money; more than one is a double charge. */
  readonly charges: number;
  readonly moved: WireMoney;
  /** Requests that reached the gateway's books, repeats included. */
  readonly requests: number;
  readonly declined: number;
  /** Charges that wait for a time or for the customer. */
  readonly open: number;
  readonly gateway_references: readonly string[];
  /** What is held now: neither captured nor voided nor lapsed. */
  readonly held: WireMoney;
  /** Requests for a capture or a void that reached the gateway's books, repeats included. */
  readonly follow_up_requests: number;
  /** How many refunds reached the customer and stayed there, and how much they are. */
  readonly refunds: number;
  readonly refunded: WireMoney;
  readonly refund_requests: number;
  /** What the customer's bank has taken back for good. */
  readonly lost_in_disputes: WireMoney;
}

export interface LedgerFilter {
  readonly account?: string | undefined;
  readonly reference?: string | undefined;
  readonly prefix?: string | undefined;
}

export interface LedgerView {
  apply(entry: Entry): void;
  rows(filter: LedgerFilter): LedgerRow[];
}

export function createLedgerView(recovered: readonly Entry[]): LedgerView {
  const rows = new Map<string, LedgerRow>();
  const apply = (entry: Entry): void => {
    const place = [entry.account, entry.reference, entry.amount.currency].join('\n');
    rows.set(place, rowAfter(entry, rows.get(place)));
  };
  for (const entry of recovered) apply(entry);
  return {
    apply,
    rows: ({ account, reference, prefix }) =>
      [...rows.values()].filter(
        (row) =>
          (account === undefined || row.account === account) &&
          (reference === undefined || row.reference === reference) &&
          (prefix === undefined || row.reference.startsWith(prefix)),
      ),
  };
}

function rowAfter(entry: Entry, before: LedgerRow | undefined): LedgerRow {
  const row = before ?? emptyRow(entry);
  if (isMoneyBack(entry)) return { ...row, ...moneyBackAfter(entry, row) };
  if (isAboutAuthorization(entry)) return { ...row, ...heldAfter(entry, row) };
  const { amount, gateway_reference: id } = entry;
  const holds = entry.kind === 'charge_authorized' ? amount.minor_units : 0;
  const isCharge = entry.kind !== 'request_repeated' && entry.kind !== 'reference_closed';
  const isKnown = id === null || row.gateway_references.includes(id);
  const hasMoved = entry.kind === 'money_moved';
  // A row without a request settles a charge that was open until now.
  const openBefore = isCharge && entry.request === null ? row.open - 1 : row.open;
  return {
    ...row,
    charges: row.charges + (hasMoved ? 1 : 0),
    moved: { ...row.moved, minor_units: row.moved.minor_units + (hasMoved ? amount.minor_units : 0) },
    held: plus(row.held, holds),
    requests: row.requests + (entry.request === null ? 0 : 1),
    declined: row.declined + (entry.kind === 'charge_declined' ? 1 : 0),
    open: openBefore + (entry.kind === 'charge_opened' ? 1 : 0),
    gateway_references: isKnown ? row.gateway_references : [...row.gateway_references, id],
  };
}

function emptyRow({ account, reference, amount: { currency } }: Entry): LedgerRow {
  const nothing = { minor_units: 0, currency };
  const counts = {
    charges: 0,
    requests: 0,
    declined: 0,
    open: 0,
    refunds: 0,
    refund_requests: 0,
    follow_up_requests: 0,
  };
  const amounts = { moved: nothing, held: nothing, refunded: nothing, lost_in_disputes: nothing };
  return { account, reference, ...counts, ...amounts, gateway_references: [] };
}

/** By how many refunds each row changes what the customer has got back. */
const REFUNDS_BY_KIND: Readonly<Partial<Record<MoneyBackEntry['kind'], 1 | -1>>> = {
  refund_moved: 1,
  refund_returned: -1,
};

function moneyBackAfter(entry: MoneyBackEntry, row: LedgerRow): Partial<LedgerRow> {
  const count = REFUNDS_BY_KIND[entry.kind] ?? 0;
  const lost = entry.kind === 'dispute_lost' ? entry.amount.minor_units : 0;
  return {
    refunds: row.refunds + count,
    refunded: plus(row.refunded, count * entry.amount.minor_units),
    refund_requests: row.refund_requests + (entry.request === null ? 0 : 1),
    lost_in_disputes: plus(row.lost_in_disputes, lost),
  };
}

/** Whatever ends an authorization ends all of it: of a smaller capture the rest is released. */
function heldAfter(entry: AuthorizationEntry, row: LedgerRow): Partial<LedgerRow> {
  const follow_up_requests = row.follow_up_requests + (entry.kind === 'authorization_lapsed' ? 0 : 1);
  if (entry.kind === 'authorization_kept') return { follow_up_requests };
  const held = { ...row.held, minor_units: 0 };
  if (entry.kind !== 'authorization_captured') return { held, follow_up_requests };
  const moved = plus(row.moved, entry.amount.minor_units);
  return { charges: row.charges + 1, moved, held, follow_up_requests };
}

function plus(amount: WireMoney, minorUnits: number): WireMoney {
  return { ...amount, minor_units: amount.minor_units + minorUnits };
}
