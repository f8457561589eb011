import { randomBytes } from 'node:crypto';
import type { Database } from '../../../store/database.ts';
import { insertRow, type Row } from '../../support/rows.ts';
import type { Refusals } from './refusals.ts';

const AT = '2026-11-30T12:00:00.000Z';

export function otherRefusals(database: Database): Refusals {
  return {
    ...apiKeyRefusals(database),
    ...idempotencyRefusals(database),
    ...listRefusals(database),
  };
}

function apiKeyRefusals(database: Database): Refusals {
  const key = (changes: Row = {}): Row => {
    const row = { name: 'shop', key_hash: randomBytes(32), role: 'write', created_at: AT };
    return { id: crypto.randomUUID(), ...row, ...changes };
  };
  const insert = (row: Row) => insertRow(database, 'api_keys', row);
  return {
    api_keys_pkey: {
      'the same id twice': async () => {
        const { id } = key();
        await insert(key({ id }));
        await insert(key({ id }));
      },
    },
    api_keys_hash_unique: {
      'the same key twice': async () => {
        const hash = randomBytes(32);
        await insert(key({ key_hash: hash }));
        await insert(key({ key_hash: hash }));
      },
    },
    api_keys_hash_is_sha256: {
      'the key itself': () => insert(key({ key_hash: Buffer.from('paidonce_write_secret') })),
    },
    api_keys_name_bounded: {
      empty: () => insert(key({ name: '' })),
      'too long': () => insert(key({ name: 'x'.repeat(101) })),
    },
    api_keys_role_known: { 'of no role': () => insert(key({ role: 'admin' })) },
  };
}

function idempotencyRefusals(database: Database): Refusals {
  const row = (changes: Row = {}): Row => ({
    ...{ scope: 'api-key:1', route: 'POST /v1/orders', key: crypto.randomUUID(), request_hash: randomBytes(32) },
    ...{ created_at: AT, expires_at: AT, ...changes },
  });
  const insert = (changes: Row) => insertRow(database, 'idempotency_keys', row(changes));
  return {
    idempotency_keys_pkey: {
      'the same key twice': async () => {
        await insert({ key: 'twice' });
        await insert({ key: 'twice' });
      },
    },
    idempotency_keys_scope_bounded: {
      empty: () => insert({ scope: '' }),
      'too long': () => insert({ scope: 'x'.repeat(101) }),
    },
    idempotency_keys_key_bounded: {
      empty: () => insert({ key: '' }),
      'too long': () => insert({ key: 'x'.repeat(256) }),
    },
    idempotency_keys_hash_is_sha256: { 'the body itself': () => insert({ request_hash: Buffer.from('{}') }) },
    idempotency_keys_answer_is_whole: {
      'a status without a body': () => insert({ response_status: 200 }),
      'a body without a status': () => insert({ response_body: '{}' }),
    },
  };
}

function listRefusals(database: Database): Refusals {
  const copy = (table: string) => () => database.query(`insert into ${table} select * from ${table} limit 1`);
  return {
    order_status_transitions_pkey: { 'the same move twice': copy('order_status_transitions') },
    refund_status_transitions_pkey: { 'the same move twice': copy('refund_status_transitions') },
    attempt_status_transitions_pkey: { 'the same move twice': copy('attempt_status_transitions') },
    outbox_event_kinds_pkey: { 'the same kind twice': copy('outbox_event_kinds') },
    schema_migrations_pkey: { 'the same migration twice': copy('schema_migrations') },
  };
}
