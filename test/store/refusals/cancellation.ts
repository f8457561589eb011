import type { Database } from '../../../store/database.ts';
import { insertRow, orderRow, type Row, storeOrder, updateRow } from '../../support/rows.ts';
import type { Refusals } from './refusals.ts';

const AT = '2026-11-30T13:00:00.000Z';

export function cancellationRefusals(database: Database): Refusals {
  const insert = (changes: Row) => insertRow(database, 'orders', orderRow(changes));
  const update = (id: string, changes: Row) => updateRow(database, { table: 'orders', key: { id } }, changes);
  const limited = (): Row => ({ product: 'course', customer: crypto.randomUUID(), purchase_limit: 'one_per_customer' });

  return {
    orders_cancel_reason_bounded: {
      empty: () => insert({ cancel_requested_at: AT, cancel_reason: '' }),
      'too long': () => insert({ cancel_requested_at: AT, cancel_reason: 'x'.repeat(501) }),
    },
    orders_cancel_has_reason: {
      'a wish without a reason': () => insert({ cancel_requested_at: AT }),
      'a reason without a wish': () => insert({ cancel_reason: 'changed my mind' }),
    },
    orders_cancel_fixed: {
      'a wish taken back': async () => {
        const id = await storeOrder(database);
        await update(id, { cancel_requested_at: AT, cancel_reason: 'changed my mind' });
        await update(id, { cancel_requested_at: null, cancel_reason: null });
      },
    },
    orders_no_attempt_after_cancel: {
      'an attempt after the wish': async () => {
        const id = await storeOrder(database);
        await update(id, { cancel_requested_at: AT, cancel_reason: 'changed my mind' });
        await update(id, { current_attempt: 1 });
      },
    },
    orders_product_bounded: {
      empty: () => insert({ product: '' }),
      'too long': () => insert({ product: 'x'.repeat(129) }),
    },
    orders_customer_bounded: {
      empty: () => insert({ customer: '' }),
      'too long': () => insert({ customer: 'x'.repeat(129) }),
    },
    orders_purchase_limit_known: {
      'another limit': () => insert({ ...limited(), purchase_limit: 'two_per_customer' }),
    },
    orders_purchase_limit_has_subject: {
      'of no product': () => insert({ ...limited(), product: null }),
      'for no customer': () => insert({ ...limited(), customer: null }),
    },
    orders_one_per_customer: {
      'a second order that can be paid': async () => {
        const row = limited();
        await insert(row);
        await insert(row);
      },
    },
    orders_purchase_limit_fixed: {
      'the limit taken away': async () => {
        const row = orderRow(limited());
        await insertRow(database, 'orders', row);
        await update(row.id, { purchase_limit: null });
      },
    },
  };
}
