import type { Queryable } from '../database.ts';

/** Which events are told once more: one by its id, or those of a time range (from included, to excluded). */
export type Replay = { readonly eventId: string } | { readonly from: string; readonly to: string };

/**
 * Makes deliveries of past events due once more, as they were told; also events from before the endpoint was added. Of a range
 * only the kinds that the endpoint is told of. What is on its way already is left alone. Returns how many became due.
 */
export async function replayEvents(
  database: Queryable,
  { endpointId, replay, now }: { readonly endpointId: string; readonly replay: Replay; readonly now: string },
): Promise<number> {
  const range = 'eventId' in replay ? { from: null, to: null } : replay;
  const { rowCount } = await database.query(
    `insert into deliveries (event_id, endpoint_id, tries_since, next_try_at)
     select outbox_events.id, webhook_endpoints.id, $5, $5 from webhook_endpoints, outbox_events
     where webhook_endpoints.id = $1 and disabled_at is null
       and (outbox_events.id = $2
         or (outbox_events.created_at >= $3 and outbox_events.created_at < $4
             and (event_kinds is null or kind = any (event_kinds))))
     on conflict (event_id, endpoint_id) do update
       set status = 'pending', tries = 0, tries_since = excluded.tries_since, next_try_at = excluded.next_try_at,
         parked_reason = null
       where deliveries.status <> 'pending'`,
    [endpointId, 'eventId' in replay ? replay.eventId : null, range.from, range.to, now],
  );
  return rowCount ?? 0;
}
