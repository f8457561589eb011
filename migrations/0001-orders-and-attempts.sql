-- Orders, their payment attempts, and the evidence for what is said of both.
--
-- This file is where "charged once" is kept for ever. Temporal forgets a workflow after its retention and a lock forgets
-- its owner, but a unique row does not: an order that was ever claimed is guarded by the rows below, whoever asks and when.
-- Ids are made by the application (UUIDv7), because uuidv7() exists only from PostgreSQL 18 and we run on 15 as well.

-- The moves an order may make. Data and not code, so that the same pairs can be compared with the table in domain/order.ts
-- and with the diagram in the docs. A status that appears nowhere as "from" is an end.
create table order_status_transitions (
  from_status text not null,
  to_status text not null,
  primary key (from_status, to_status)
);

insert into order_status_transitions (from_status, to_status) values
  ('created', 'processing'), ('created', 'expired'), ('created', 'cancelled'),
  ('processing', 'paid'), ('processing', 'failed'), ('processing', 'unknown'),
  ('processing', 'requires_action'), ('processing', 'authorized'),
  ('requires_action', 'processing'), ('requires_action', 'paid'), ('requires_action', 'failed'),
  ('requires_action', 'unknown'), ('requires_action', 'expired'),
  ('authorized', 'paid'), ('authorized', 'voided'), ('authorized', 'expired'), ('authorized', 'unknown'),
  ('unknown', 'paid'), ('unknown', 'failed'), ('unknown', 'authorized'),
  ('failed', 'processing'), ('failed', 'expired'), ('failed', 'cancelled');

-- The moves a payment attempt may make; the same care, because an attempt that came back to life could be charged again.
create table attempt_status_transitions (
  from_status text not null,
  to_status text not null,
  primary key (from_status, to_status)
);

insert into attempt_status_transitions (from_status, to_status) values
  ('claimed', 'sent'), ('claimed', 'not_processed'),
  ('sent', 'requires_action'), ('sent', 'pending'), ('sent', 'unknown'),
  ('sent', 'approved'), ('sent', 'declined'), ('sent', 'not_processed'),
  ('requires_action', 'pending'), ('requires_action', 'unknown'),
  ('requires_action', 'approved'), ('requires_action', 'declined'), ('requires_action', 'not_processed'),
  ('pending', 'requires_action'), ('pending', 'unknown'),
  ('pending', 'approved'), ('pending', 'declined'), ('pending', 'not_processed'),
  ('unknown', 'requires_action'), ('unknown', 'pending'),
  ('unknown', 'approved'), ('unknown', 'declined'), ('unknown', 'not_processed');

-- What the shop wants to be paid, once. The amount is an integer of minor units that JSON carries exactly.
create table orders (
  id uuid primary key,
  -- The shop's own number, if it gives one. Unique, so that a shop whose "create order" answer was lost cannot make two.
  shop_reference text constraint orders_shop_reference_unique unique
    constraint orders_shop_reference_bounded check (length(shop_reference) between 1 and 128),
  amount_minor_units bigint not null
    constraint orders_amount_positive_and_safe check (amount_minor_units between 1 and 9007199254740991),
  currency text not null constraint orders_currency_is_iso_code check (currency ~ '^[A-Z]{3}$'),
  gateway text not null constraint orders_gateway_bounded check (length(gateway) between 1 and 64),
  description text constraint orders_description_bounded check (length(description) between 1 and 500),
  -- Where a redirecting gateway sends the customer back to, unless the attempt names another place.
  return_url text constraint orders_return_url_bounded check (length(return_url) between 1 and 2000),
  status text not null default 'created' constraint orders_status_known check (status in (
    'created', 'processing', 'requires_action', 'authorized', 'unknown', 'paid', 'failed', 'expired', 'cancelled', 'voided')),
  -- The number of the last attempt that was claimed; 0 before the first. The claim moves it from n-1 to n in the same
  -- statement that moves the status, so two claims for one number cannot both find their row.
  current_attempt integer not null default 0 constraint orders_current_attempt_bounded check (current_attempt between 0 and 99),
  -- The evidence for the present status. The foreign key further down demands that this row proves exactly this status.
  evidence_id uuid,
  -- A person has to look: an unknown order past its schedule, or news that contradicts what was settled.
  needs_review boolean not null default false,
  review_reason text constraint orders_review_reason_bounded check (length(review_reason) between 1 and 500),
  -- After this no new attempt is accepted and an unpaid order is closed.
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,

  -- A final status without evidence is refused. "We stopped trying" is not evidence, so it cannot be written down.
  constraint orders_final_status_has_evidence check (
    (status in ('paid', 'failed', 'expired', 'cancelled', 'voided')) = (evidence_id is not null)),
  constraint orders_review_has_reason check (needs_review = (review_reason is not null))
);

