-- What the world outside has to be told: fulfilment, mails, invoices. An event is written in the transaction that changes
-- the order, so it exists exactly when the change does, and it is sent after the commit, never before.
create table outbox_events (
  id uuid primary key,
  order_id uuid not null references orders (id),
  -- Which attempt brought the change about; null for changes without one, such as an expiry.
  attempt_number integer,
  kind text not null constraint outbox_events_kind_known check (kind in (
    'order.paid', 'order.failed', 'order.expired', 'order.needs_review')),
  payload jsonb not null,
  created_at timestamptz not null,
  delivered_at timestamptz,

  -- One event per order, kind and attempt: a step that runs twice tells its news once.
  constraint outbox_events_once unique nulls not distinct (order_id, kind, attempt_number)
);

-- An order is paid once in its life, so it is fulfilled once, whichever attempt the news is about.
create unique index outbox_events_paid_once on outbox_events (order_id) where kind = 'order.paid';
create index outbox_events_undelivered on outbox_events (created_at) where delivered_at is null;

comment on table outbox_events is 'News for the world outside, written with the change and sent after the commit.';
