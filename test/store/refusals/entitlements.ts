import type { Database } from '../../../store/database.ts';
import { insertRow, orderRow, type Row, storeOrder, updateRow } from '../../support/rows.ts';
import type { Refusals } from './refusals.ts';

const AT = '2026-11-30T12:00:00.000Z';
const LATER = '2026-11-30T13:00:00.000Z';

export function entitlementRefusals(database: Database): Refusals {
  return { ...orderColumnRefusals(database), ...insertRefusals(database), ...changeRefusals(database) };
}

function orderColumnRefusals(database: Database): Refusals {
  const withKinds = (kinds: readonly (string | null)[]) =>
    insertRow(database, 'orders', orderRow({ entitlement_kinds: kinds }));
  return {
    orders_entitlement_kinds_format: {
      none: () => withKinds([]),
      'more than twenty': () => withKinds(Array.from({ length: 21 }, (_, place) => `kind${place}`)),
      'capital letters': () => withKinds(['Download']),
      'two in one': () => withKinds(['download,licence']),
      nothing: () => withKinds([null]),
    },
    orders_entitlement_kinds_fixed: {
      'another kind afterwards': async () => {
        const key = { id: await storeOrder(database) };
        await updateRow(database, { table: 'orders', key }, { entitlement_kinds: ['licence'] });
      },
    },
  };
}

function insertRefusals(database: Database): Refusals {
  const row = { kind: 'order', granted_at: AT };
  return {
    entitlements_pkey: {
      'the same kind of an order twice': async () =>
        insertRow(database, 'entitlements', { ...row, order_id: await storeOrder(database, 'paid') }),
    },
    entitlements_order_id_fkey: {
      'for no order': () =>
        database.withConnection(async (connection) => {
          await connection.query('begin; alter table entitlements disable trigger entitlements_guard');
          await insertRow(connection, 'entitlements', { ...row, order_id: crypto.randomUUID() });
        }),
    },
    entitlements_order_is_paid: {
      'for an unpaid order': async () =>
        insertRow(database, 'entitlements', { ...row, order_id: await storeOrder(database, 'failed') }),
      'of a kind that was not sold': async () =>
        insertRow(database, 'entitlements', { ...row, order_id: await storeOrder(database, 'paid'), kind: 'yacht' }),
    },
  };
}

function changeRefusals(database: Database): Refusals {
  const change = async (...steps: readonly Row[]) => {
    const key = { order_id: await storeOrder(database, 'paid') };
    for (const step of steps) await updateRow(database, { table: 'entitlements', key }, step);
  };
  const redeemed = { redeemed_at: AT, redeemed_by: 'download 1' };
  const revoked = { revoked_at: AT, revoked_reason: 'The money went back.' };
  return {
    entitlements_end_fixed: {
      'redeemed by another': () => change(redeemed, { redeemed_by: 'download 2' }),
      'not redeemed after all': () => change(redeemed, { redeemed_at: null, redeemed_by: null }),
      'given back': () => change(revoked, { revoked_at: null, revoked_reason: null }),
      'redeemed after it was revoked': () => change(revoked, redeemed),
      'granted at another time': () => change({ granted_at: LATER }),
    },
    entitlements_redeemer_bounded: { 'by nobody': () => change({ redeemed_at: AT, redeemed_by: '' }) },
    entitlements_redeemed_has_redeemer: { 'by nobody known': () => change({ redeemed_at: AT }) },
    entitlements_reason_bounded: { 'hardly a reason': () => change({ revoked_at: AT, revoked_reason: 'so' }) },
    entitlements_revoked_has_reason: { 'without a word': () => change({ revoked_at: AT }) },
    entitlements_never_removed: {
      'a removal': () => database.query('delete from entitlements'),
      'a removal of all': () => database.query('truncate entitlements'),
    },
  };
}