-- One try to charge an order. The row is the burnt token: (order, number) is unique, so a token can be used up only once.
create table payment_attempts (
  order_id uuid not null references orders (id),
  attempt_number integer not null constraint payment_attempts_number_bounded check (attempt_number between 1 and 99),
  -- Our number for this attempt at the gateway: a function of order and attempt number, never of a clock or a run.
  merchant_reference text not null constraint payment_attempts_merchant_reference_unique unique
    constraint payment_attempts_merchant_reference_format check (merchant_reference ~ '^[0-9A-HJKMNP-TV-Z]{26}[0-9]{2}$'),
  gateway text not null,
  -- The gateway's own number. Unique per gateway: one movement of money can never be credited to two attempts.
  gateway_reference text,
  status text not null default 'claimed' constraint payment_attempts_status_known check (status in (
    'claimed', 'sent', 'requires_action', 'pending', 'unknown', 'approved', 'declined', 'not_processed')),
  -- The first execution run id of the workflow that holds the claim. Only this run may mark the attempt as sent; a run
  -- that lost its claim to a later one finds no row to update.
  claimed_by_run text not null,
  -- The gateway's token for card or wallet, and where a redirect comes back to. Never a card number.
  payment_method text not null constraint payment_attempts_payment_method_bounded check (length(payment_method) between 1 and 255),
  return_url text constraint payment_attempts_return_url_bounded check (length(return_url) between 1 and 2000),
  -- What was sent, byte for byte, stored before it left: a repeat sends these bytes and nothing else.
  request_key text constraint payment_attempts_request_key_unique unique,
  request_body text constraint payment_attempts_request_body_bounded check (length(request_body) <= 20000),
  -- How often the request was sent. The first send moves it from 0 to 1, a permitted repeat from n to n+1: always by
  -- compare-and-set, so that whatever runs twice sends once.
  sends integer not null default 0 constraint payment_attempts_sends_bounded check (sends between 0 and 1000),
  sent_at timestamptz,
  last_sent_at timestamptz,
  decline_code text,
  decline_gateway_code text,
  decline_retriable boolean,
  action_kind text constraint payment_attempts_action_kind_known check (action_kind in ('redirect', 'show_code')),
  action_url text constraint payment_attempts_action_url_bounded check (length(action_url) between 1 and 4000),
  evidence_id uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null,

  primary key (order_id, attempt_number),
  constraint payment_attempts_gateway_reference_unique unique (gateway, gateway_reference),
  constraint payment_attempts_claimed_is_unsent check (status <> 'claimed' or sends = 0),
  -- Nothing can be said about an answer to a request that was never sent, but for "it was not processed".
  constraint payment_attempts_answered_was_sent check (status in ('claimed', 'not_processed') or sends > 0),
  constraint payment_attempts_sent_is_recorded check (
    (sends = 0) = (sent_at is null) and (sends = 0) = (last_sent_at is null)
    and (sends = 0 or (request_key is not null and request_body is not null))),
  constraint payment_attempts_settled_has_evidence check (
    (status in ('approved', 'declined', 'not_processed')) = (evidence_id is not null)),
  constraint payment_attempts_declined_has_reason check (
    (status in ('declined', 'not_processed')) = (decline_code is not null)
    and (decline_code is null) = (decline_retriable is null)),
  constraint payment_attempts_action_is_whole check (
    (status = 'requires_action') = (action_url is not null) and (action_url is null) = (action_kind is null))
);

-- At most one attempt of an order is alive, and at most one succeeds, whatever the code above the database believes.
create unique index payment_attempts_one_live on payment_attempts (order_id)
  where status not in ('approved', 'declined', 'not_processed');
create unique index payment_attempts_one_approved on payment_attempts (order_id) where status = 'approved';

