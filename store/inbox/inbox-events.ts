import { v7 as newId } from 'uuid';
import type { EventNews, InboxEventState } from '../../domain/gateway-event.ts';
import { readMerchantReference } from '../../domain/merchant-reference.ts';
import type { Queryable } from '../database.ts';

/** One event of a gateway as it is kept. Times are ISO strings. */
export interface InboxEvent {
  readonly id: string;
  readonly gateway: string;
  readonly eventId: string;
  readonly type: string;
  readonly state: InboxEventState;
  readonly merchantReference: string | null;
  readonly gatewayReference: string | null;
  /** Null while nothing of ours carries its reference. */
  readonly orderId: string | null;
  readonly attemptNumber: number | null;
  readonly remark: string | null;
  readonly occurredAt: string | null;
  readonly receivedAt: string;
  readonly appliedAt: string | null;
  /** What came, as text and without card numbers. */
  readonly body: string;
}

export interface NewInboxEvent {
  readonly gateway: string;
  readonly eventId: string;
  readonly type: string;
  readonly occurredAt: string | null;
  readonly body: Uint8Array;
  readonly news: EventNews | null;
  /** The order's row says it already (store/orders/records.ts), so nobody has to apply it. */
  readonly nothingNew?: boolean;
  /** ISO time. */
  readonly now: string;
}

/** Where an event was put: enough to tell its order. */
export interface InboxPlace {
  readonly id: string;
  readonly state: InboxEventState;
  readonly orderId: string | null;
}

/**
 * Stores an event, or finds it stored: one statement, so mark and content are one commit and of any number of repeats one
 * stays. An order is looked for by our reference, which names it, and else by the gateway's. When nothing of ours carries
 * the reference, the event waits as `unmatched`; one that comes in the very instant in which its attempt is made may miss
 * it, and is matched by the next inquiry or the sweeper.
 */
export async function storeInboxEvent(database: Queryable, event: NewInboxEvent): Promise<InboxPlace> {
  const { gateway, eventId, news, now } = event;
  const { rows } = await database.query<PlaceRow>(
    `with matched as (
       select order_id, attempt_number, 1 as rank from payment_attempts where merchant_reference = $8
       union all
       select order_id, attempt_number, 2 from payment_attempts where gateway = $2 and gateway_reference = $9
       union all
       select id, null, 3 from orders where id = $10
       order by rank limit 1)
     insert into inbox_events (id, gateway, event_id, event_type, occurred_at, received_at, body, merchant_reference,
       gateway_reference, news, state, order_id, attempt_number, applied_at)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $11,
       case when $11::json is null then 'not_understood' when order_id is null then 'unmatched'
         when $12 then 'nothing_new' else 'stored' end,
       case when $11::json is not null then order_id end, case when $11::json is not null then attempt_number end,
       case when $12 and order_id is not null then $6::timestamptz end
     from (select 1) as one left join matched on true
     on conflict (gateway, event_id) do nothing
     returning id, state, order_id`,
    [
      newId(),
      gateway,
      eventId,
      event.type,
      event.occurredAt,
      now,
      event.body,
      news?.merchantReference ?? null,
      news?.gatewayReference ?? null,
      readMerchantReference(news?.merchantReference ?? '')?.orderId ?? null,
      news === null ? null : JSON.stringify(news),
      event.nothingNew ?? false,
    ],
  );
  const [stored] = rows;
  return stored === undefined ? readPlace(database, gateway, eventId) : placeOf(stored);
}

interface PlaceRow {
  readonly id: string;
  readonly state: InboxEventState;
  readonly order_id: string | null;
}

async function readPlace(database: Queryable, gateway: string, eventId: string): Promise<InboxPlace> {
  const { rows } = await database.query<PlaceRow>(
    'select id, state, order_id from inbox_events where gateway = $1 and event_id = $2',
    [gateway, eventId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('An event that was refused as a repeat is not there');
  return placeOf(row);
}

function placeOf({ id, state, order_id: orderId }: PlaceRow): InboxPlace {
  return { id, state, orderId };
}

interface Row extends PlaceRow {
  readonly gateway: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly merchant_reference: string | null;
  readonly gateway_reference: string | null;
  readonly attempt_number: number | null;
  readonly remark: string | null;
  readonly occurred_at: string | null;
  readonly received_at: string;
  readonly applied_at: string | null;
  readonly body: Buffer;
}

const SELECT_EVENT = `select id, gateway, event_id, event_type, state, merchant_reference, gateway_reference, order_id,
    attempt_number, remark, occurred_at, received_at, applied_at, body
  from inbox_events`;

export async function findInboxEvent(database: Queryable, id: string): Promise<InboxEvent | undefined> {
  const { rows } = await database.query<Row>(`${SELECT_EVENT} where id = $1`, [id]);
  return rows[0] === undefined ? undefined : readEvent(rows[0]);
}

export interface InboxFilter {
  readonly state: InboxEventState | null;
  readonly orderId: string | null;
  /** Only events stored before the one with this id. */
  readonly before: string | null;
  readonly limit: number;
}

/** Newest first. */
export async function listInboxEvents(database: Queryable, filter: InboxFilter): Promise<InboxEvent[]> {
  const { rows } = await database.query<Row>(
    `${SELECT_EVENT}
     where ($1::text is null or state = $1) and ($2::uuid is null or order_id = $2) and ($3::uuid is null or id < $3)
     order by id desc limit $4`,
    [filter.state, filter.orderId, filter.before, filter.limit],
  );
  return rows.map(readEvent);
}

function readEvent(row: Row): InboxEvent {
  return {
    ...placeOf(row),
    gateway: row.gateway,
    eventId: row.event_id,
    type: row.event_type,
    merchantReference: row.merchant_reference,
    gatewayReference: row.gateway_reference,
    attemptNumber: row.attempt_number,
    remark: row.remark,
    occurredAt: row.occurred_at,
    receivedAt: row.received_at,
    appliedAt: row.applied_at,
    body: row.body.toString('utf8'),
  };
}
