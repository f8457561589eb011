import type { Database } from '../../../store/database.ts';
import { attemptRow, insertRow, type Row, storeAttempt, storeOrder } from '../../support/rows.ts';
import { type Refusals, unguarded } from './refusals.ts';

const AT = '2026-11-30T12:00:00.000Z';

export function outboxRefusals(database: Database): Refusals {
  return { ...kindRefusals(database), ...eventRefusals(database), ...changeRefusals(database) };
}

function event(orderId: string, changes: Row = {}): Row {
  const row = { order_id: orderId, attempt_number: 1, kind: 'order.paid', payload: '{}', created_at: AT };
  return { id: crypto.randomUUID(), ...row, ...changes };
}

function kindRefusals(database: Database): Refusals {
  return {
    outbox_event_kinds_format: {
      'of one word': () => insertRow(database, 'outbox_event_kinds', { kind: 'paid' }),
    },
    outbox_events_kind_known: {
      'of no kind we know': async () =>
        insertRow(database, 'outbox_events', event(await storeOrder(database), { kind: 'order.lost' })),
    },
  };
}

function eventRefusals(database: Database): Refusals {
  const insert = (row: Row) => insertRow(database, 'outbox_events', row);
  const twice = async (changes: Row) => {
    const orderId = await storeOrder(database);
    await insert(event(orderId, changes));
    await insert(event(orderId, changes));
  };
  return {
    outbox_events_pkey: {
      'the same id twice': async () => {
        const row = event(await storeOrder(database));
        await insert(row);
        await insert({ ...row, kind: 'order.failed' });
      },
    },
    outbox_events_subject_bounded: { 'about nothing': () => twice({ subject_id: '' }) },
    outbox_events_order_id_fkey: { 'about no order': () => insert(event(crypto.randomUUID())) },
    outbox_events_once: {
      'the same news of an attempt twice': () => twice({ kind: 'order.failed' }),
      'the same news without an attempt twice': () => twice({ kind: 'order.expired', attempt_number: null }),
      'the same news of a refund twice': () =>
        twice({ kind: 'refund.succeeded', attempt_number: null, subject_id: crypto.randomUUID() }),
    },
    outbox_events_paid_once: {
      'paid by two attempts': async () => {
        const orderId = await storeAttempt(database, 'declined');
        await insertRow(database, 'payment_attempts', attemptRow(orderId, 2));
        await insert(event(orderId));
        await insert(event(orderId, { attempt_number: 2 }));
      },
    },
  };
}

function changeRefusals(database: Database): Refusals {
  const stored = async () => {
    const orderId = await storeOrder(database);
    await insertRow(database, 'outbox_events', event(orderId));
    await insertRow(database, 'outbox_events', event(orderId, { kind: 'order.failed' }));
    return orderId;
  };
  const number = async (sequence: number) => {
    const orderId = await stored();
    return unguarded(database, (transaction) =>
      transaction.query('update outbox_events set sequence = $2 where order_id = $1', [orderId, sequence]),
    );
  };
  return {
    outbox_events_append_only: {
      'an edit': async () =>
        database.query(`update outbox_events set payload = '{}' where order_id = $1`, [await stored()]),
      'a removal': async () => database.query('delete from outbox_events where order_id = $1', [await stored()]),
    },
    outbox_events_sequence_counts: { 'the number 0': () => number(0) },
    outbox_events_sequence_once: { 'two events of one number': () => number(7) },
  };
}
