import type { Database } from '../../../store/database.ts';
import { insertRow, type Row, storeOrder, updateRow } from '../../support/rows.ts';
import type { Refusals } from './refusals.ts';

const AT = '2026-11-30T12:00:00.000Z';

export function inboxEventRefusals(database: Database): Refusals {
  const row = (changes: Row = {}): Row & { readonly id: string } => {
    const id = crypto.randomUUID();
    const said = { gateway: 'simulator', event_id: id, event_type: 'charge.approved', body: Buffer.from('{}') };
    return { id, ...said, received_at: AT, news: '{}', merchant_reference: 'R', state: 'unmatched', ...changes };
  };
  const insert = (changes: Row = {}) => insertRow(database, 'inbox_events', row(changes));
  const stored = async (changes: Row = {}): Promise<{ readonly table: string; readonly key: Row }> => {
    const whole = row({ state: 'stored', order_id: await storeOrder(database), attempt_number: 1, ...changes });
    await insertRow(database, 'inbox_events', whole);
    return { table: 'inbox_events', key: { id: whole.id } };
  };
  const text = (length: number): string => 'x'.repeat(length);
  return {
    inbox_events_pkey: {
      'the same id twice': async () => {
        const whole = row();
        await insertRow(database, 'inbox_events', whole);
        await insertRow(database, 'inbox_events', { ...whole, event_id: 'another' });
      },
    },
    inbox_events_once: {
      'the same event of a gateway twice': async () => {
        await insert({ event_id: 'evt_twice' });
        await insert({ event_id: 'evt_twice' });
      },
    },
    inbox_events_gateway_bounded: { 'a gateway without a name': () => insert({ gateway: '' }) },
    inbox_events_event_id_bounded: { 'an id that is too long': () => insert({ event_id: text(256) }) },
    inbox_events_event_type_bounded: { 'a kind that is too long': () => insert({ event_type: text(101) }) },
    inbox_events_body_bounded: { 'a body that is too large': () => insert({ body: Buffer.alloc(2_097_153) }) },
    inbox_events_merchant_reference_bounded: { 'an empty reference': () => insert({ merchant_reference: '' }) },
    inbox_events_gateway_reference_bounded: { 'an empty reference': () => insert({ gateway_reference: '' }) },
    inbox_events_state_known: {
      'a state we do not know': async () => insert({ state: 'lost', order_id: await storeOrder(database) }),
    },
    inbox_events_order_id_fkey: { 'of no order': () => insert({ state: 'stored', order_id: crypto.randomUUID() }) },
    inbox_events_attempt_exists: {
      'of an attempt that was never made': async () =>
        insert({ state: 'stored', order_id: await storeOrder(database), attempt_number: 7 }),
    },
    inbox_events_understood_has_news: {
      'understood and without news': () => insert({ news: null }),
      'with news and not understood': () => insert({ state: 'not_understood' }),
    },
    inbox_events_news_names_a_charge: { 'news of nothing': () => insert({ merchant_reference: null }) },
    inbox_events_matched_has_order: {
      'stored for no order': () => insert({ state: 'stored' }),
      'unmatched and with an order': async () => insert({ order_id: await storeOrder(database) }),
    },
    inbox_events_applied_has_time: {
      'applied at no time': async () => insert({ state: 'applied', order_id: await storeOrder(database) }),
      'not applied and with a time': () => insert({ applied_at: AT }),
    },
    inbox_events_remark_bounded: { 'a remark that is too long': () => insert({ remark: text(1_001) }) },
    inbox_events_trouble_has_remark: {
      'doubted without a word': async () =>
        insert({ state: 'doubted', applied_at: AT, order_id: await storeOrder(database) }),
    },
    inbox_events_content_fixed: {
      'another body': async () => updateRow(database, await stored(), { body: Buffer.from('[]') }),
      'other news': async () => updateRow(database, await stored(), { news: '{"subject":"refund"}' }),
    },
    inbox_events_applied_is_final: {
      'applied and stored again': async () =>
        updateRow(database, await stored({ state: 'applied', applied_at: AT }), { state: 'stored', applied_at: null }),
    },
    inbox_events_never_removed: { 'the removal of an event': () => database.query('delete from inbox_events') },
  };
}
