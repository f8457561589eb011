export { applyEvent } from './apply-event.ts';
export { expireUnpaidOrders } from './expire-unpaid-orders.ts';
export { purchase } from './purchase.ts';
export { recover } from './recover.ts';
export { refund } from './refund.ts';
export { sweep } from './sweep.ts';
