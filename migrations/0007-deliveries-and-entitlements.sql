-- Fulfilment: what a paid order entitles to, and the news of it on its way to the merchant's own systems.

-- What may be told. Data and not a CHECK, so that a new kind is one row here (or in a later migration) and one line in
-- OUTBOX_EVENTS of store/deliveries/outbox-events.ts; a test holds the two equal. A kind that is not listed cannot be written, because
-- nobody would have said yet who is to be told of it.
create table outbox_event_kinds (
  kind text primary key constraint outbox_event_kinds_format check (kind ~ '^[a-z]{1,30}\.[a-z_]{1,30}$')
);

insert into outbox_event_kinds (kind) values
  ('order.paid'), ('order.failed'), ('order.expired'), ('order.cancelled'), ('order.authorized'), ('order.voided'),
  ('order.needs_review'), ('order.over_paid'),
  ('refund.succeeded'), ('refund.failed'),
  ('dispute.opened'), ('dispute.won'), ('dispute.lost'),
  ('entitlement.revoked');

alter table outbox_events drop constraint outbox_events_kind_known;
alter table outbox_events add constraint outbox_events_kind_known foreign key (kind) references outbox_event_kinds (kind);

-- Which refund, dispute or entitlement the news is about, where an order can have several: its id, or the entitlement's kind.
-- Null for news of the order itself.
alter table outbox_events add column subject_id text
  constraint outbox_events_subject_bounded check (length(subject_id) between 1 and 100);
alter table outbox_events drop constraint outbox_events_once;
alter table outbox_events add constraint outbox_events_once
  unique nulls not distinct (order_id, kind, attempt_number, subject_id);

-- The number of the event among those of its order, counted from 1 without a gap, so that a receiver can put them in order
-- and see that one is missing.
alter table outbox_events add column sequence integer;
update outbox_events set sequence = numbered.place
from (select id, row_number() over (partition by order_id order by created_at, id) as place from outbox_events) numbered
where numbered.id = outbox_events.id;
alter table outbox_events alter column sequence set not null;
alter table outbox_events add constraint outbox_events_sequence_counts check (sequence between 1 and 1000000);
alter table outbox_events add constraint outbox_events_sequence_once unique (order_id, sequence);

-- Two transactions that tell news of one order take turns at its row: otherwise both would find the same last number, and
-- one of two true stories would be refused. An event that turns out to be told already uses up no number.
create function number_outbox_event() returns trigger language plpgsql as $$
begin
  perform from orders where id = new.order_id for no key update;
  select coalesce(max(sequence), 0) + 1 into new.sequence from outbox_events where order_id = new.order_id;
  return new;
end $$;

create trigger outbox_events_number before insert on outbox_events for each row execute function number_outbox_event();

-- Whether an event was delivered is a question for each endpoint that is told of it, so it is not asked here.
alter table outbox_events drop column delivered_at;

-- What was told once is never edited or removed: a replay must send the very same words.
create trigger outbox_events_append_only before update or delete or truncate on outbox_events
  for each statement execute function refuse_change();

-- Where a merchant wants to be told. The secret that signs for an endpoint is not here: it is computed from the master secret
-- of the configuration, the endpoint's id and the generation, so a stolen table signs nothing.
create table webhook_endpoints (
  id uuid primary key,
  -- Whether it points inward is asked when it is added and again at each connection, because names change their addresses.
  url text not null constraint webhook_endpoints_url_format check (url ~ '^https?://[^[:space:]]+$' and length(url) <= 2000),
  -- Null: all, also those of later versions.
  event_kinds text[] constraint webhook_endpoints_kinds_not_empty check (cardinality(event_kinds) between 1 and 100),
  -- Counted up by each change of the secret.
  secret_generation integer not null default 1
    constraint webhook_endpoints_generation_bounded check (secret_generation between 1 and 100000),
  -- SHA-256 of the present secret, so that a process with another master secret notices before it signs for nobody.
  secret_hash bytea not null constraint webhook_endpoints_hash_is_sha256 check (length(secret_hash) = 32),
  -- Until then the secret of the generation before signs as well.
  previous_secret_until timestamptz
    constraint webhook_endpoints_previous_exists check (previous_secret_until is null or secret_generation > 1),
  created_at timestamptz not null,
  disabled_at timestamptz,
  disabled_reason text constraint webhook_endpoints_reason_bounded check (length(disabled_reason) between 1 and 500),

  constraint webhook_endpoints_disabled_has_reason check ((disabled_at is null) = (disabled_reason is null))
);

-- One event on its way to one endpoint. Made with the event and sent by the workers, at least once: what a process that died
-- between the answer and the mark has sent is sent again under the same id.
create table deliveries (
  event_id uuid not null references outbox_events (id),
  endpoint_id uuid not null references webhook_endpoints (id),
  status text not null default 'pending'
    constraint deliveries_status_known check (status in ('pending', 'delivered', 'parked')),
  -- Counted before each send, as is due when a process may die before the answer.
  tries integer not null default 0 constraint deliveries_tries_bounded check (tries between 0 and 1000),
  -- Tries end some days after this: when the event was told, or when it was replayed.
  tries_since timestamptz not null,
  -- While a worker sends it, this is when its lease ends and another worker may take it for dead.
  next_try_at timestamptz,
  -- Which take of which worker holds the row; only that one may write down what came of it.
  lease uuid,
  last_try_at timestamptz,
  last_answer text constraint deliveries_answer_bounded check (length(last_answer) <= 500),
  delivered_at timestamptz,
  parked_reason text constraint deliveries_reason_bounded check (length(parked_reason) between 1 and 500),

  primary key (event_id, endpoint_id),
  constraint deliveries_pending_has_time check ((status = 'pending') = (next_try_at is not null)),
  constraint deliveries_delivered_has_time check (status <> 'delivered' or delivered_at is not null),
  constraint deliveries_parked_has_reason check ((status = 'parked') = (parked_reason is not null)),
  constraint deliveries_leased_is_pending check (lease is null or status = 'pending')
);

