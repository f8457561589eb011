import { v7 as newId } from 'uuid';
import { ATTEMPT_TRANSITIONS, type AttemptStatus, isSettled } from '../../domain/attempt.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { needsEvidence, ORDER_TRANSITIONS, type OrderStatus } from '../../domain/order.ts';
import type { Queryable } from '../../store/database.ts';

/** Rows for tests of the schema itself, written past the store's functions. Each is complete; a test changes what it is about. */
export type Row = Readonly<Record<string, unknown>>;

const AT = '2026-11-30T12:00:00.000Z';

export function orderRow(changes: Row = {}): Row & { readonly id: string } {
  const row = {
    amount_minor_units: 1999,
    currency: 'EUR',
    gateway: 'simulator',
    expires_at: '2026-12-01T12:00:00.000Z',
  };
  return { id: newId(), ...row, created_at: AT, updated_at: AT, ...changes };
}

export function attemptRow(orderId: string, attemptNumber: number, changes: Row = {}): Row {
  return {
    order_id: orderId,
    attempt_number: attemptNumber,
    merchant_reference: merchantReference(orderId, Math.min(Math.max(attemptNumber, 1), 99)),
    gateway: 'simulator',
    claimed_by_run: 'run-1',
    payment_method: 'sim_card_ok',
    created_at: AT,
    updated_at: AT,
    ...changes,
  };
}

export function evidenceRow(orderId: string, changes: Row = {}): Row & { readonly id: string } {
  return { id: newId(), order_id: orderId, kind: 'inquiry', detail: '{}', recorded_at: AT, ...changes };
}

export async function insertRow(database: Queryable, table: string, row: Row): Promise<void> {
  const columns = Object.keys(row);
  const places = columns.map((_, index) => `$${index + 1}`);
  await database.query(
    `insert into ${table} (${columns.join(', ')}) values (${places.join(', ')})`,
    Object.values(row),
  );
}

export async function updateRow(
  database: Queryable,
  { table, key }: { readonly table: string; readonly key: Row },
  changes: Row,
): Promise<void> {
  const sets = Object.keys(changes).map((column, index) => `${column} = $${index + 1}`);
  const conditions = Object.keys(key).map((column, index) => `${column} = $${index + 1 + sets.length}`);
  const { rowCount } = await database.query(
    `update ${table} set ${sets.join(', ')} where ${conditions.join(' and ')}`,
    [...Object.values(changes), ...Object.values(key)],
  );
  if (rowCount !== 1) throw new Error(`The update was meant for one row of ${table} and found ${String(rowCount)}`);
}

/** A stored order with one attempt, `claimed`; its status is brought about by allowed moves only. */
export async function storeOrder(database: Queryable, status: OrderStatus = 'created'): Promise<string> {
  const order = orderRow();
  await insertRow(database, 'orders', order);
  await insertRow(database, 'payment_attempts', attemptRow(order.id, 1));
  for (const step of pathTo(ORDER_TRANSITIONS, 'created', status)) await moveOrder(database, order.id, step);
  return order.id;
}

/** Sets the status together with the evidence that it needs, and with nothing else. */
export async function moveOrder(database: Queryable, orderId: string, status: OrderStatus): Promise<void> {
  const evidence = evidenceRow(orderId, { attempt_number: 1, proves_order_status: status });
  if (needsEvidence(status)) await insertRow(database, 'evidence', evidence);
  await updateRow(
    database,
    { table: 'orders', key: { id: orderId } },
    { status, evidence_id: needsEvidence(status) ? evidence.id : null },
  );
}

/** A stored order with attempt 1 in the status asked for. Returns the order's id. */
export async function storeAttempt(database: Queryable, status: AttemptStatus = 'claimed'): Promise<string> {
  const orderId = await storeOrder(database);
  for (const step of pathTo(ATTEMPT_TRANSITIONS, 'claimed', status)) await moveAttempt(database, orderId, step);
  return orderId;
}

/** Sets the status of attempt 1 together with all that it needs, and with nothing else. */
export async function moveAttempt(database: Queryable, orderId: string, status: AttemptStatus): Promise<void> {
  await updateRow(
    database,
    { table: 'payment_attempts', key: { order_id: orderId, attempt_number: 1 } },
    await columnsFor(database, orderId, status),
  );
}

async function columnsFor(database: Queryable, orderId: string, status: AttemptStatus): Promise<Row> {
  const unanswered = {
    evidence_id: null,
    decline_code: null,
    decline_retriable: null,
    action_kind: null,
    action_url: null,
  };
  if (status === 'sent') return { ...unanswered, ...sentColumns(orderId) };
  if (status === 'requires_action') {
    return { status, ...unanswered, action_kind: 'redirect', action_url: 'https://bank.example/3ds' };
  }
  if (!isSettled(status)) return { status, ...unanswered };
  const evidence = evidenceRow(orderId, { attempt_number: 1, proves_attempt_status: status });
  await insertRow(database, 'evidence', evidence);
  const decline = status === 'approved' ? {} : { decline_code: 'card_declined', decline_retriable: true };
  return { status, ...unanswered, evidence_id: evidence.id, ...decline };
}

/** What the first send of attempt 1 writes. */
export function sentColumns(orderId: string): Row {
  return {
    status: 'sent',
    sends: 1,
    sent_at: AT,
    last_sent_at: AT,
    request_key: merchantReference(orderId, 1),
    request_body: '{}',
  };
}

/** The shortest way along a table of moves; empty when it is where it starts. */
function pathTo<Status extends string>(
  moves: Readonly<Record<Status, readonly Status[]>>,
  from: Status,
  to: Status,
): readonly Status[] {
  let paths: Status[][] = [[from]];
  while (paths.length > 0) {
    const arrived = paths.find((path) => path.at(-1) === to);
    if (arrived !== undefined) return arrived.slice(1);
    paths = paths.flatMap((path) =>
      moves[path.at(-1) ?? from].filter((next) => !path.includes(next)).map((next) => [...path, next]),
    );
  }
  throw new Error(`No moves lead from ${from} to ${to}`);
}
