import type { Database } from '../../../store/database.ts';
import {
  evidenceRow,
  insertRow,
  moveAttempt,
  type Row,
  storeAttempt,
  storeOrder,
  updateRow,
} from '../../support/rows.ts';
import type { Refusals } from './refusals.ts';

export function evidenceRefusals(database: Database): Refusals {
  const insert = async (changes: Row, orderId?: string) =>
    insertRow(database, 'evidence', evidenceRow(orderId ?? (await storeOrder(database)), changes));
  const neverSent = (changes: Row, orderId?: string) =>
    insert({ kind: 'never_sent', attempt_number: 1, ...changes }, orderId);

  return {
    evidence_pkey: {
      'the same id twice': async () => {
        const row = evidenceRow(await storeOrder(database));
        await insertRow(database, 'evidence', row);
        await insertRow(database, 'evidence', row);
      },
    },
    evidence_order_id_fkey: { 'about no order': () => insert({}, crypto.randomUUID()) },
    evidence_attempt_exists: { 'about an attempt that never was': () => insert({ attempt_number: 2 }) },
    evidence_kind_known: { 'retries exhausted': () => insert({ kind: 'retries_exhausted' }) },
    evidence_order_status_is_final: { 'of processing': () => insert({ proves_order_status: 'processing' }) },
    evidence_attempt_status_is_settled: {
      'of unknown': () => insert({ attempt_number: 1, proves_attempt_status: 'unknown' }),
    },
    evidence_detail_bounded: { 'too long': () => insert({ detail: 'x'.repeat(8001) }) },
    evidence_attempt_is_named: {
      'an end of no attempt': () => insert({ proves_attempt_status: 'declined' }),
      'paid by no attempt': () => insert({ proves_order_status: 'paid' }),
    },
    evidence_never_sent_proves_no_payment: {
      'for paid': () => neverSent({ proves_order_status: 'paid' }),
      'for voided': () => neverSent({ proves_order_status: 'voided' }),
      'for approved': () => neverSent({ proves_attempt_status: 'approved' }),
      'for declined': () => neverSent({ proves_attempt_status: 'declined' }),
    },
    evidence_never_sent_is_true: {
      'of an attempt that was sent': async () =>
        neverSent({ proves_attempt_status: 'not_processed' }, await storeAttempt(database, 'sent')),
      'of an order with an attempt that was sent': async () =>
        neverSent({ attempt_number: null, proves_order_status: 'expired' }, await storeAttempt(database, 'unknown')),
      'of an attempt that is sent before it is closed': async () => {
        const orderId = await storeAttempt(database, 'claimed');
        const proof = evidenceRow(orderId, {
          kind: 'never_sent',
          attempt_number: 1,
          proves_attempt_status: 'not_processed',
        });
        await insertRow(database, 'evidence', proof);
        await moveAttempt(database, orderId, 'sent');
        const closed = { status: 'not_processed', decline_code: 'never_arrived', decline_retriable: true };
        const key = { order_id: orderId, attempt_number: 1 };
        await updateRow(database, { table: 'payment_attempts', key: key }, { ...closed, evidence_id: proof.id });
      },
    },
    evidence_append_only: {
      changed: () => database.query(`update evidence set detail = 'other'`),
      removed: () => database.query('delete from evidence'),
      truncated: () => database.query('truncate evidence cascade'),
    },
  };
}