-- Why we believe what we say. Append-only: a row is never changed or removed, so that "who told us, and in which words"
-- can be read years later. A row may prove a status of the order, of the attempt, of both, or of neither (news that came
-- too late, or did not fit and waits for a person).
create table evidence (
  id uuid primary key,
  order_id uuid not null references orders (id),
  attempt_number integer,
  kind text not null constraint evidence_kind_known check (kind in (
    'gateway_response', 'webhook', 'inquiry', 'statement_line', 'operator_decision', 'never_sent')),
  proves_order_status text constraint evidence_order_status_is_final check (
    proves_order_status in ('paid', 'failed', 'expired', 'cancelled', 'voided')),
  proves_attempt_status text constraint evidence_attempt_status_is_settled check (
    proves_attempt_status in ('approved', 'declined', 'not_processed')),
  -- The source's own words, without card data and cut to a length that cannot fill a disk.
  detail text not null constraint evidence_detail_bounded check (length(detail) <= 8000),
  recorded_at timestamptz not null,

  constraint evidence_attempt_exists
    foreign key (order_id, attempt_number) references payment_attempts (order_id, attempt_number),
  -- What was never sent can prove that no money moved, and nothing else.
  constraint evidence_never_sent_proves_no_payment check (
    kind <> 'never_sent'
    or (coalesce(proves_order_status, 'failed') in ('failed', 'expired', 'cancelled')
        and coalesce(proves_attempt_status, 'not_processed') = 'not_processed')),
  constraint evidence_attempt_is_named check (
    attempt_number is not null or (proves_attempt_status is null and coalesce(proves_order_status, 'failed') <> 'paid')),
  -- Targets for the foreign keys below: a status can only point at a row that proves this very status of this very order.
  constraint evidence_for_order unique (order_id, proves_order_status, id),
  constraint evidence_for_attempt unique (order_id, attempt_number, proves_attempt_status, id)
);

create index evidence_by_order on evidence (order_id, recorded_at);

alter table orders add constraint orders_evidence_proves_status
  foreign key (id, status, evidence_id) references evidence (order_id, proves_order_status, id);
alter table payment_attempts add constraint payment_attempts_evidence_proves_status
  foreign key (order_id, attempt_number, status, evidence_id)
  references evidence (order_id, attempt_number, proves_attempt_status, id);

-- What the operator console and the expiry schedule look for; partial, because almost all orders are neither.
create index orders_in_review on orders (updated_at) where needs_review;
create index orders_unpaid_by_expiry on orders (expires_at) where status in ('created', 'failed');
create index orders_in_flight on orders (updated_at) where status in ('processing', 'requires_action', 'authorized', 'unknown');
-- Lists are read newest first, and ids carry their time.
create index orders_by_status on orders (status, id desc);

-- An order starts as created, moves only along the table, and keeps the amount, currency and gateway that it was made
-- with: an amount edited while an attempt lives would charge the old one. Its evidence changes only together with its
-- status, so the first word on how it ended stays; its attempts are counted up one by one.
create function guard_order() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.status <> 'created' or new.current_attempt <> 0 then
      raise exception 'order % starts as % with % attempts, not as created with none', new.id, new.status, new.current_attempt
        using errcode = 'check_violation', constraint = 'orders_start_as_created';
    end if;
    return new;
  end if;
  if new.status <> old.status and not exists (
    select from order_status_transitions where from_status = old.status and to_status = new.status) then
    raise exception 'order % cannot go from % to %', new.id, old.status, new.status
      using errcode = 'check_violation', constraint = 'orders_transition_allowed';
  end if;
  if new.status = old.status and new.evidence_id is distinct from old.evidence_id then
    raise exception 'the evidence for status % of order % is fixed', old.status, new.id
      using errcode = 'check_violation', constraint = 'orders_evidence_fixed';
  end if;
  if (new.id, new.amount_minor_units, new.currency, new.gateway)
     is distinct from (old.id, old.amount_minor_units, old.currency, old.gateway) then
    raise exception 'amount, currency and gateway of order % are fixed', old.id
      using errcode = 'check_violation', constraint = 'orders_amount_fixed';
  end if;
  if new.current_attempt not in (old.current_attempt, old.current_attempt + 1) then
    raise exception 'order % counts its attempts one by one', new.id
      using errcode = 'check_violation', constraint = 'orders_attempts_count_up';
  end if;
  return new;
