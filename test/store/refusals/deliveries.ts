import { randomBytes } from 'node:crypto';
import type { Database } from '../../../store/database.ts';
import { insertRow, type Row, storeOrder } from '../../support/rows.ts';
import type { Refusals } from './refusals.ts';

const AT = '2026-11-30T12:00:00.000Z';

export function deliveryRefusals(database: Database): Refusals {
  return { ...endpointRefusals(database), ...rowRefusals(database), ...keyRefusals(database) };
}

function endpointRow(changes: Row = {}): Row & { readonly id: string } {
  const row = { url: 'https://shop.example/hooks', secret_hash: randomBytes(32), created_at: AT };
  return { id: crypto.randomUUID(), ...row, ...changes };
}

function endpointRefusals(database: Database): Refusals {
  const insert = (changes: Row) => insertRow(database, 'webhook_endpoints', endpointRow(changes));
  return {
    webhook_endpoints_pkey: {
      'the same id twice': async () => {
        const { id } = endpointRow();
        await insert({ id });
        await insert({ id });
      },
    },
    webhook_endpoints_url_format: {
      'no web address': () => insert({ url: 'ftp://shop.example' }),
      'a blank in it': () => insert({ url: 'https://shop.example/a b' }),
      'too long': () => insert({ url: `https://shop.example/${'x'.repeat(2_000)}` }),
    },
    webhook_endpoints_kinds_not_empty: { 'told of nothing': () => insert({ event_kinds: [] }) },
    webhook_endpoints_generation_bounded: { 'generation 0': () => insert({ secret_generation: 0 }) },
    webhook_endpoints_hash_is_sha256: { 'the secret itself': () => insert({ secret_hash: Buffer.from('whsec_') }) },
    webhook_endpoints_previous_exists: {
      'a secret before the first': () => insert({ previous_secret_until: AT }),
    },
    webhook_endpoints_reason_bounded: { 'an empty reason': () => insert({ disabled_at: AT, disabled_reason: '' }) },
    webhook_endpoints_disabled_has_reason: {
      'disabled without a reason': () => insert({ disabled_at: AT }),
      'a reason without being disabled': () => insert({ disabled_reason: 'gone' }),
    },
    webhook_endpoints_never_removed: { 'a removal': () => database.query('delete from webhook_endpoints') },
  };
}

/** A delivery that waits, with the changes that a test is about. */
async function insertDelivery(database: Database, changes: Row = {}): Promise<Row> {
  const endpoint = endpointRow();
  await insertRow(database, 'webhook_endpoints', endpoint);
  const event = { id: crypto.randomUUID(), order_id: await storeOrder(database), kind: 'order.paid' };
  await insertRow(database, 'outbox_events', { ...event, payload: '{}', created_at: AT });
  const row = { event_id: event.id, endpoint_id: endpoint.id, tries_since: AT, next_try_at: AT, ...changes };
  await insertRow(database, 'deliveries', row);
  return row;
}

function rowRefusals(database: Database): Refusals {
  const insert = (changes: Row) => insertDelivery(database, changes);
  return {
    deliveries_status_known: { 'of no status': () => insert({ status: 'lost', next_try_at: null }) },
    deliveries_tries_bounded: { 'less than none': () => insert({ tries: -1 }) },
    deliveries_answer_bounded: { 'a whole page': () => insert({ last_answer: 'x'.repeat(501) }) },
    deliveries_reason_bounded: {
      'an empty reason': () => insert({ status: 'parked', next_try_at: null, parked_reason: '' }),
    },
    deliveries_pending_has_time: {
      'pending for ever': () => insert({ next_try_at: null }),
      'delivered and due': () => insert({ status: 'delivered', delivered_at: AT }),
    },
    deliveries_delivered_has_time: {
      'delivered at no time': () => insert({ status: 'delivered', next_try_at: null }),
    },
    deliveries_parked_has_reason: {
      'parked without a reason': () => insert({ status: 'parked', next_try_at: null }),
      'a reason without being parked': () => insert({ parked_reason: 'gone' }),
    },
    deliveries_leased_is_pending: {
      'delivered and being sent': () =>
        insert({ status: 'delivered', next_try_at: null, delivered_at: AT, lease: crypto.randomUUID() }),
    },
    deliveries_never_removed: { 'a removal': () => database.query('delete from deliveries') },
  };
}

function keyRefusals(database: Database): Refusals {
  return {
    deliveries_pkey: {
      'the same event to the same endpoint twice': async () =>
        insertRow(database, 'deliveries', await insertDelivery(database)),
    },
    deliveries_event_id_fkey: { 'of no event': () => insertDelivery(database, { event_id: crypto.randomUUID() }) },
    deliveries_endpoint_id_fkey: { 'to nobody': () => insertDelivery(database, { endpoint_id: crypto.randomUUID() }) },
  };
}
