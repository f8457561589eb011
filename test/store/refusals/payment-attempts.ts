import { type AttemptStatus, SETTLED_ATTEMPT_STATUSES } from '../../../domain/attempt.ts';
import { merchantReference } from '../../../domain/merchant-reference.ts';
import type { Database } from '../../../store/database.ts';
import {
  attemptRow,
  evidenceRow,
  insertRow,
  type Row,
  sentColumns,
  storeAttempt,
  storeOrder,
  updateRow,
} from '../../support/rows.ts';
import { type Refusals, unguarded } from './refusals.ts';

export function attemptRefusals(database: Database): Refusals {
  return {
    ...columnRefusals(database),
    ...lifeRefusals(database),
    ...sendRefusals(database),
    ...answerRefusals(database),
    ...evidenceRefusals(database),
  };
}

function columnRefusals(database: Database): Refusals {
  const insertSecond = async (status: AttemptStatus, changes: Row = {}) =>
    insertRow(database, 'payment_attempts', attemptRow(await storeAttempt(database, status), 2, changes));

  return {
    payment_attempts_pkey: {
      'the same number twice': async () =>
        insertRow(database, 'payment_attempts', attemptRow(await storeAttempt(database, 'declined'), 1)),
    },
    payment_attempts_order_id_fkey: {
      'of no order': () => insertRow(database, 'payment_attempts', attemptRow(crypto.randomUUID(), 1)),
    },
    payment_attempts_number_bounded: {
      'number 0': () => insertSecond('declined', { attempt_number: 0 }),
      'number 100': () => insertSecond('declined', { attempt_number: 100 }),
    },
    payment_attempts_merchant_reference_unique: {
      'the reference of another order': async () =>
        insertSecond('declined', { merchant_reference: merchantReference(await storeOrder(database), 1) }),
    },
    payment_attempts_merchant_reference_format: {
      'a reference that is not ours': () => insertSecond('declined', { merchant_reference: 'ORDER-1' }),
    },
    payment_attempts_payment_method_bounded: {
      empty: () => insertSecond('declined', { payment_method: '' }),
      'too long': () => insertSecond('declined', { payment_method: 'x'.repeat(256) }),
    },
    payment_attempts_return_url_bounded: {
      empty: () => insertSecond('declined', { return_url: '' }),
      'too long': () => insertSecond('declined', { return_url: 'x'.repeat(2001) }),
    },
    payment_attempts_status_known: {
      'a word that is no status': async () => {
        const orderId = await storeAttempt(database, 'sent');
        await unguarded(database, (transaction) =>
          updateRow(
            transaction,
            { table: 'payment_attempts', key: { order_id: orderId, attempt_number: 1 } },
            { status: 'authorised' },
          ),
        );
      },
    },
  };
}

function lifeRefusals(database: Database): Refusals {
  const insertSecond = async (status: AttemptStatus, changes: Row = {}) =>
    insertRow(database, 'payment_attempts', attemptRow(await storeAttempt(database, status), 2, changes));
  const change = async (status: AttemptStatus, changes: Row) =>
    update(database, await storeAttempt(database, status), changes);

  return {
    payment_attempts_start_as_claimed: {
      'begun as sent': async () => insertSecond('declined', { status: 'sent' }),
    },
    payment_attempts_transition_allowed: {
      'back from unknown to sent': () => change('unknown', { status: 'sent' }),
    },
    payment_attempts_one_live: {
      ...Object.fromEntries(
        (['claimed', 'sent', 'requires_action', 'pending', 'unknown'] as const).map((status) => [
          `a second attempt beside one that is ${status}`,
          () => insertSecond(status),
        ]),
      ),
    },
    payment_attempts_one_approved: {
      'a second success': async () => {
        const orderId = await storeAttempt(database, 'approved');
        await insertRow(database, 'payment_attempts', attemptRow(orderId, 2));
        const sent = { ...sentColumns(orderId), request_key: merchantReference(orderId, 2) };
        await updateRow(database, { table: 'payment_attempts', key: { order_id: orderId, attempt_number: 2 } }, sent);
        const proof = evidenceRow(orderId, { attempt_number: 2, proves_attempt_status: 'approved' });
        await insertRow(database, 'evidence', proof);
        const approved = { status: 'approved', evidence_id: proof.id };
        await updateRow(
          database,
          { table: 'payment_attempts', key: { order_id: orderId, attempt_number: 2 } },
          approved,
        );
      },
    },
    payment_attempts_never_removed: {
      deleted: async () =>
        database.query('delete from payment_attempts where order_id = $1', [await storeAttempt(database)]),
      truncated: () => database.query('truncate payment_attempts cascade'),
    },
  };
}

