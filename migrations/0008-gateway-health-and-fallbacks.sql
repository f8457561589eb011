-- Whether each gateway answers, shared by all processes, and where an order may go when its gateway provably has nothing.

-- One row per gateway that was ever seen silent. Written when a gateway falls silent and when it is heard again, not at each
-- call: a few writes an outage. It holds no money and may be lost; what it knows is found out anew within seconds.
create table gateway_health (
  gateway text primary key constraint gateway_health_gateway_bounded check (length(gateway) between 1 and 64),
  -- The first silence since the gateway was last heard; null while it answers. The first good answer sets it to null by a
  -- conditional update, so that one process of all learns that the outage is over and has the waiting orders asked.
  silent_since timestamptz,
  -- The breaker: since when new charges are refused, null while they are let through.
  opened_at timestamptz,
  -- When the next single charge is let through to see whether the gateway works again. Moved by compare-and-set, so that of
  -- all callers in all processes one is let through.
  probe_at timestamptz,
  updated_at timestamptz not null,

  -- An open breaker without a time for its next probe would stay open for ever.
  constraint gateway_health_probe_is_set check ((opened_at is null) = (probe_at is null))
);

-- Gateways to go on with, in this order, when the one before provably did not take the request. Chosen by the shop when it
-- makes the order, because a payment method must be good at each of them.
alter table orders add column fallback_gateways text[] not null default '{}'
  constraint orders_fallback_gateways_bounded check (
    cardinality(fallback_gateways) <= 3 and array_position(fallback_gateways, null) is null
    and array_position(fallback_gateways, gateway) is null);

-- Whom an attempt was sent to is the order's choice and nobody else's: its gateway, or one of its fallbacks. And the list is
-- fixed, like the gateway: a gateway that is added later could be asked for money under a reference that another one has.
create function guard_fallback_gateways() returns trigger language plpgsql as $$
begin
  if new.fallback_gateways is distinct from old.fallback_gateways then
    raise exception 'the fallback gateways of order % are fixed', old.id
      using errcode = 'check_violation', constraint = 'orders_fallback_gateways_fixed';
  end if;
  return new;
end $$;

create trigger orders_guard_fallback_gateways before update of fallback_gateways on orders
  for each row execute function guard_fallback_gateways();

create function guard_attempt_gateway() returns trigger language plpgsql as $$
begin
  -- An order that does not exist is the foreign key's matter.
  if exists (
    select from orders where id = new.order_id and gateway <> new.gateway and new.gateway <> all (fallback_gateways)) then
    raise exception 'attempt % of order % names a gateway that is not the order''s', new.attempt_number, new.order_id
      using errcode = 'check_violation', constraint = 'payment_attempts_gateway_is_of_order';
  end if;
  return new;
end $$;

create trigger payment_attempts_guard_gateway before insert on payment_attempts
  for each row execute function guard_attempt_gateway();

-- Whom to ask when a gateway is heard again.
create index payment_attempts_waiting on payment_attempts (gateway, order_id)
  where status in ('sent', 'pending', 'unknown', 'requires_action');

comment on table gateway_health is 'Whether each gateway answers, and whether new charges are let through to it.';
