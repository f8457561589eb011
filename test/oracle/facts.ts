/** A row as it stands in its table. */
export type Row = Readonly<Record<string, unknown>>;

/** A charge in the gateway's own books, which the product has no way to write: the only judge of money. */
export interface ChargeInLedger {
  readonly reference: string;
  readonly status: 'approved' | 'declined' | 'pending' | 'requires_action';
  readonly minorUnits: number;
  readonly currency: string;
}

/** What reached the gateway under one merchant reference. */
export interface RequestsInLedger {
  readonly reference: string;
  readonly keys: readonly string[];
  readonly bodies: readonly string[];
}

export interface WorkflowFacts {
  readonly status: 'open' | 'completed' | 'failed';
  /** Tasks that failed, or replays that went another way. */
  readonly strays: readonly string[];
}

/** An answer that a caller got for a request. */
export interface Told {
  readonly key: string;
  readonly body: string;
  readonly answer: string;
  readonly status: string;
}

/** Everything that is known of one order, from the database, from the gateway's ledger and from Temporal. */
export interface OrderFacts {
  /** `during`: faults go on. `after`: they have stopped, and time enough has passed for everything to be found out. */
  readonly stage: 'during' | 'after';
  readonly order: Row;
  readonly attempts: readonly Row[];
  readonly evidence: readonly Row[];
  readonly outbox: readonly Row[];
  readonly entitlements: readonly Row[];
  readonly refunds: readonly Row[];
  readonly overPayments: readonly Row[];
  readonly journal: readonly Row[];
  readonly inbox: readonly Row[];
  readonly charges: readonly ChargeInLedger[];
  readonly requests: readonly RequestsInLedger[];
  /** The statuses that the order was seen in, in their order. */
  readonly statuses: readonly string[];
  readonly told: readonly Told[];
  readonly workflow: WorkflowFacts | null;
}

/** An order of which nothing is known but its row; for tests, and for what a reader does not look at. */
export function factsOf(order: Row, known: Partial<OrderFacts> = {}): OrderFacts {
  return {
    stage: 'during',
    order,
    attempts: [],
    evidence: [],
    outbox: [],
    entitlements: [],
    refunds: [],
    overPayments: [],
    journal: [],
    inbox: [],
    charges: [],
    requests: [],
    statuses: [],
    told: [],
    workflow: null,
    ...known,
  };
}
