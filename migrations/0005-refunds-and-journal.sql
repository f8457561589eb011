-- Money that goes back: refunds, over-payments, disputes, and the journal in which every movement stands twice.
--
-- The rule that may never be broken, at no instant and by no pair of requests: what is refunded of an order never exceeds
-- what was captured, less earlier refunds and lost disputes. It is kept by the order's own row: a refund that comes into
-- being takes its amount there, in the same statement, so the second of two refunds at once waits for the first and then
-- meets what it left. Code above cannot forget to do so, because a trigger does it.

alter table orders
  -- What was taken from the customer for this order; 0 until it is paid.
  add column captured_minor_units bigint not null default 0,
  -- What refunds hold: those that are asked for, on their way, in doubt or done. Only a proven failure gives it back.
  add column refund_reserved_minor_units bigint not null default 0,
  -- The part of it that has reached the customer.
  add column refunded_minor_units bigint not null default 0,
  -- What open disputes are about. While it is not 0 no refund leaves.
  add column disputed_minor_units bigint not null default 0,
  -- What lost disputes took of the part that was not refunded. A dispute that is lost after a refund takes more than is
  -- left; the excess stands in the dispute and in the journal, and the order goes before a person.
  add column dispute_lost_minor_units bigint not null default 0;

update orders set captured_minor_units = amount_minor_units where status = 'paid';

alter table orders
  add constraint orders_captured_bounded check (captured_minor_units between 0 and amount_minor_units),
  add constraint orders_never_over_refunded check (
    refund_reserved_minor_units + dispute_lost_minor_units <= captured_minor_units),
  add constraint orders_refunded_was_reserved check (refunded_minor_units between 0 and refund_reserved_minor_units),
  add constraint orders_disputed_not_negative check (disputed_minor_units >= 0 and dispute_lost_minor_units >= 0);

-- Money that came in for an attempt or an order that is over. It is written down once, whoever brings the news and how
-- often, and it goes back once.
create table over_payments (
  id uuid primary key,
  order_id uuid not null,
  attempt_number integer not null,
  gateway text not null,
  -- The gateway's number for the extra charge; null where the news did not carry one.
  gateway_reference text,
  amount_minor_units bigint not null constraint over_payments_amount_positive check (amount_minor_units > 0),
  currency text not null,
  reason text not null constraint over_payments_reason_bounded check (length(reason) between 1 and 500),
  evidence_id uuid not null references evidence (id),
  recorded_at timestamptz not null,

  constraint over_payments_attempt_exists
    foreign key (order_id, attempt_number) references payment_attempts (order_id, attempt_number),
  constraint over_payments_once unique (gateway, gateway_reference),
  -- For the foreign key by which a refund of it must be of exactly its amount.
  constraint over_payments_for_refund unique (id, order_id, amount_minor_units)
);

-- Without a number two reports of one charge cannot be told apart, so an attempt has one such over-payment at most.
create unique index over_payments_once_without_reference on over_payments (order_id, attempt_number)
  where gateway_reference is null;

-- The charge that makes an order paid is never an over-payment: refunding it would leave a paid order without its money.
create function guard_over_payment() returns trigger language plpgsql as $$
begin
  if exists (
    select from payment_attempts join orders on orders.id = payment_attempts.order_id
    where payment_attempts.status = 'approved' and orders.status = 'paid'
      and (payment_attempts.gateway, payment_attempts.gateway_reference) = (new.gateway, new.gateway_reference)
    union all
    select from payment_attempts join orders on orders.id = payment_attempts.order_id
    where payment_attempts.status = 'approved' and orders.status = 'paid' and new.gateway_reference is null
      and (payment_attempts.order_id, payment_attempts.attempt_number) = (new.order_id, new.attempt_number)) then
    raise exception 'the charge % makes an order paid', coalesce(new.gateway_reference, 'without a number')
      using errcode = 'check_violation', constraint = 'over_payments_never_the_payment';
  end if;
  return new;
end $$;

create trigger over_payments_guard before insert on over_payments for each row execute function guard_over_payment();

-- The moves a refund may make. `sent` goes back to `requested` only when it is certain that the gateway did not take the
-- request; `succeeded` goes to `failed` when the gateway takes its word back days later.
create table refund_status_transitions (
  from_status text not null,
  to_status text not null,
  primary key (from_status, to_status)
);

insert into refund_status_transitions (from_status, to_status) values
  ('awaiting_approval', 'requested'), ('awaiting_approval', 'failed'),
  ('requested', 'sent'), ('requested', 'failed'),
  ('sent', 'requested'), ('sent', 'pending'), ('sent', 'unknown'), ('sent', 'succeeded'), ('sent', 'failed'),
  ('pending', 'succeeded'), ('pending', 'failed'),
  ('unknown', 'requested'), ('unknown', 'pending'), ('unknown', 'succeeded'), ('unknown', 'failed'),
  ('succeeded', 'failed');