end $$;

create trigger orders_guard before insert or update on orders for each row execute function guard_order();

-- The same for attempts. Besides, what was sent and under which numbers can never be rewritten, and what was sent can never
-- be called "never sent": by the time of this check the row is locked, so a send at the same moment is not overlooked.
create function guard_attempt() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.status <> 'claimed' then
      raise exception 'attempt % of order % starts as %, not as claimed', new.attempt_number, new.order_id, new.status
        using errcode = 'check_violation', constraint = 'payment_attempts_start_as_claimed';
    end if;
    return new;
  end if;
  if new.status <> old.status and not exists (
    select from attempt_status_transitions where from_status = old.status and to_status = new.status) then
    raise exception 'attempt % of order % cannot go from % to %', new.attempt_number, new.order_id, old.status, new.status
      using errcode = 'check_violation', constraint = 'payment_attempts_transition_allowed';
  end if;
  if new.status = old.status and new.evidence_id is distinct from old.evidence_id then
    raise exception 'the evidence for status % of attempt % of order % is fixed', old.status, new.attempt_number, new.order_id
      using errcode = 'check_violation', constraint = 'payment_attempts_evidence_fixed';
  end if;
  if new.sends > 0 and new.evidence_id is distinct from old.evidence_id and exists (
    select from evidence where id = new.evidence_id and kind = 'never_sent') then
    raise exception 'attempt % of order % was sent', new.attempt_number, new.order_id
      using errcode = 'check_violation', constraint = 'evidence_never_sent_is_true';
  end if;
  if (new.order_id, new.attempt_number, new.gateway, new.merchant_reference)
     is distinct from (old.order_id, old.attempt_number, old.gateway, old.merchant_reference)
     or (old.gateway_reference is not null and new.gateway_reference is distinct from old.gateway_reference) then
    raise exception 'the references of attempt % of order % are fixed', old.attempt_number, old.order_id
      using errcode = 'check_violation', constraint = 'payment_attempts_references_fixed';
  end if;
  if old.sends > 0 and (new.request_key, new.request_body, new.sent_at, new.claimed_by_run)
     is distinct from (old.request_key, old.request_body, old.sent_at, old.claimed_by_run) then
    raise exception 'what attempt % of order % sent is fixed', new.attempt_number, new.order_id
      using errcode = 'check_violation', constraint = 'payment_attempts_request_fixed';
  end if;
  if new.sends not in (old.sends, old.sends + 1) then
    raise exception 'attempt % of order % counts its sends one by one', new.attempt_number, new.order_id
      using errcode = 'check_violation', constraint = 'payment_attempts_sends_count_up';
  end if;
  return new;
end $$;

create trigger payment_attempts_guard before insert or update on payment_attempts for each row execute function guard_attempt();

-- "Never sent" is the one kind of evidence that our own rows can contradict, so they are asked.
create function guard_evidence() returns trigger language plpgsql as $$
begin
  if exists (
    select from payment_attempts
    where order_id = new.order_id and sends > 0 and attempt_number = coalesce(new.attempt_number, attempt_number)) then
    raise exception 'order % was sent to its gateway', new.order_id
      using errcode = 'check_violation', constraint = 'evidence_never_sent_is_true';
  end if;
  return new;
end $$;

create trigger evidence_guard before insert on evidence for each row when (new.kind = 'never_sent')
  execute function guard_evidence();

-- Evidence is never edited, and nothing of an order is ever removed, not even by us: a claimed attempt whose row is gone
-- could be claimed and charged again.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% of % is refused', lower(tg_op), tg_table_name
    using errcode = 'check_violation', constraint = tg_name;
end $$;

create trigger evidence_append_only before update or delete or truncate on evidence
  for each statement execute function refuse_change();
create trigger orders_never_removed before delete or truncate on orders
  for each statement execute function refuse_change();
create trigger payment_attempts_never_removed before delete or truncate on payment_attempts
  for each statement execute function refuse_change();

comment on table order_status_transitions is 'The moves an order may make.';
comment on table attempt_status_transitions is 'The moves a payment attempt may make.';
comment on table orders is 'What a shop wants to be paid, once.';
comment on table payment_attempts is 'One try to charge an order, and the payment token that was burnt for it.';
comment on table evidence is 'Why we believe what orders and attempts say. Append-only.';
