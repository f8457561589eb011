export { expireUnpaidOrders } from './expire-unpaid-orders.ts';
export { purchase } from './purchase.ts';
