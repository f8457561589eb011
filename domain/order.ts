/** Every status an order can have. The words stand in SQL, JSON, the docs and the Temporal UI just so. */
export const ORDER_STATUSES = [
  'created',
  'processing',
  'requires_action',
  'authorized',
  'unknown',
  'paid',
  'failed',
  'expired',
  'cancelled',
  'voided',
] as const;

export type OrderStatus = (typeof ORDER_STATUSES)[number];

/**
 * Where an order may go from each status. The database holds the same pairs (order_status_transitions) and refuses any
 * other; a test compares the two and the diagram in docs/states.md. `paid` goes nowhere: refunds and disputes are
 * amounts beside it, and money that comes in after the end is an over-payment, never a way back.
 */
export const ORDER_TRANSITIONS: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  created: ['processing', 'expired', 'cancelled'],
  processing: ['paid', 'failed', 'unknown', 'requires_action', 'authorized'],
  requires_action: ['processing', 'paid', 'failed', 'unknown', 'expired'],
  authorized: ['paid', 'voided', 'expired', 'unknown'],
  unknown: ['paid', 'failed', 'authorized'],
  paid: [],
  failed: ['processing', 'expired', 'cancelled'],
  expired: [],
  cancelled: [],
  voided: [],
};

/**
 * The statuses that tell somebody "this is how it ended". Each needs an evidence row; the database refuses one without.
 * `failed` is among them although a further attempt may follow: the shop reads it as an answer.
 */
export const EVIDENCED_ORDER_STATUSES = ['paid', 'failed', 'expired', 'cancelled', 'voided'] as const;

export type EvidencedOrderStatus = (typeof EVIDENCED_ORDER_STATUSES)[number];

export function needsEvidence(status: OrderStatus): status is EvidencedOrderStatus {
  return (EVIDENCED_ORDER_STATUSES as readonly OrderStatus[]).includes(status);
}

/** The order's payment life is over: no further attempt can follow, and its workflow has ended or is about to. */
export function isClosed(status: OrderStatus): boolean {
  return ORDER_TRANSITIONS[status].length === 0;
}

/** A new attempt may be claimed: nothing was tried yet, or the last attempt is proven dead. */
export const PAYABLE_ORDER_STATUSES = ['created', 'failed'] as const satisfies readonly OrderStatus[];

export function isPayable(status: OrderStatus): boolean {
  return (PAYABLE_ORDER_STATUSES as readonly OrderStatus[]).includes(status);
}

/**
 * The caller of `pay` can be answered now: the order is closed, has failed, waits for the customer, or holds an
 * authorization. `processing` and `unknown` mean "not yet".
 */
export const ANSWERABLE_ORDER_STATUSES: readonly OrderStatus[] = [
  'paid',
  'failed',
  'expired',
  'cancelled',
  'voided',
  'requires_action',
  'authorized',
];

export function isAnswerable(status: OrderStatus): boolean {
  return ANSWERABLE_ORDER_STATUSES.includes(status);
}

/** How often a customer may buy a product. The database keeps it by a unique index. */
export const PURCHASE_LIMITS = ['one_per_customer'] as const;

export type PurchaseLimit = (typeof PURCHASE_LIMITS)[number];

export function canMove(from: OrderStatus, to: OrderStatus): boolean {
  return ORDER_TRANSITIONS[from].includes(to);
}
