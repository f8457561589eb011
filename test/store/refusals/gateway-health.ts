import type { Database } from '../../../store/database.ts';
import { attemptRow, insertRow, orderRow, type Row, storeOrder, updateRow } from '../../support/rows.ts';
import type { Refusals } from './refusals.ts';

const AT = '2026-11-30T12:00:00.000Z';

export function gatewayHealthRefusals(database: Database): Refusals {
  const insert = (changes: Row) => insertRow(database, 'gateway_health', { updated_at: AT, ...changes });
  const insertOrder = (changes: Row) => insertRow(database, 'orders', orderRow(changes));
  return {
    gateway_health_pkey: {
      'the same gateway twice': async () => {
        await insert({ gateway: 'twice' });
        await insert({ gateway: 'twice' });
      },
    },
    gateway_health_gateway_bounded: {
      empty: () => insert({ gateway: '' }),
      'too long': () => insert({ gateway: 'x'.repeat(65) }),
    },
    gateway_health_probe_is_set: {
      'open without a next probe': () => insert({ gateway: 'open', opened_at: AT }),
      'a probe of a closed breaker': () => insert({ gateway: 'closed', probe_at: AT }),
    },
    orders_fallback_gateways_bounded: {
      'more than three': () => insertOrder({ fallback_gateways: ['a', 'b', 'c', 'd'] }),
      'one that is none': () => insertOrder({ fallback_gateways: [null] }),
      'its own gateway': () => insertOrder({ fallback_gateways: ['simulator'] }),
    },
    orders_fallback_gateways_fixed: {
      'one more, later': async () => {
        const key = { id: await storeOrder(database) };
        await updateRow(database, { table: 'orders', key }, { fallback_gateways: ['another'] });
      },
    },
    payment_attempts_gateway_is_of_order: {
      "a gateway that is not the order's": async () => {
        const order = orderRow({ fallback_gateways: ['second'] });
        await insertRow(database, 'orders', order);
        await insertRow(database, 'payment_attempts', attemptRow(order.id, 1, { gateway: 'third' }));
      },
    },
  };
}