-- Addressed by the event's own row, so that no way to tell news can forget somebody; disabled endpoints are told of nothing.
create function address_outbox_event() returns trigger language plpgsql as $$
begin
  insert into deliveries (event_id, endpoint_id, tries_since, next_try_at)
  select new.id, id, new.created_at, new.created_at from webhook_endpoints
  where disabled_at is null and (event_kinds is null or new.kind = any (event_kinds));
  return null;
end $$;

create trigger outbox_events_address after insert on outbox_events for each row execute function address_outbox_event();

create index deliveries_due on deliveries (endpoint_id, next_try_at) where status = 'pending';
create index deliveries_parked on deliveries (endpoint_id) where status = 'parked';

create trigger webhook_endpoints_never_removed before delete or truncate on webhook_endpoints
  for each statement execute function refuse_change();
create trigger deliveries_never_removed before delete or truncate on deliveries
  for each statement execute function refuse_change();

-- What the buyer gets for the money, as the shop names it ("download", "licence"): known from the start, because the change
-- to paid may be made by a webhook in the night, when nobody can be asked.
alter table orders add column entitlement_kinds text[] not null default '{order}'
  constraint orders_entitlement_kinds_format check (
    cardinality(entitlement_kinds) >= 1 and cardinality(entitlement_kinds) <= 20
    -- A kind with a comma in it would pass for two.
    and cardinality(string_to_array(array_to_string(entitlement_kinds, ',', '!'), ',')) = cardinality(entitlement_kinds)
    and array_to_string(entitlement_kinds, ',', '!') ~ '^[a-z][a-z0-9_-]{0,63}(,[a-z][a-z0-9_-]{0,63})*$');

create function keep_entitlement_kinds() returns trigger language plpgsql as $$
begin
  raise exception 'what order % entitles to is fixed', old.id
    using errcode = 'check_violation', constraint = 'orders_entitlement_kinds_fixed';
end $$;

create trigger orders_entitlement_kinds_kept before update of entitlement_kinds on orders
  for each row when (new.entitlement_kinds is distinct from old.entitlement_kinds) execute function keep_entitlement_kinds();

-- What a paid order entitles to: once per order and kind, whoever found out that it is paid and however often.
create table entitlements (
  order_id uuid not null references orders (id),
  kind text not null,
  granted_at timestamptz not null,
  -- Who used it up, in the merchant's own words, such as the id of a download; a repeat by the same one is answered alike.
  redeemed_by text constraint entitlements_redeemer_bounded check (length(redeemed_by) between 1 and 200),
  redeemed_at timestamptz,
  revoked_reason text constraint entitlements_reason_bounded check (length(revoked_reason) between 10 and 1000),
  revoked_at timestamptz,

  primary key (order_id, kind),
  constraint entitlements_redeemed_has_redeemer check ((redeemed_at is null) = (redeemed_by is null)),
  -- Never taken back without a word.
  constraint entitlements_revoked_has_reason check ((revoked_at is null) = (revoked_reason is null))
);

-- Granted by the change of the row itself, so that no way to become paid can forget it or do it twice.
create function grant_entitlements() returns trigger language plpgsql as $$
begin
  insert into entitlements (order_id, kind, granted_at)
  select distinct new.id, kind, new.updated_at from unnest(new.entitlement_kinds) as kind;
  return null;
end $$;

create trigger orders_grant_entitlements after update of status on orders
  for each row when (new.status = 'paid' and old.status <> 'paid') execute function grant_entitlements();

-- Nothing is granted for an order that is not paid; what was used up or taken back stays so, and what was taken back cannot be
-- used up any more.
create function guard_entitlement() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if not exists (select from orders where id = new.order_id and status = 'paid' and new.kind = any (entitlement_kinds)) then
      raise exception 'order % does not entitle to %', new.order_id, new.kind
        using errcode = 'check_violation', constraint = 'entitlements_order_is_paid';
    end if;
    return new;
  end if;
  if (new.order_id, new.kind, new.granted_at) is distinct from (old.order_id, old.kind, old.granted_at)
     or (old.redeemed_at is not null
         and (new.redeemed_at, new.redeemed_by) is distinct from (old.redeemed_at, old.redeemed_by))
     or (old.revoked_at is not null
         and (new.revoked_at, new.revoked_reason, new.redeemed_at)
             is distinct from (old.revoked_at, old.revoked_reason, old.redeemed_at)) then
    raise exception 'what became of the entitlement % of order % is fixed', old.kind, old.order_id
      using errcode = 'check_violation', constraint = 'entitlements_end_fixed';
  end if;
  return new;
end $$;

create trigger entitlements_guard before insert or update on entitlements
  for each row execute function guard_entitlement();
create trigger entitlements_never_removed before delete or truncate on entitlements
  for each statement execute function refuse_change();

-- Orders that were paid before there were entitlements.
insert into entitlements (order_id, kind, granted_at) select id, 'order', updated_at from orders where status = 'paid';

comment on table outbox_event_kinds is 'What may be told to the world outside.';
comment on table webhook_endpoints is 'Where a merchant wants to be told of events.';
comment on table deliveries is 'One event on its way to one endpoint.';
comment on table entitlements is 'What a paid order entitles to, once per kind.';
