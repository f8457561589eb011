import { v7 as newId } from 'uuid';
import { refundReference } from '../../../domain/refund.ts';
import type { Database, Queryable } from '../../../store/database.ts';
import { inTransaction } from '../../../store/database.ts';
import { evidenceRow, insertRow, type Row, storeAttempt, storeOrder, updateRow } from '../../support/rows.ts';
import { type Refusals, unguarded } from './refusals.ts';

const AT = '2026-11-30T12:00:00.000Z';
const AMOUNT = 1999;

export function refundRefusals(database: Database): Refusals {
  return {
    ...amountRefusals(database),
    ...overPaymentRefusals(database),
    ...refundColumnRefusals(database),
    ...refundStateRefusals(database),
    ...refundLifeRefusals(database),
    ...disputeRefusals(database),
    ...journalRefusals(database),
  };
}

const order = (id: string) => ({ table: 'orders', key: { id } });
const refund = (id: unknown) => ({ table: 'refunds', key: { id } });

/** A paid order of 19.99 that was captured whole. */
async function storeCaptured(database: Queryable): Promise<string> {
  const orderId = await storeOrder(database, 'paid');
  await updateRow(database, order(orderId), { captured_minor_units: AMOUNT });
  return orderId;
}

function refundRow(orderId: string, changes: Row = {}): Row & { readonly id: string } {
  const id = newId();
  return {
    id,
    ...{ order_id: orderId, attempt_number: 1, gateway: 'simulator', refund_reference: refundReference(id) },
    ...{ amount_minor_units: 100, currency: 'EUR', status: 'requested', requested_by: 'api-key:1' },
    ...{ created_at: AT, updated_at: AT, ...changes },
  };
}

/** What the first send of a refund writes. */
function sentColumns(): Row {
  return { status: 'sent', sends: 1, sent_at: AT, last_sent_at: AT, request_key: newId(), request_body: '{}' };
}

async function storeRefund(database: Queryable, changes: Row = {}): Promise<string> {
  const row = refundRow(await storeCaptured(database), changes);
  await insertRow(database, 'refunds', row);
  return row.id;
}

async function storeSent(database: Queryable): Promise<string> {
  const id = await storeRefund(database);
  await updateRow(database, refund(id), sentColumns());
  return id;
}

function amountRefusals(database: Database): Refusals {
  const change = async (changes: Row) => updateRow(database, order(await storeCaptured(database)), changes);
  return {
    orders_captured_bounded: {
      'less than nothing': () => change({ captured_minor_units: -1 }),
      'more than the order is for': () => change({ captured_minor_units: AMOUNT + 1 }),
    },
    orders_never_over_refunded: {
      'C74: one refund of more than was captured': async () =>
        insertRow(database, 'refunds', refundRow(await storeCaptured(database), { amount_minor_units: AMOUNT + 1 })),
      'C74: a second refund of what the first one has left, and one more': async () => {
        const orderId = await storeCaptured(database);
        await insertRow(database, 'refunds', refundRow(orderId, { amount_minor_units: 1500 }));
        await insertRow(database, 'refunds', refundRow(orderId, { amount_minor_units: 500 }));
      },
      'C80: a refund of what a lost dispute has taken': async () => {
        const orderId = await storeCaptured(database);
        await updateRow(database, order(orderId), { dispute_lost_minor_units: AMOUNT });
        await insertRow(database, 'refunds', refundRow(orderId, { amount_minor_units: 1 }));
      },
      'C79: a refund of an order that is not paid': async () =>
        insertRow(database, 'refunds', refundRow(await storeOrder(database, 'authorized'))),
    },
    orders_refunded_was_reserved: {
      'more refunded than was asked for': () => change({ refunded_minor_units: 1 }),
      'less than nothing': () => change({ refunded_minor_units: -1 }),
    },
    orders_disputed_not_negative: {
      disputed: () => change({ disputed_minor_units: -1 }),
      lost: () => change({ dispute_lost_minor_units: -1 }),
    },
  };
}

async function overPaymentRow(database: Queryable, changes: Row = {}): Promise<Row & { readonly id: string }> {
  const orderId = (changes.order_id as string | undefined) ?? (await storeAttempt(database, 'declined'));
  const evidence = evidenceRow(orderId, { attempt_number: 1 });
  await insertRow(database, 'evidence', evidence);
  return {
    ...{ id: newId(), order_id: orderId, attempt_number: 1, gateway: 'simulator', gateway_reference: newId() },
    ...{ amount_minor_units: AMOUNT, currency: 'EUR', reason: 'It was declined.', evidence_id: evidence.id },
    ...{ recorded_at: AT, ...changes },
  };
}

