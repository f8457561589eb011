-- The webhook inbox: what gateways told us by themselves. An event is stored here before the gateway is answered 2xx, because
-- after that answer it never comes again; what it means for its order is worked out afterwards, from this row.

create table inbox_events (
  id uuid primary key,
  gateway text not null constraint inbox_events_gateway_bounded check (length(gateway) between 1 and 64),
  -- The gateway's own id of the event, the same over all its tries.
  event_id text not null constraint inbox_events_event_id_bounded check (length(event_id) between 1 and 255),
  -- The gateway's word for what happened; also of kinds that we do not know.
  event_type text not null constraint inbox_events_event_type_bounded check (length(event_type) between 1 and 100),
  occurred_at timestamptz,
  received_at timestamptz not null,
  -- The bytes that were verified, but for card numbers: those are blacked out, because a row in clear may hold none.
  body bytea not null constraint inbox_events_body_bounded check (length(body) <= 2097152),
  -- How the gateway's folder has read it (domain/gateway-event.ts); json and not jsonb, which refuses some texts.
  news json,
  merchant_reference text constraint inbox_events_merchant_reference_bounded check (length(merchant_reference) between 1 and 255),
  gateway_reference text constraint inbox_events_gateway_reference_bounded check (length(gateway_reference) between 1 and 255),
  -- How far it has come; see INBOX_EVENT_STATES in domain/gateway-event.ts.
  state text not null constraint inbox_events_state_known check (state in (
    'stored', 'applied', 'nothing_new', 'doubted', 'unmatched', 'pooled', 'not_understood', 'stuck')),
  order_id uuid references orders (id),
  -- Null also where the order is ours and never made the attempt that the event tells of.
  attempt_number integer,
  -- Why it was doubted, or what stopped it.
  remark text constraint inbox_events_remark_bounded check (length(remark) between 1 and 1000),
  applied_at timestamptz,

  -- A repeat is recognised for ever, long after the gateway has stopped repeating.
  constraint inbox_events_once unique (gateway, event_id),
  constraint inbox_events_attempt_exists
    foreign key (order_id, attempt_number) references payment_attempts (order_id, attempt_number),
  constraint inbox_events_understood_has_news check ((state = 'not_understood') = (news is null)),
  constraint inbox_events_news_names_a_charge check (
    news is null or merchant_reference is not null or gateway_reference is not null),
  -- An event is on its way to an order, or still looks for one; never both and never neither.
  constraint inbox_events_matched_has_order check (
    (state in ('unmatched', 'pooled', 'not_understood')) = (order_id is null)),
  constraint inbox_events_applied_has_time check (
    (state in ('applied', 'nothing_new', 'doubted')) = (applied_at is not null)),
  constraint inbox_events_trouble_has_remark check (state not in ('doubted', 'stuck') or remark is not null)
);

-- What is still to be done; partial, because almost all events are done.
create index inbox_events_stored on inbox_events (order_id) where state = 'stored';
create index inbox_events_without_order on inbox_events (received_at) where state in ('unmatched', 'pooled');
create index inbox_events_by_state on inbox_events (state, id desc);

-- What a gateway said is kept as it was said, and what was applied stays applied: the change of the order and this mark were
-- one commit, so an event that went back to "stored" could be applied twice.
create function guard_inbox_event() returns trigger language plpgsql as $$
begin
  if (new.id, new.gateway, new.event_id, new.event_type, new.received_at, new.body, new.news::text)
     is distinct from (old.id, old.gateway, old.event_id, old.event_type, old.received_at, old.body, old.news::text) then
    raise exception 'what inbox event % says is fixed', old.id
      using errcode = 'check_violation', constraint = 'inbox_events_content_fixed';
  end if;
  if old.state in ('applied', 'nothing_new') and new.state <> old.state then
    raise exception 'inbox event % is % and stays so', old.id, old.state
      using errcode = 'check_violation', constraint = 'inbox_events_applied_is_final';
  end if;
  return new;
end $$;

create trigger inbox_events_guard before update on inbox_events for each row execute function guard_inbox_event();

create trigger inbox_events_never_removed before delete or truncate on inbox_events
  for each statement execute function refuse_change();

comment on table inbox_events is 'What gateways told us by webhook, stored before they were answered.';
