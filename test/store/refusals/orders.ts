import { EVIDENCED_ORDER_STATUSES, ORDER_TRANSITIONS, type OrderStatus } from '../../../domain/order.ts';
import type { Database } from '../../../store/database.ts';
import { evidenceRow, insertRow, orderRow, type Row, storeOrder, updateRow } from '../../support/rows.ts';
import { type Refusals, unguarded } from './refusals.ts';

export function orderRefusals(database: Database): Refusals {
  return { ...columnRefusals(database), ...lifeRefusals(database), ...evidenceRefusals(database) };
}

function columnRefusals(database: Database): Refusals {
  const insert = (changes: Row) => insertRow(database, 'orders', orderRow(changes));

  return {
    orders_pkey: {
      'the same id twice': async () => insert({ id: await storeOrder(database) }),
    },
    orders_shop_reference_unique: {
      'the same reference of the shop twice': async () => {
        const row = orderRow({ shop_reference: crypto.randomUUID() });
        await insertRow(database, 'orders', row);
        await insert({ shop_reference: row.shop_reference });
      },
    },
    orders_shop_reference_bounded: {
      empty: () => insert({ shop_reference: '' }),
      'too long': () => insert({ shop_reference: 'x'.repeat(129) }),
    },
    orders_amount_positive_and_safe: {
      'nothing to pay': () => insert({ amount_minor_units: 0 }),
      'less than nothing': () => insert({ amount_minor_units: -1 }),
      'one more than a number holds exactly': () => insert({ amount_minor_units: '9007199254740992' }),
    },
    orders_currency_is_iso_code: {
      'lower case': () => insert({ currency: 'eur' }),
      'four letters': () => insert({ currency: 'EURO' }),
    },
    orders_gateway_bounded: {
      empty: () => insert({ gateway: '' }),
      'too long': () => insert({ gateway: 'x'.repeat(65) }),
    },
    orders_description_bounded: {
      empty: () => insert({ description: '' }),
      'too long': () => insert({ description: 'x'.repeat(501) }),
    },
    orders_return_url_bounded: {
      empty: () => insert({ return_url: '' }),
      'too long': () => insert({ return_url: 'x'.repeat(2001) }),
    },
    orders_status_known: {
      'a word that is no status': () =>
        unguarded(database, (transaction) => insertRow(transaction, 'orders', orderRow({ status: 'succeeded' }))),
    },
    orders_current_attempt_bounded: {
      'a hundredth attempt': () =>
        unguarded(database, (transaction) => insertRow(transaction, 'orders', orderRow({ current_attempt: 100 }))),
    },
  };
}

function lifeRefusals(database: Database): Refusals {
  const insert = (changes: Row) => insertRow(database, 'orders', orderRow(changes));
  const change = async (status: OrderStatus, changes: Row) =>
    updateRow(database, { table: 'orders', key: { id: await storeOrder(database, status) } }, changes);

  return {
    orders_review_has_reason: {
      'in review for no reason': () => change('unknown', { needs_review: true }),
      'a reason without a review': () => change('unknown', { review_reason: 'why' }),
    },
    orders_review_reason_bounded: {
      empty: () => change('unknown', { needs_review: true, review_reason: '' }),
      'too long': () => change('unknown', { needs_review: true, review_reason: 'x'.repeat(501) }),
    },
    orders_start_as_created: {
      'begun as processing': () => insert({ status: 'processing' }),
      'begun with an attempt': () => insert({ current_attempt: 1 }),
    },
    orders_transition_allowed: {
      'back from paid': () => change('paid', { status: 'created', evidence_id: null }),
    },
    orders_amount_fixed: {
      'C62: another amount': () => change('created', { amount_minor_units: 1 }),
      'another currency': () => change('created', { currency: 'USD' }),
      'another gateway': () => change('created', { gateway: 'other' }),
      'another id': () => change('created', { id: crypto.randomUUID() }),
    },
    orders_attempts_count_up: {
      'two at once': () => change('created', { current_attempt: 2 }),
      'one less': () => change('created', { current_attempt: -1 }),
    },
    orders_never_removed: {
      deleted: async () => database.query('delete from orders where id = $1', [await storeOrder(database)]),
      truncated: () => database.query('truncate orders cascade'),
    },
  };
}

function evidenceRefusals(database: Database): Refusals {
  return {
    orders_final_status_has_evidence: {
      ...Object.fromEntries(
        EVIDENCED_ORDER_STATUSES.map((status) => [
          `${status} without evidence`,
          async () =>
            updateRow(
              database,
              { table: 'orders', key: { id: await storeOrder(database, before(status)) } },
              { status },
            ),
        ]),
      ),
      'evidence kept when a further attempt begins': async () =>
        updateRow(
          database,
          { table: 'orders', key: { id: await storeOrder(database, 'failed') } },
          { status: 'processing' },
        ),
    },
    orders_evidence_proves_status: {
      'evidence of another order': async () => {
        const proof = evidenceRow(await storeOrder(database), { attempt_number: 1, proves_order_status: 'paid' });
        await insertRow(database, 'evidence', proof);
        await settle(database, await storeOrder(database, 'processing'), { status: 'paid', evidence_id: proof.id });
      },
      'evidence of another status': async () => {
        const orderId = await storeOrder(database, 'processing');
        const proof = evidenceRow(orderId, { attempt_number: 1, proves_order_status: 'failed' });
        await insertRow(database, 'evidence', proof);
        await settle(database, orderId, { status: 'paid', evidence_id: proof.id });
      },
      'evidence that proves nothing': async () => {
        const orderId = await storeOrder(database, 'processing');
        const proof = evidenceRow(orderId, { attempt_number: 1, proves_attempt_status: 'approved' });
        await insertRow(database, 'evidence', proof);
        await settle(database, orderId, { status: 'paid', evidence_id: proof.id });
      },
      'evidence that does not exist': async () =>
        settle(database, await storeOrder(database, 'processing'), {
          status: 'paid',
          evidence_id: crypto.randomUUID(),
        }),
    },
    orders_evidence_fixed: {
      'other evidence for the same end': async () => {
        const orderId = await storeOrder(database, 'paid');
        const proof = evidenceRow(orderId, { attempt_number: 1, proves_order_status: 'paid' });
        await insertRow(database, 'evidence', proof);
        await settle(database, orderId, { evidence_id: proof.id });
      },
    },
  };
}

function settle(database: Database, orderId: string, changes: Row): Promise<void> {
  return updateRow(database, { table: 'orders', key: { id: orderId } }, changes);
}

function before(status: OrderStatus): OrderStatus {
  const found = (Object.keys(ORDER_TRANSITIONS) as OrderStatus[]).find((from) =>
    ORDER_TRANSITIONS[from].includes(status),
  );
  if (found === undefined) throw new Error(`Nothing leads to ${status}`);
  return found;
}
