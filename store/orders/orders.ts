import type { AttemptStatus } from '../../domain/attempt.ts';
import { CodedError } from '../../domain/errors.ts';
import type { Money } from '../../domain/money.ts';
import type { OrderStatus, PurchaseLimit } from '../../domain/order.ts';
import type { CustomerAction, Decline } from '../../domain/outcome.ts';
import { type RefundCoverage, refundCoverage } from '../../domain/refund.ts';
import type { LastAttempt } from '../../domain/routing.ts';
import { constraintOf, type Queryable } from '../database.ts';
import { type AnswerRow, readAction, readDecline } from './payment-attempts.ts';

/** An order as its row says it, with what its last attempt said to the customer. Times are ISO strings. */
export interface Order {
  readonly id: string;
  readonly shopReference: string | null;
  readonly amount: Money;
  readonly gateway: string;
  /** Where a further attempt goes when the gateway provably took nothing, in this order. */
  readonly fallbackGateways: readonly string[];
  readonly description: string | null;
  readonly returnUrl: string | null;
  readonly status: OrderStatus;
  /** 0 before the first attempt. */
  readonly currentAttempt: number;
  /** What it entitles to once it is paid. */
  readonly entitlementKinds: readonly string[];
  /** Where the last attempt was made, and how it stands; null before the first. */
  readonly lastAttempt: Pick<LastAttempt, 'gateway' | 'status'> | null;
  /** What is sold and to whom, in the shop's words. */
  readonly product: string | null;
  readonly customer: string | null;
  readonly purchaseLimit: PurchaseLimit | null;
  /** When the shop asked to cancel it. */
  readonly cancelRequestedAt: string | null;
  readonly refundStatus: RefundCoverage;
  readonly needsReview: boolean;
  readonly reviewReason: string | null;
  readonly expiresAt: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Why the last attempt was refused; null when it was not, or when there was none. */
  readonly decline: Decline | null;
  /** What the customer has to do before the last attempt goes on. */
  readonly action: CustomerAction | null;
}

export type NewOrder = Pick<
  Order,
  | 'id'
  | 'shopReference'
  | 'amount'
  | 'gateway'
  | 'fallbackGateways'
  | 'entitlementKinds'
  | 'description'
  | 'returnUrl'
  | 'product'
  | 'customer'
  | 'purchaseLimit'
  | 'expiresAt'
  | 'createdAt'
>;

interface OrderRow extends AnswerRow {
  readonly id: string;
  readonly shop_reference: string | null;
  readonly amount_minor_units: number;
  readonly currency: Money['currency'];
  readonly gateway: string;
  readonly fallback_gateways: string[];
  readonly description: string | null;
  readonly return_url: string | null;
  readonly status: OrderStatus;
  readonly current_attempt: number;
  readonly entitlement_kinds: string[];
  readonly attempt_gateway: string | null;
  readonly attempt_status: AttemptStatus | null;
  readonly product: string | null;
  readonly customer: string | null;
  readonly purchase_limit: PurchaseLimit | null;
  readonly cancel_requested_at: string | null;
  readonly captured_minor_units: number;
  readonly refunded_minor_units: number;
  readonly needs_review: boolean;
  readonly review_reason: string | null;
  readonly expires_at: string;
  readonly created_at: string;
  readonly updated_at: string;
}

const SELECT_ORDER = `select orders.id, shop_reference, amount_minor_units, currency, orders.gateway, fallback_gateways, description,
    orders.return_url, orders.status, current_attempt,
    attempt.gateway as attempt_gateway, attempt.status as attempt_status, product, customer, purchase_limit,
    cancel_requested_at, captured_minor_units, refunded_minor_units, needs_review, review_reason, entitlement_kinds, expires_at, orders.created_at,
    orders.updated_at, decline_code, decline_gateway_code, decline_retriable, action_kind, action_url
  from orders
  left join payment_attempts attempt on attempt.order_id = orders.id and attempt.attempt_number = current_attempt`;