-- One refund: of a part of what was captured, or of one over-payment. Like an attempt it is written before it is sent,
-- marked as sent by compare-and-set, and asked about when the answer is lost.
create table refunds (
  id uuid primary key,
  order_id uuid not null references orders (id),
  -- Which charge the money goes back to.
  attempt_number integer not null,
  charge_gateway_reference text,
  -- Null: a refund of the order. Otherwise it returns this over-payment, and takes nothing of the order's amount.
  over_payment_id uuid,
  gateway text not null,
  -- Our number for the refund at the gateway, and the key of its request: a function of this row's id.
  refund_reference text not null constraint refunds_reference_unique unique
    constraint refunds_reference_format check (refund_reference ~ '^[0-9A-HJKMNP-TV-Z]{26}RF$'),
  gateway_reference text,
  amount_minor_units bigint not null
    constraint refunds_amount_positive_and_safe check (amount_minor_units between 1 and 9007199254740991),
  currency text not null,
  reason text constraint refunds_reason_bounded check (length(reason) between 1 and 500),
  status text not null constraint refunds_status_known check (status in (
    'awaiting_approval', 'requested', 'sent', 'pending', 'unknown', 'succeeded', 'failed')),
  -- `api-key:{id}`, or `automatic` for the refund of an over-payment.
  requested_by text not null constraint refunds_requested_by_bounded check (length(requested_by) between 1 and 100),
  -- Above the configured limit a second person has to agree, and cannot be the first.
  needs_approval boolean not null default false,
  approved_by text,
  request_key text constraint refunds_request_key_unique unique,
  request_body text constraint refunds_request_body_bounded check (length(request_body) <= 20000),
  sends integer not null default 0 constraint refunds_sends_bounded check (sends between 0 and 1000),
  sent_at timestamptz,
  last_sent_at timestamptz,
  failure_code text,
  -- A person has to look: its inquiries are over, or the gateway contradicts what was settled.
  review_reason text constraint refunds_review_reason_bounded check (length(review_reason) between 1 and 500),
  evidence_id uuid references evidence (id),
  created_at timestamptz not null,
  updated_at timestamptz not null,

  constraint refunds_attempt_exists
    foreign key (order_id, attempt_number) references payment_attempts (order_id, attempt_number),
  constraint refunds_over_payment_whole
    foreign key (over_payment_id, order_id, amount_minor_units) references over_payments (id, order_id, amount_minor_units),
  constraint refunds_gateway_reference_unique unique (gateway, gateway_reference),
  constraint refunds_approver_is_another check (approved_by is null or approved_by <> requested_by),
  constraint refunds_approved_before_sent check (
    not needs_approval or approved_by is not null or status in ('awaiting_approval', 'failed')),
  constraint refunds_sent_is_recorded check (
    (sends = 0) = (sent_at is null) and (sends = 0) = (last_sent_at is null)
    and (sends = 0 or (request_key is not null and request_body is not null))),
  constraint refunds_answered_was_sent check (status in ('awaiting_approval', 'requested', 'failed') or sends > 0),
  constraint refunds_settled_has_evidence check ((status in ('succeeded', 'failed')) = (evidence_id is not null)),
  constraint refunds_failed_has_code check ((status = 'failed') = (failure_code is not null))
);

-- An over-payment goes back once. A further refund of it is possible only when the one before it is proven to have failed.
create unique index refunds_one_per_over_payment on refunds (over_payment_id) where status <> 'failed';
create index refunds_by_order on refunds (order_id, id);
create index refunds_in_flight on refunds (updated_at) where status not in ('succeeded', 'failed');

-- A refund begins unsent, moves only along the table, and keeps what it was made with; what was sent can never be rewritten.
create function guard_refund() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.sends <> 0 or new.status <> (case when new.needs_approval then 'awaiting_approval' else 'requested' end) then
      raise exception 'refund % starts as % with % sends', new.id, new.status, new.sends
        using errcode = 'check_violation', constraint = 'refunds_start_unsent';
    end if;
    return new;
  end if;
  if new.status <> old.status and not exists (
    select from refund_status_transitions where from_status = old.status and to_status = new.status) then
    raise exception 'refund % cannot go from % to %', new.id, old.status, new.status
      using errcode = 'check_violation', constraint = 'refunds_transition_allowed';
  end if;
  if (new.id, new.order_id, new.attempt_number, new.charge_gateway_reference, new.over_payment_id, new.gateway,
      new.refund_reference, new.amount_minor_units, new.currency, new.requested_by, new.needs_approval)
     is distinct from
     (old.id, old.order_id, old.attempt_number, old.charge_gateway_reference, old.over_payment_id, old.gateway,
      old.refund_reference, old.amount_minor_units, old.currency, old.requested_by, old.needs_approval)
     or (old.gateway_reference is not null and new.gateway_reference is distinct from old.gateway_reference)
     or (old.approved_by is not null and new.approved_by is distinct from old.approved_by) then
    raise exception 'what refund % was made with is fixed', old.id
      using errcode = 'check_violation', constraint = 'refunds_content_fixed';
  end if;
  if old.sends > 0 and (new.request_key, new.request_body, new.sent_at)
     is distinct from (old.request_key, old.request_body, old.sent_at) then
    raise exception 'what refund % sent is fixed', new.id
      using errcode = 'check_violation', constraint = 'refunds_request_fixed';
  end if;
  if new.sends not in (old.sends, old.sends + 1) then
    raise exception 'refund % counts its sends one by one', new.id
      using errcode = 'check_violation', constraint = 'refunds_sends_count_up';
  end if;
  return new;
