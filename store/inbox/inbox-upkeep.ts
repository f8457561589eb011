import type { Queryable } from '../database.ts';

/** One event, those of one order, or all. */
export interface InboxSelection {
  readonly id?: string | null;
  readonly orderId?: string | null;
  readonly limit: number;
}

/**
 * Gives events that found no order when they came another look, oldest first. Returns how many
 * have found theirs and are to be applied.
 */
export async function matchInboxEvents(
  database: Queryable,
  { orderId = null, id = null, limit }: InboxSelection,
): Promise<number> {
  const { rowCount } = await database.query(
    `update inbox_events set state = 'stored', order_id = found.order_id, attempt_number = found.attempt_number
     from (
       select event.id, attempt.order_id, attempt.attempt_number
       from inbox_events event
       join payment_attempts attempt on attempt.merchant_reference = event.merchant_reference
         or (attempt.gateway = event.gateway and attempt.gateway_reference = event.gateway_reference)
       where event.state in ('unmatched', 'pooled') and ($1::uuid is null or attempt.order_id = $1)
         and ($3::uuid is null or event.id = $3)
       order by event.received_at, attempt.merchant_reference = event.merchant_reference limit $2
     ) as found
     where inbox_events.id = found.id and state in ('unmatched', 'pooled')`,
    [orderId, limit, id],
  );
  return rowCount ?? 0;
}

/** Puts events that have found no order since `before` in front of a person. Returns how many. */
export async function poolUnmatchedEvents(
  database: Queryable,
  { before, limit }: { readonly before: string; readonly limit: number },
): Promise<number> {
  const { rowCount } = await database.query(
    `update inbox_events set state = 'pooled'
     where id in (select id from inbox_events where state = 'unmatched' and received_at <= $1 order by received_at limit $2)
       and state = 'unmatched'`,
    [before, limit],
  );
  return rowCount ?? 0;
}

export interface UnappliedEvent {
  readonly id: string;
  readonly orderId: string;
}

/**
 * Events that are stored since `before` and were never applied: their order was not told of them, or nobody took the word.
 * What is stuck is not among them, because only a person can help it.
 */
export async function listUnappliedEvents(
  database: Queryable,
  { before, limit }: { readonly before: string; readonly limit: number },
): Promise<UnappliedEvent[]> {
  const { rows } = await database.query<{ id: string; order_id: string }>(
    `select id, order_id from inbox_events where state = 'stored' and received_at <= $1 order by received_at limit $2`,
    [before, limit],
  );
  return rows.map(({ id, order_id: orderId }) => ({ id, orderId }));
}

/** What is to be applied to an order, in the order in which it came. */
export async function listStoredEvents(database: Queryable, orderId: string): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `select id from inbox_events where state = 'stored' and order_id = $1 order by received_at, id limit 100`,
    [orderId],
  );
  return rows.map(({ id }) => id);
}

/** Sets an event aside whose application fails in a way that repeating does not mend. */
export async function setEventAside(
  database: Queryable,
  { id, remark }: { readonly id: string; readonly remark: string },
): Promise<void> {
  await database.query(`update inbox_events set state = 'stuck', remark = $2 where id = $1 and state = 'stored'`, [
    id,
    remark.slice(0, 1_000),
  ]);
}

/** Lets an event that was doubted or is stuck be applied once more. */
export async function reopenInboxEvent(database: Queryable, id: string): Promise<void> {
  await database.query(
    `update inbox_events set state = 'stored', applied_at = null, remark = null
     where id = $1 and state in ('doubted', 'stuck')`,
    [id],
  );
}