/** @throws CodedError `shop_reference_taken`, `limit_one_per_customer` when another order carries the reference, or holds the customer's place */
export async function insertOrder(database: Queryable, order: NewOrder): Promise<void> {
  try {
    await database.query(
      `insert into orders (id, shop_reference, amount_minor_units, currency, gateway, description, return_url,
         expires_at, created_at, updated_at, fallback_gateways, entitlement_kinds,
         product, customer, purchase_limit)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11, $12, $13, $14)`,
      [
        order.id,
        order.shopReference,
        order.amount.minorUnits,
        order.amount.currency,
        order.gateway,
        order.description,
        order.returnUrl,
        order.expiresAt,
        order.createdAt,
        order.fallbackGateways,
        order.entitlementKinds,
        order.product ?? null,
        order.customer ?? null,
        order.purchaseLimit ?? null,
      ],
    );
  } catch (cause) {
    const constraint = constraintOf(cause);
    if (constraint === 'orders_one_per_customer') {
      throw new CodedError('limit_one_per_customer', undefined, { field: 'limit', cause });
    }
    if (constraint !== 'orders_shop_reference_unique') throw cause;
    throw new CodedError(
      'shop_reference_taken',
      'Another order already carries this shop reference; read it with GET /v1/orders?shop_reference=….',
      { field: 'shop_reference', cause },
    );
  }
}

export async function findOrder(database: Queryable, id: string): Promise<Order | undefined> {
  const { rows } = await database.query<OrderRow>(`${SELECT_ORDER} where orders.id = $1`, [id]);
  return rows[0] === undefined ? undefined : readOrder(rows[0]);
}

/** The order that holds a customer's one place for a product; undefined when it has ended unpaid. */
export async function findLimitHolder(
  database: Queryable,
  { product, customer }: Pick<NewOrder, 'product' | 'customer'>,
): Promise<Pick<Order, 'id' | 'status'> | undefined> {
  const { rows } = await database.query<Pick<Order, 'id' | 'status'>>(
    `select id, status from orders
     where product = $1 and customer = $2 and purchase_limit = 'one_per_customer' and status not in ('expired', 'cancelled', 'voided')`,
    [product, customer],
  );
  return rows[0];
}

export interface OrderFilter {
  readonly status: OrderStatus | null;
  readonly shopReference: string | null;
  /** Only orders made before the one with this id, which need not exist. */
  readonly before: string | null;
  readonly limit: number;
}

/** Newest first: ids are UUIDv7 and carry their time. */
export async function listOrders(database: Queryable, filter: OrderFilter): Promise<Order[]> {
  const { rows } = await database.query<OrderRow>(
    `${SELECT_ORDER}
     where ($1::text is null or orders.status = $1)
       and ($2::text is null or shop_reference = $2)
       and ($3::uuid is null or orders.id < $3)
     order by orders.id desc limit $4`,
    [filter.status, filter.shopReference, filter.before, filter.limit],
  );
  return rows.map(readOrder);
}

function readOrder(row: OrderRow): Order {
  return {
    id: row.id,
    shopReference: row.shop_reference,
    amount: { minorUnits: row.amount_minor_units, currency: row.currency },
    gateway: row.gateway,
    fallbackGateways: row.fallback_gateways,
    description: row.description,
    returnUrl: row.return_url,
    status: row.status,
    currentAttempt: row.current_attempt,
    entitlementKinds: row.entitlement_kinds,
    lastAttempt: readLastAttempt(row),
    product: row.product,
    customer: row.customer,
    purchaseLimit: row.purchase_limit,
    cancelRequestedAt: row.cancel_requested_at,
    refundStatus: refundCoverage({ captured: row.captured_minor_units, refunded: row.refunded_minor_units }),
    needsReview: row.needs_review,
    reviewReason: row.review_reason,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    decline: readDecline(row),
    action: readAction(row),
  };
}

function readLastAttempt({ attempt_gateway: gateway, attempt_status: status }: OrderRow): Order['lastAttempt'] {
  return gateway === null || status === null ? null : { gateway, status };
}