function overPaymentRefusals(database: Database): Refusals {
  const insert = (row: Row) => insertRow(database, 'over_payments', row);
  const insertChanged = async (changes: Row) => insert(await overPaymentRow(database, changes));
  const storeExtra = async () => {
    const row = await overPaymentRow(database);
    await insert(row);
    return row;
  };
  const goesBack = (row: Row, changes: Row = {}) =>
    refundRow(String(row.order_id), { over_payment_id: row.id, amount_minor_units: AMOUNT, ...changes });
  return {
    over_payments_pkey: { 'the same id twice': async () => insertChanged({ id: (await storeExtra()).id }) },
    over_payments_amount_positive: { nothing: () => insertChanged({ amount_minor_units: 0 }) },
    over_payments_reason_bounded: {
      empty: () => insertChanged({ reason: '' }),
      'too long': () => insertChanged({ reason: 'x'.repeat(501) }),
    },
    over_payments_evidence_id_fkey: { 'without evidence': () => insertChanged({ evidence_id: newId() }) },
    over_payments_attempt_exists: { 'of no attempt': () => insertChanged({ attempt_number: 2 }) },
    over_payments_once: {
      'one charge twice': async () => insertChanged({ gateway_reference: (await storeExtra()).gateway_reference }),
    },
    over_payments_once_without_reference: {
      'two charges of an attempt that nobody can tell apart': async () => {
        const row = await overPaymentRow(database, { gateway_reference: null });
        await insert(row);
        await insert({ ...row, id: newId() });
      },
    },
    over_payments_never_the_payment: {
      'C76: the charge that makes an order paid': async () => {
        const orderId = await storeAttempt(database, 'approved');
        await updateRow(
          database,
          { table: 'payment_attempts', key: { order_id: orderId } },
          { gateway_reference: `ch_${orderId}` },
        );
        await payOrder(database, orderId);
        await insertChanged({ order_id: orderId, gateway_reference: `ch_${orderId}` });
      },
      'C76: a charge that cannot be told from it': async () => {
        const orderId = await storeAttempt(database, 'approved');
        await payOrder(database, orderId);
        await insertChanged({ order_id: orderId, gateway_reference: null });
      },
    },
    over_payments_append_only: {
      edited: async () =>
        updateRow(database, { table: 'over_payments', key: { id: (await storeExtra()).id } }, { reason: 'other' }),
      removed: () => database.query('delete from over_payments'),
      emptied: () => database.query('truncate over_payments cascade'),
    },
    refunds_over_payment_whole: {
      'a part of an over-payment': async () =>
        insertRow(database, 'refunds', goesBack(await storeExtra(), { amount_minor_units: AMOUNT - 1 })),
      'an over-payment of another order': async () => {
        const row = goesBack(await storeExtra(), { order_id: await storeCaptured(database) });
        await insertRow(database, 'refunds', row);
      },
    },
    refunds_one_per_over_payment: {
      'an over-payment that goes back already': async () => {
        const row = await storeExtra();
        await insertRow(database, 'refunds', goesBack(row));
        await insertRow(database, 'refunds', goesBack(row));
      },
    },
  };
}

async function payOrder(database: Queryable, orderId: string): Promise<void> {
  const evidence = evidenceRow(orderId, { attempt_number: 1, proves_order_status: 'paid' });
  await insertRow(database, 'evidence', evidence);
  await updateRow(database, order(orderId), { status: 'processing' });
  await updateRow(database, order(orderId), { status: 'paid', evidence_id: evidence.id });
}

/** A refund past the guard, to see the CHECK behind it. */
function uncheckedRefund(database: Database, changes: Row): Promise<unknown> {
  return unguarded(database, async (transaction) => {
    await insertRow(transaction, 'refunds', refundRow(await storeCaptured(transaction), changes));
  });
}

