import { CodedError } from '../domain/errors.ts';
import type { Database } from '../store/database.ts';
import { findOrder, type Order } from '../store/orders/orders.ts';

/** @throws CodedError `order_not_found` */
export async function readKnownOrder(database: Database, orderId: string): Promise<Order> {
  const order = await findOrder(database, orderId);
  if (order === undefined) throw new CodedError('order_not_found');
  return order;
}
