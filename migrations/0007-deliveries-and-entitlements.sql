-- Fulfilment: what a paid order entitles to, and the news of it on its way to the merchant's own systems.

-- What may be told. Data and not a CHECK, so that a new kind is one row here (or in a later migration) and one line in
-- OUTBOX_EVENTS of store/outbox-events.ts; a test holds the two equal. A kind that is not listed cannot be written, because
-- nobody would have said yet who is to be told of it.
create table outbox_event_kinds (
  kind text primary key constraint outbox_event_kinds_format check (kind ~ '^[a-z]{1,30}\.[a-z_]{1,30}$')
);

insert into outbox_event_kinds (kind) values
  ('order.paid'), ('order.failed'), ('order.expired'), ('order.cancelled'), ('order.authorized'), ('order.voided'),
  ('order.needs_review'),
  ('refund.succeeded'), ('refund.failed'),
  ('dispute.opened'), ('dispute.won'), ('dispute.lost'),
  ('entitlement.revoked');

alter table outbox_events drop constraint outbox_events_kind_known;
alter table outbox_events add constraint outbox_events_kind_known foreign key (kind) references outbox_event_kinds (kind);

-- Which refund, dispute or entitlement the news is about, where an order can have several; null for news of the order itself.
alter table outbox_events add column subject_id uuid;
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

comment on table outbox_event_kinds is 'What may be told to the world outside.';
