import type { Shop, ShopOrder } from '../cli/tour/shop.ts';
import { timeAll } from './load.ts';
import type { BenchGateway } from './stack.ts';

const CREATED_AT_ONCE = 4;

/** Orders that nobody has paid yet; making them is no part of what is measured. */
export async function createOrders(shop: Shop, gateway: BenchGateway, count: number): Promise<ShopOrder[]> {
  const orders: ShopOrder[] = [];
  await timeAll(Array.from({ length: count }), CREATED_AT_ONCE, async () => {
    orders.push(await shop.createOrder(gateway));
  });
  return orders;
}

/** Pays as a customer's browser does. @throws Error unless the answer is that the order is paid */
export async function payAndExpectPaid(shop: Shop, order: ShopOrder): Promise<void> {
  const { status, body } = await shop.pay(order);
  if (status === 200 && body.status === 'paid') return;
  throw new Error(
    `Order ${order.id} was answered ${status} and is ${body.status}; a bench of failures measures nothing.`,
  );
}
