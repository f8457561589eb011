import type { Currency } from '../../domain/currencies.ts';
import type { Money } from '../../domain/money.ts';
import type { Queryable } from '../database.ts';

/** An order that somebody began to pay and that is not closed, with the attempt that its workflow has to go on with. */
export interface OpenOrder {
  readonly id: string;
  readonly gateway: string;
  readonly amount: Money;
  readonly expiresAt: string;
  readonly attempt: {
    readonly attemptNumber: number;
    readonly paymentMethod: string;
    readonly returnUrl: string | null;
  };
}

interface Row {
  readonly id: string;
  readonly gateway: string;
  readonly amount_minor_units: number;
  readonly currency: Currency;
  readonly expires_at: string;
  readonly attempt_number: number;
  readonly payment_method: string;
  readonly return_url: string | null;
}

export interface OpenOrderPage {
  /** Only orders whose id is greater; null at the beginning. */
  readonly after: string | null;
  /** Only orders that nobody wrote to since then (ISO time): what has just moved has somebody who moves it. */
  readonly untouchedSince: string;
  /** With those that wait for the customer to try again: their workflow does nothing until then but expire. */
  readonly withFailed: boolean;
  readonly limit: number;
}

const SELECT_OPEN = `select orders.id, orders.gateway, amount_minor_units, currency, expires_at, attempt_number,
    payment_method, attempt.return_url
  from orders join payment_attempts attempt on attempt.order_id = orders.id and attempt.attempt_number = current_attempt`;

/** Orders that need a workflow, in the order of their ids, a page at a time. Whether one runs only Temporal can tell. */
export async function listOpenOrders(database: Queryable, page: OpenOrderPage): Promise<OpenOrder[]> {
  const { rows } = await database.query<Row>(
    `${SELECT_OPEN}
     where (orders.status in ('processing', 'requires_action', 'authorized', 'unknown') or ($3 and orders.status = 'failed'))
       and orders.updated_at <= $2 and ($1::uuid is null or orders.id > $1)
     order by orders.id limit $4`,
    [page.after, page.untouchedSince, page.withFailed, page.limit],
  );
  return rows.map(readOpenOrder);
}

/** The same of one order; undefined when it is closed or nobody ever tried to pay it. */
export async function findOpenOrder(database: Queryable, orderId: string): Promise<OpenOrder | undefined> {
  const { rows } = await database.query<Row>(
    `${SELECT_OPEN}
     where orders.id = $1 and orders.status in ('processing', 'requires_action', 'authorized', 'unknown', 'failed')`,
    [orderId],
  );
  return rows[0] === undefined ? undefined : readOpenOrder(rows[0]);
}

function readOpenOrder(row: Row): OpenOrder {
  return {
    id: row.id,
    gateway: row.gateway,
    amount: { minorUnits: row.amount_minor_units, currency: row.currency },
    expiresAt: row.expires_at,
    attempt: {
      attemptNumber: row.attempt_number,
      paymentMethod: row.payment_method,
      returnUrl: row.return_url,
    },
  };
}