function sendRefusals(database: Database): Refusals {
  const change = async (status: AttemptStatus, changes: Row) =>
    update(database, await storeAttempt(database, status), changes);
  const send = async (changes: Row) => {
    const orderId = await storeAttempt(database, 'claimed');
    await update(database, orderId, { ...sentColumns(orderId), ...changes });
  };
  return {
    payment_attempts_request_key_unique: {
      'the key of another attempt': async () =>
        send({ request_key: merchantReference(await storeAttempt(database, 'sent'), 1) }),
    },
    payment_attempts_request_body_bounded: { 'too long': () => send({ request_body: 'x'.repeat(20_001) }) },
    payment_attempts_sends_bounded: {
      'more than anybody means': async () => {
        const orderId = await storeAttempt(database, 'sent');
        await unguarded(database, (transaction) =>
          updateRow(
            transaction,
            { table: 'payment_attempts', key: { order_id: orderId, attempt_number: 1 } },
            { sends: 1001 },
          ),
        );
      },
    },
    payment_attempts_claimed_is_unsent: { 'sent and still claimed': () => send({ status: 'claimed' }) },
    payment_attempts_answered_was_sent: {
      'answered and never sent': () => change('claimed', { status: 'sent' }),
    },
    payment_attempts_sent_is_recorded: {
      'sent at no time': () => send({ sent_at: null }),
      'last sent at no time': () => send({ last_sent_at: null }),
      'sent without its key': () => send({ request_key: null }),
      'sent without its body': () => send({ request_body: null }),
      'a time without a send': () => change('claimed', { sent_at: '2026-11-30T12:00:00Z', last_sent_at: null }),
    },
    payment_attempts_sends_count_up: {
      'two at once': () => change('sent', { sends: 3 }),
      'one less': () => change('sent', { sends: 0 }),
    },
    payment_attempts_request_fixed: {
      'another body': () => change('sent', { request_body: '{"amount":1}' }),
      'another key': () => change('sent', { request_key: 'another' }),
      'another time': () => change('sent', { sent_at: '2026-11-30T13:00:00Z' }),
      'another run': () => change('sent', { claimed_by_run: 'run-2' }),
    },
  };
}

function answerRefusals(database: Database): Refusals {
  const change = async (status: AttemptStatus, changes: Row) =>
    update(database, await storeAttempt(database, status), changes);
  const action = { status: 'requires_action', action_kind: 'redirect', action_url: 'https://bank.example' };
  return {
    payment_attempts_gateway_reference_unique: {
      'one movement of money for two attempts': async () => {
        const reference = crypto.randomUUID();
        await change('sent', { gateway_reference: reference });
        await change('sent', { gateway_reference: reference });
      },
    },
    payment_attempts_references_fixed: {
      'another reference of the gateway': async () => {
        const orderId = await storeAttempt(database, 'sent');
        await update(database, orderId, { gateway_reference: crypto.randomUUID() });
        await update(database, orderId, { gateway_reference: crypto.randomUUID() });
      },
      'another reference of ours': async () =>
        change('sent', { merchant_reference: merchantReference('01930000-0000-7000-8000-000000000001', 1) }),
      'another gateway': () => change('claimed', { gateway: 'other' }),
      'another number': () => change('claimed', { attempt_number: 2 }),
    },
    payment_attempts_declined_has_reason: {
      'an open attempt with a reason': () => change('sent', { decline_code: 'card_declined', decline_retriable: true }),
      'declined for no reason': async () => {
        const orderId = await storeAttempt(database, 'sent');
        const proof = evidenceRow(orderId, { attempt_number: 1, proves_attempt_status: 'declined' });
        await insertRow(database, 'evidence', proof);
        await update(database, orderId, { status: 'declined', evidence_id: proof.id });
      },
      'a reason without whether to try again': () => change('declined', { decline_retriable: null }),
    },
    payment_attempts_action_is_whole: {
      'an action without an address': () => change('sent', { ...action, action_url: null }),
      'an address without an action': () => change('sent', { ...action, action_kind: null }),
      'an action for nobody': () => change('sent', { ...action, status: 'pending' }),
    },
    payment_attempts_action_kind_known: {
      'an unknown action': () => change('sent', { ...action, action_kind: 'dance' }),
    },
    payment_attempts_action_url_bounded: {
      empty: () => change('sent', { ...action, action_url: '' }),
      'too long': () => change('sent', { ...action, action_url: 'x'.repeat(4001) }),
    },
  };
}

function evidenceRefusals(database: Database): Refusals {
  const decline = { decline_code: 'card_declined', decline_retriable: false };
  /** Stores evidence about attempt 1 of `provenId` and settles attempt 1 of `orderId` as approved by it. */
  const approve = async (orderId: string, provenId: string, proves: Row) => {
    const proof = evidenceRow(provenId, { attempt_number: 1, ...proves });
    await insertRow(database, 'evidence', proof);
    await update(database, orderId, { status: 'approved', evidence_id: proof.id });
  };
  return {
    payment_attempts_settled_has_evidence: {
      ...Object.fromEntries(
        SETTLED_ATTEMPT_STATUSES.map((status) => [
          `${status} without evidence`,
          async () =>
            update(database, await storeAttempt(database, 'sent'), {
              status,
              ...(status === 'approved' ? {} : decline),
            }),
        ]),
      ),
      'evidence for no end': async () => {
        const orderId = await storeAttempt(database, 'sent');
        const proof = evidenceRow(orderId, { attempt_number: 1, proves_attempt_status: 'approved' });
        await insertRow(database, 'evidence', proof);
        await update(database, orderId, { status: 'pending', evidence_id: proof.id });
      },
    },
    payment_attempts_evidence_proves_status: {
      'evidence of another order': async () =>
        approve(await storeAttempt(database, 'sent'), await storeAttempt(database, 'sent'), {
          proves_attempt_status: 'approved',
        }),
      'evidence of another status': async () => {
        const orderId = await storeAttempt(database, 'sent');
        await approve(orderId, orderId, { proves_attempt_status: 'declined' });
      },
      'evidence about the order only': async () => {
        const orderId = await storeAttempt(database, 'sent');
        await approve(orderId, orderId, { proves_order_status: 'paid' });
      },
    },
    payment_attempts_evidence_fixed: {
      'other evidence for the same end': async () => {
        const orderId = await storeAttempt(database, 'approved');
        await approve(orderId, orderId, { proves_attempt_status: 'approved' });
      },
    },
  };
}

function update(database: Database, orderId: string, changes: Row): Promise<void> {
  return updateRow(database, { table: 'payment_attempts', key: { order_id: orderId, attempt_number: 1 } }, changes);
}
