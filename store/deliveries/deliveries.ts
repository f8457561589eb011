import type { DeliveryFigures, DeliveryStatus } from '../../domain/delivery.ts';
import type { Queryable } from '../database.ts';
import type { OutboxEventKind } from './outbox-events.ts';

/** A delivery that this process holds until its lease ends, with all that is needed to send it. */
export interface ClaimedDelivery {
  readonly eventId: string;
  readonly endpointId: string;
  readonly lease: string;
  /** This try included. */
  readonly tries: number;
  readonly triesSince: string;
  readonly url: string;
  readonly secretGeneration: number;
  readonly previousSecretUntil: string | null;
  /** Not null: it was disabled meanwhile. */
  readonly disabledReason: string | null;
  readonly orderId: string;
  readonly sequence: number;
  readonly kind: OutboxEventKind;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
}

interface ClaimedRow {
  readonly event_id: string;
  readonly endpoint_id: string;
  readonly lease: string;
  readonly tries: number;
  readonly tries_since: string;
  readonly url: string;
  readonly secret_generation: number;
  readonly previous_secret_until: string | null;
  readonly disabled_reason: string | null;
  readonly order_id: string;
  readonly sequence: number;
  readonly kind: OutboxEventKind;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly created_at: string;
}

export interface DeliveryClaim {
  readonly now: string;
  /** When another process may take a row that nobody has written to by then. */
  readonly leaseEndsAt: string;
  readonly limit: number;
  readonly perEndpoint: number;
  /** Endpoints that have as many calls in flight as they may. */
  readonly busyEndpoints: readonly string[];
}

/**
 * Takes deliveries that are due, some of each endpoint, so that one that is slow or away holds up nobody else. A delivery
 * waits for the earlier ones of its order to the same endpoint, unless those are parked. The try is counted here, before
 * anything is sent; the row lock ends with this statement, and what holds the row from then on is the lease.
 */
export async function claimDeliveries(database: Queryable, claim: DeliveryClaim): Promise<ClaimedDelivery[]> {
  const { rows } = await database.query<ClaimedRow>(
    `update deliveries claimed
     set tries = claimed.tries + 1, next_try_at = $2, lease = gen_random_uuid(), last_try_at = $1
     from (
       select due.* from webhook_endpoints endpoint cross join lateral (
         select waiting.event_id, waiting.endpoint_id from deliveries waiting
         join outbox_events event on event.id = waiting.event_id
         where waiting.endpoint_id = endpoint.id and waiting.status = 'pending' and waiting.next_try_at <= $1
           and not exists (
             select from outbox_events earlier join deliveries before on before.event_id = earlier.id
             where earlier.order_id = event.order_id and earlier.sequence < event.sequence
               and before.endpoint_id = waiting.endpoint_id and before.status = 'pending')
         order by waiting.next_try_at limit $4
         for update of waiting skip locked) due
       where endpoint.id <> all ($5::uuid[])
       limit $3) due, webhook_endpoints, outbox_events
     where claimed.event_id = due.event_id and claimed.endpoint_id = due.endpoint_id
       and webhook_endpoints.id = due.endpoint_id and outbox_events.id = due.event_id
     returning claimed.event_id, claimed.endpoint_id, lease, tries, tries_since, url, secret_generation,
       previous_secret_until, disabled_reason, order_id, sequence, kind, payload, outbox_events.created_at`,
    [claim.now, claim.leaseEndsAt, claim.limit, claim.perEndpoint, claim.busyEndpoints],
  );
  return rows.map(readClaimed);
}

export type DeliveryResult =
  | { readonly status: 'delivered' }
  | { readonly status: 'pending'; readonly nextTryAt: string }
  | { readonly status: 'parked'; readonly reason: string };

const ANSWER_LENGTH_MAX = 500;

/**
 * Writes down what came of a try, if the lease is still ours: a process that was away so long that another one took the row
 * finds it changed and says nothing. Returns whether it was written.
 */
export async function recordDelivery(
  database: Queryable,
  delivery: Pick<ClaimedDelivery, 'eventId' | 'endpointId' | 'lease'>,
  said: { readonly result: DeliveryResult; readonly answer: string; readonly now: string },
): Promise<boolean> {
  const { result, answer, now } = said;
  const { rowCount } = await database.query(
    `update deliveries
     set status = $4, lease = null, last_answer = $5, next_try_at = $6, delivered_at = coalesce(delivered_at, $7),
       parked_reason = $8
     where event_id = $1 and endpoint_id = $2 and lease = $3`,
    [
      delivery.eventId,
      delivery.endpointId,
      delivery.lease,
      result.status,
      answer.slice(0, ANSWER_LENGTH_MAX),
      result.status === 'pending' ? result.nextTryAt : null,
      result.status === 'delivered' ? now : null,
      result.status === 'parked' ? result.reason : null,
    ],
  );
  return rowCount === 1;
}