function refundColumnRefusals(database: Database): Refusals {
  const insert = (changes: Row) => storeRefund(database, changes);
  const unchecked = (changes: Row) => uncheckedRefund(database, changes);
  return {
    refunds_pkey: { 'the same id twice': async () => insert({ id: await storeRefund(database) }) },
    refunds_order_id_fkey: {
      'of no order': () =>
        inTransaction(database, async (transaction) => {
          const row = await overPaymentRow(transaction);
          await insertRow(transaction, 'over_payments', row);
          await transaction.query('alter table refunds drop constraint refunds_attempt_exists');
          await transaction.query('alter table refunds drop constraint refunds_over_payment_whole');
          await insertRow(transaction, 'refunds', refundRow(newId(), { over_payment_id: row.id }));
        }),
    },
    refunds_attempt_exists: { 'of no attempt': () => insert({ attempt_number: 2 }) },
    refunds_reference_unique: {
      'the number of another refund': async () => {
        const reference = refundReference(newId());
        await insert({ refund_reference: reference });
        await insert({ refund_reference: reference });
      },
    },
    refunds_reference_format: { 'a number that is none of ours': () => insert({ refund_reference: 'refund-1' }) },
    refunds_amount_positive_and_safe: {
      nothing: () => insert({ amount_minor_units: 0 }),
      'less than nothing': () => unchecked({ amount_minor_units: -1 }),
    },
    refunds_reason_bounded: {
      empty: () => insert({ reason: '' }),
      'too long': () => insert({ reason: 'x'.repeat(501) }),
    },
  };
}

function refundStateRefusals(database: Database): Refusals {
  const insert = (changes: Row) => storeRefund(database, changes);
  const unchecked = (changes: Row) => uncheckedRefund(database, changes);
  return {
    refunds_status_known: { 'a word that is no status': () => unchecked({ ...sentColumns(), status: 'done' }) },
    refunds_requested_by_bounded: {
      nobody: () => insert({ requested_by: '' }),
      'too long': () => insert({ requested_by: 'x'.repeat(101) }),
    },
    refunds_review_reason_bounded: { empty: () => insert({ review_reason: '' }) },
    refunds_evidence_id_fkey: {
      'settled by evidence that is not there': async () =>
        updateRow(database, refund(await storeSent(database)), { status: 'succeeded', evidence_id: newId() }),
    },
    refunds_gateway_reference_unique: {
      "another refund's number at the gateway": async () => {
        const changes = { gateway_reference: newId() };
        await insert(changes);
        await insert(changes);
      },
    },
    refunds_request_key_unique: {
      "another refund's key": async () => {
        const sent = sentColumns();
        await updateRow(database, refund(await storeRefund(database)), sent);
        await updateRow(database, refund(await storeRefund(database)), sent);
      },
    },
    refunds_request_body_bounded: {
      'too long': async () =>
        updateRow(database, refund(await storeRefund(database)), {
          ...sentColumns(),
          request_body: 'x'.repeat(20_001),
        }),
    },
    refunds_sends_bounded: { 'more often than anybody sends': () => unchecked({ ...sentColumns(), sends: 1001 }) },
    refunds_sent_is_recorded: {
      'sent without its bytes': async () =>
        updateRow(database, refund(await storeRefund(database)), { ...sentColumns(), request_body: null }),
    },
    refunds_answered_was_sent: { 'in doubt without a request': () => unchecked({ status: 'unknown' }) },
    refunds_settled_has_evidence: {
      'done without evidence': async () =>
        updateRow(database, refund(await storeSent(database)), { status: 'succeeded' }),
    },
    refunds_failed_has_code: {
      'failed for no reason': async () => {
        const id = await storeSent(database);
        const evidence = evidenceRow(await orderOf(database, id));
        await insertRow(database, 'evidence', evidence);
        await updateRow(database, refund(id), { status: 'failed', evidence_id: evidence.id });
      },
    },
  };
}

async function orderOf(database: Queryable, refundId: string): Promise<string> {
  const { rows } = await database.query<{ order_id: string }>('select order_id from refunds where id = $1', [refundId]);
  return rows[0]?.order_id ?? '';
}

