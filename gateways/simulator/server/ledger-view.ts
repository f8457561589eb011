import type { Entry, WireMoney } from './entries.ts';

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
  const { account, reference, amount, gateway_reference: id } = entry;
  const row = before ?? {
    account,
    reference,
    charges: 0,
    moved: { minor_units: 0, currency: amount.currency },
    requests: 0,
    declined: 0,
    open: 0,
    gateway_references: [],
  };
  const isCharge = entry.kind !== 'request_repeated';
  const isKnown = id === null || row.gateway_references.includes(id);
  const hasMoved = entry.kind === 'money_moved';
  // A row without a request settles a charge that was open until now.
  const openBefore = isCharge && entry.request === null ? row.open - 1 : row.open;
  return {
    ...row,
    charges: row.charges + (hasMoved ? 1 : 0),
    moved: { ...row.moved, minor_units: row.moved.minor_units + (hasMoved ? amount.minor_units : 0) },
    requests: row.requests + (entry.request === null ? 0 : 1),
    declined: row.declined + (entry.kind === 'charge_declined' ? 1 : 0),
    open: openBefore + (entry.kind === 'charge_opened' ? 1 : 0),
    gateway_references: isKnown ? row.gateway_references : [...row.gateway_references, id],
  };
}