export interface Delivery {
  readonly eventId: string;
  readonly endpointId: string;
  readonly orderId: string;
  readonly sequence: number;
  readonly kind: OutboxEventKind;
  readonly status: DeliveryStatus;
  readonly tries: number;
  readonly nextTryAt: string | null;
  readonly lastTryAt: string | null;
  readonly lastAnswer: string | null;
  readonly deliveredAt: string | null;
  readonly parkedReason: string | null;
  readonly createdAt: string;
}

interface DeliveryRow {
  readonly event_id: string;
  readonly endpoint_id: string;
  readonly order_id: string;
  readonly sequence: number;
  readonly kind: OutboxEventKind;
  readonly status: DeliveryStatus;
  readonly tries: number;
  readonly next_try_at: string | null;
  readonly last_try_at: string | null;
  readonly last_answer: string | null;
  readonly delivered_at: string | null;
  readonly parked_reason: string | null;
  readonly created_at: string;
}

const SELECT_DELIVERY = `select event_id, endpoint_id, order_id, sequence, kind, status, tries, next_try_at, last_try_at,
    last_answer, delivered_at, parked_reason, outbox_events.created_at
  from deliveries join outbox_events on outbox_events.id = event_id`;

/** What is on its way to an endpoint or was delivered, the newest event first. */
export async function listDeliveries(
  database: Queryable,
  filter: { readonly endpointId: string; readonly status: DeliveryStatus | null; readonly limit: number },
): Promise<Delivery[]> {
  const { rows } = await database.query<DeliveryRow>(
    `${SELECT_DELIVERY} where endpoint_id = $1 and ($2::text is null or status = $2) order by event_id desc limit $3`,
    [filter.endpointId, filter.status, filter.limit],
  );
  return rows.map(readDelivery);
}

/** Deliveries that are long overdue, so that it seems that no worker sends any, and those that were given up; the oldest first. */
export async function listStuckDeliveries(
  database: Queryable,
  { overdueSince, limit }: { readonly overdueSince: string; readonly limit: number },
): Promise<Delivery[]> {
  const { rows } = await database.query<DeliveryRow>(
    `${SELECT_DELIVERY}
     where status = 'parked' or (status = 'pending' and next_try_at < $1 and not exists (
       select from outbox_events earlier join deliveries before on before.event_id = earlier.id
       where earlier.order_id = outbox_events.order_id and earlier.sequence < outbox_events.sequence
         and before.endpoint_id = deliveries.endpoint_id and before.status = 'pending'))
     order by event_id limit $2`,
    [overdueSince, limit],
  );
  return rows.map(readDelivery);
}

export async function countDeliveries(database: Queryable): Promise<DeliveryFigures> {
  const { rows } = await database.query<{ pending: number; parked: number; oldest: string | null }>(
    `select count(*) filter (where status = 'pending') as pending, count(*) filter (where status = 'parked') as parked,
       min(outbox_events.created_at) filter (where status = 'pending') as oldest
     from deliveries join outbox_events on outbox_events.id = event_id where status in ('pending', 'parked')`,
  );
  const row = rows[0];
  return { pending: row?.pending ?? 0, parked: row?.parked ?? 0, oldestPendingAt: row?.oldest ?? null };
}

function readDelivery(row: DeliveryRow): Delivery {
  return {
    eventId: row.event_id,
    endpointId: row.endpoint_id,
    orderId: row.order_id,
    sequence: row.sequence,
    kind: row.kind,
    status: row.status,
    tries: row.tries,
    nextTryAt: row.next_try_at,
    lastTryAt: row.last_try_at,
    lastAnswer: row.last_answer,
    deliveredAt: row.delivered_at,
    parkedReason: row.parked_reason,
    createdAt: row.created_at,
  };
}

function readClaimed(row: ClaimedRow): ClaimedDelivery {
  return {
    eventId: row.event_id,
    endpointId: row.endpoint_id,
    lease: row.lease,
    tries: row.tries,
    triesSince: row.tries_since,
    url: row.url,
    secretGeneration: row.secret_generation,
    previousSecretUntil: row.previous_secret_until,
    disabledReason: row.disabled_reason,
    orderId: row.order_id,
    sequence: row.sequence,
    kind: row.kind,
    payload: row.payload,
    createdAt: row.created_at,
  };
}