function refundLifeRefusals(database: Database): Refusals {
  const waiting = { needs_approval: true, status: 'awaiting_approval' };
  const change = async (id: Promise<string>, changes: Row) => updateRow(database, refund(await id), changes);
  return {
    refunds_start_unsent: {
      'sent from the start': () => storeRefund(database, sentColumns()),
      'not waiting although a second person has to agree': () => storeRefund(database, { needs_approval: true }),
    },
    refunds_transition_allowed: {
      'done without being sent': () => change(storeRefund(database), { status: 'succeeded' }),
    },
    refunds_content_fixed: {
      'another amount': () => change(storeRefund(database), { amount_minor_units: 101 }),
      'another number': () => change(storeRefund(database), { refund_reference: refundReference(newId()) }),
      'another number at the gateway': () =>
        change(storeRefund(database, { gateway_reference: newId() }), { gateway_reference: newId() }),
    },
    refunds_request_fixed: { 'other bytes': () => change(storeSent(database), { request_body: '{"amount":1}' }) },
    refunds_sends_count_up: { 'a send forgotten': () => change(storeSent(database), { sends: 3 }) },
    refunds_approver_is_another: {
      'approved by the one who asked for it': () =>
        change(storeRefund(database, waiting), { status: 'requested', approved_by: 'api-key:1' }),
    },
    refunds_approved_before_sent: {
      'requested without the second person': () => change(storeRefund(database, waiting), { status: 'requested' }),
    },
    refunds_never_removed: {
      removed: () => database.query('delete from refunds'),
      emptied: () => database.query('truncate refunds'),
    },
  };
}

function disputeRefusals(database: Database): Refusals {
  const disputeRow = async (changes: Row = {}): Promise<Row> => {
    const orderId = await storeCaptured(database);
    const evidence = evidenceRow(orderId);
    await insertRow(database, 'evidence', evidence);
    return {
      ...{ id: newId(), order_id: orderId, attempt_number: 1, gateway: 'simulator', gateway_reference: newId() },
      ...{ amount_minor_units: AMOUNT, currency: 'EUR', status: 'opened', evidence_id: evidence.id, opened_at: AT },
      ...changes,
    };
  };
  const insert = async (changes: Row) => insertRow(database, 'disputes', await disputeRow(changes));
  return {
    disputes_pkey: {
      'the same id twice': async () => {
        const id = newId();
        await insert({ id });
        await insert({ id });
      },
    },
    disputes_gateway_reference_bounded: { empty: () => insert({ gateway_reference: '' }) },
    disputes_amount_positive: { nothing: () => insert({ amount_minor_units: 0 }) },
    disputes_status_known: { 'a word that is no status': () => insert({ status: 'settled', closed_at: AT }) },
    disputes_evidence_id_fkey: { 'without evidence': () => insert({ evidence_id: newId() }) },
    disputes_attempt_exists: { 'of no attempt': () => insert({ attempt_number: 2 }) },
    disputes_once: {
      'one dispute twice': async () => {
        const reference = newId();
        await insert({ gateway_reference: reference });
        await insert({ gateway_reference: reference });
      },
    },
    disputes_closed_has_time: { 'lost at no time': () => insert({ status: 'lost' }) },
    disputes_never_removed: {
      removed: () => database.query('delete from disputes'),
      emptied: () => database.query('truncate disputes'),
    },
  };
}

function journalRefusals(database: Database): Refusals {
  const line = (orderId: string, changes: Row = {}): Row => ({
    ...{ movement: `test:${newId()}`, account: 'gateway', order_id: orderId, amount_minor_units: 5, currency: 'EUR' },
    ...{ recorded_at: AT, ...changes },
  });
  /** Two lines that add up to nothing, with a change to the second. */
  const insertPair = (changes: Row) =>
    inTransaction(database, async (transaction) => {
      const first = line(await storeOrder(transaction));
      await insertRow(transaction, 'journal_lines', first);
      await insertRow(transaction, 'journal_lines', { ...first, account: 'sales', amount_minor_units: -5, ...changes });
    });
  return {
    journal_lines_pkey: { 'the same line twice': () => insertPair({ account: 'gateway' }) },
    journal_lines_movement_bounded: { empty: () => insertPair({ movement: '' }) },
    journal_lines_account_known: { 'an account that is none': () => insertPair({ account: 'pocket' }) },
    journal_lines_order_id_fkey: { 'of no order': () => insertPair({ order_id: newId() }) },
    journal_lines_amount_not_zero: { 'a line without money': () => insertPair({ amount_minor_units: 0 }) },
    journal_lines_currency_is_iso_code: { 'lower case': () => insertPair({ currency: 'eur' }) },
    journal_lines_balanced: {
      'one side only': async () => insertRow(database, 'journal_lines', line(await storeOrder(database))),
      'more out than in': () => insertPair({ amount_minor_units: -6 }),
      'out in another currency': () => insertPair({ currency: 'USD' }),
      'out of another order': async () => insertPair({ order_id: await storeOrder(database) }),
    },
    journal_lines_append_only: {
      edited: () => database.query(`update journal_lines set movement = 'x'`),
      removed: () => database.query('delete from journal_lines'),
      emptied: () => database.query('truncate journal_lines'),
    },
  };
}
