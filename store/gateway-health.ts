import type { Queryable } from './database.ts';

/** Notes that a gateway gave no answer. Only the first silence since it was last heard counts. */
export async function noteSilence(database: Queryable, gateway: string, now: string): Promise<void> {
  await database.query(
    `insert into gateway_health (gateway, silent_since, updated_at) values ($1, $2, $2)
     on conflict (gateway) do update set silent_since = excluded.silent_since, updated_at = excluded.updated_at
     where gateway_health.silent_since is null`,
    [gateway, now],
  );
}

/**
 * Notes that a gateway gave an answer. Returns since when it had been silent, to one caller of all, and undefined to the
 * others. An open breaker lets its next probe through at once.
 */
export async function noteAnswer(database: Queryable, gateway: string, now: string): Promise<string | undefined> {
  const { rows } = await database.query<{ silent_since: string }>(
    `with silent as (
       select gateway, silent_since from gateway_health where gateway = $1 and silent_since is not null for update)
     update gateway_health set silent_since = null, updated_at = $2,
       probe_at = case when opened_at is null then null else least(probe_at, $2) end
     from silent where gateway_health.gateway = silent.gateway
     returning silent.silent_since`,
    [gateway, now],
  );
  return rows[0]?.silent_since;
}

/** Opens the breaker, unless it is open. Returns whether this call opened it. */
export async function openBreaker(
  database: Queryable,
  opening: { readonly gateway: string; readonly now: string; readonly probeAt: string },
): Promise<boolean> {
  const { rowCount } = await database.query(
    `insert into gateway_health (gateway, opened_at, probe_at, updated_at) values ($1, $2, $3, $2)
     on conflict (gateway) do update
     set opened_at = excluded.opened_at, probe_at = excluded.probe_at, updated_at = excluded.updated_at
     where gateway_health.opened_at is null`,
    [opening.gateway, opening.now, opening.probeAt],
  );
  return rowCount === 1;
}

/** A charge went through: new ones are let through again. Returns whether this call closed it. */
export async function closeBreaker(database: Queryable, gateway: string, now: string): Promise<boolean> {
  const { rowCount } = await database.query(
    `update gateway_health set opened_at = null, probe_at = null, updated_at = $2
     where gateway = $1 and opened_at is not null`,
    [gateway, now],
  );
  return rowCount === 1;
}

export async function isBreakerOpen(database: Queryable, gateway: string): Promise<boolean> {
  const { rows } = await database.query('select from gateway_health where gateway = $1 and opened_at is not null', [
    gateway,
  ]);
  return rows.length > 0;
}

/** Takes the one place that an open breaker gives out each time its probe is due. Returns whether this caller got it. */
export async function takeProbe(
  database: Queryable,
  probe: { readonly gateway: string; readonly now: string; readonly nextProbeAt: string },
): Promise<boolean> {
  const { rowCount } = await database.query(
    `update gateway_health set probe_at = $3, updated_at = $2
     where gateway = $1 and opened_at is not null and probe_at <= $2`,
    [probe.gateway, probe.now, probe.nextProbeAt],
  );
  return rowCount === 1;
}

export interface WaitingPage {
  readonly gateway: string;
  /** Only orders whose id is greater; null at the beginning. */
  readonly after: string | null;
  readonly limit: number;
}

/** Orders whose last word from this gateway is still to come, in the order of their ids. */
export async function listWaitingOrders(database: Queryable, page: WaitingPage): Promise<string[]> {
  const { rows } = await database.query<{ order_id: string }>(
    `select order_id from payment_attempts
     where gateway = $1 and status in ('sent', 'pending', 'unknown', 'requires_action')
       and ($2::uuid is null or order_id > $2)
     order by order_id limit $3`,
    [page.gateway, page.after, page.limit],
  );
  return rows.map(({ order_id: orderId }) => orderId);
}
