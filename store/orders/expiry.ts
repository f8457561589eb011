import type { OrderStatus } from '../../domain/order.ts';
import { type Database, inTransaction, type Queryable } from '../database.ts';
import { closeUnpaid, readUnpaid } from './close-unpaid.ts';

/**
 * Closes an order that nobody paid in time. Only from `created` and `failed`, so only when no attempt of it is alive: an
 * order whose money is in doubt never expires. Returns whether this call closed it.
 */
export async function expireOrder(database: Database, orderId: string, now: string): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    const { rows } = await transaction.query<{ status: OrderStatus }>(
      `select status from orders where id = $1 and status in ('created', 'failed') and expires_at <= $2 for update`,
      [orderId, now],
    );
    const [row] = rows;
    if (row === undefined) return false;
    const order = await readUnpaid(transaction, { orderId, orderStatus: row.status });
    await closeUnpaid(transaction, order, { status: 'expired', now });
    return true;
  });
}

/** Unpaid orders whose time is over, oldest first. */
export async function listExpired(database: Queryable, now: string, limit: number): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `select id from orders where status in ('created', 'failed') and expires_at <= $1 order by expires_at limit $2`,
    [now, limit],
  );
  return rows.map(({ id }) => id);
}