end $$;

create trigger refunds_guard before insert or update on refunds for each row execute function guard_refund();

-- Takes a refund's amount from its order and gives it back when the refund is proven to have failed. The order's row is
-- locked by this, so refunds of one order pass here one after the other, and the CHECK on orders refuses the one too many.
create function reserve_refund() returns trigger language plpgsql as $$
declare
  reserved bigint := case when new.status = 'failed' then 0 else new.amount_minor_units end;
  succeeded bigint := case when new.status = 'succeeded' then new.amount_minor_units else 0 end;
begin
  if new.over_payment_id is not null then
    return null;
  end if;
  if tg_op = 'UPDATE' then
    reserved := reserved - case when old.status = 'failed' then 0 else old.amount_minor_units end;
    succeeded := succeeded - case when old.status = 'succeeded' then old.amount_minor_units else 0 end;
  end if;
  if reserved <> 0 or succeeded <> 0 then
    update orders set refund_reserved_minor_units = refund_reserved_minor_units + reserved,
      refunded_minor_units = refunded_minor_units + succeeded, updated_at = new.updated_at
    where id = new.order_id;
  end if;
  return null;
end $$;

create trigger refunds_reserve after insert or update of status on refunds for each row execute function reserve_refund();

-- A customer's bank that takes money back. The gateway's number makes the reports of one dispute one row.
create table disputes (
  id uuid primary key,
  order_id uuid not null,
  attempt_number integer not null,
  gateway text not null,
  gateway_reference text not null constraint disputes_gateway_reference_bounded check (length(gateway_reference) between 1 and 255),
  amount_minor_units bigint not null constraint disputes_amount_positive check (amount_minor_units > 0),
  currency text not null,
  status text not null constraint disputes_status_known check (status in ('opened', 'won', 'lost')),
  evidence_id uuid not null references evidence (id),
  opened_at timestamptz not null,
  closed_at timestamptz,

  constraint disputes_attempt_exists
    foreign key (order_id, attempt_number) references payment_attempts (order_id, attempt_number),
  constraint disputes_once unique (gateway, gateway_reference),
  constraint disputes_closed_has_time check ((status = 'opened') = (closed_at is null))
);

create index disputes_by_order on disputes (order_id, opened_at);

-- The money's double entry. Each movement is written in the transaction that makes it true, as lines that add up to
-- nothing: what one account loses another one gains. Positive is what an account receives.
create table journal_lines (
  -- What moved, such as `refund:{id}:succeeded`; with the account it is the key, so nothing is written twice.
  movement text not null constraint journal_lines_movement_bounded check (length(movement) between 1 and 200),
  account text not null constraint journal_lines_account_known check (account in (
    'gateway', 'sales', 'refunds', 'over_payments', 'disputes_open', 'disputes_lost')),
  order_id uuid not null references orders (id),
  amount_minor_units bigint not null constraint journal_lines_amount_not_zero check (amount_minor_units <> 0),
  currency text not null constraint journal_lines_currency_is_iso_code check (currency ~ '^[A-Z]{3}$'),
  recorded_at timestamptz not null,

  primary key (movement, account)
);

create index journal_lines_by_order on journal_lines (order_id, recorded_at);

insert into journal_lines (movement, account, order_id, amount_minor_units, currency, recorded_at)
select 'charge:' || id, account, id, sign * amount_minor_units, currency, updated_at
from orders, (values ('gateway', 1), ('sales', -1)) as lines (account, sign)
where status = 'paid';

-- Looked at when the transaction ends, because the lines come one by one.
create function demand_balance() returns trigger language plpgsql as $$
begin
  if exists (
    select from journal_lines where movement = new.movement
    group by order_id, currency having sum(amount_minor_units) <> 0) then
    raise exception 'the lines of % do not add up to nothing', new.movement
      using errcode = 'check_violation', constraint = 'journal_lines_balanced';
  end if;
  return null;
end $$;

create constraint trigger journal_lines_balance after insert on journal_lines deferrable initially deferred
  for each row execute function demand_balance();

create trigger journal_lines_append_only before update or delete or truncate on journal_lines
  for each statement execute function refuse_change();
create trigger over_payments_append_only before update or delete or truncate on over_payments
  for each statement execute function refuse_change();
create trigger refunds_never_removed before delete or truncate on refunds
  for each statement execute function refuse_change();
create trigger disputes_never_removed before delete or truncate on disputes
  for each statement execute function refuse_change();

comment on table over_payments is 'Money that came in for an attempt or an order that is over. Append-only.';
comment on table refund_status_transitions is 'The moves a refund may make.';
comment on table refunds is 'Money on its way back to the customer.';
comment on table disputes is 'Money that the customer''s bank takes back.';
comment on table journal_lines is 'Every movement of money, twice. Append-only.';
