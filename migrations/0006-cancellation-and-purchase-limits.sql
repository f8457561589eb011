-- Orders that the shop takes back, and products that a customer may buy once.

-- The shop's wish to cancel. An order on which nothing is alive is cancelled in the same transaction; for any other the wish
-- stands here until its attempt is proven dead, and is without effect when the attempt turns out to be paid.
alter table orders add column cancel_requested_at timestamptz;
alter table orders add column cancel_reason text
  constraint orders_cancel_reason_bounded check (length(cancel_reason) between 1 and 500);
alter table orders add constraint orders_cancel_has_reason check ((cancel_requested_at is null) = (cancel_reason is null));

-- What is sold and to whom, in the shop's own words, for products that a customer may buy once.
alter table orders add column product text
  constraint orders_product_bounded check (length(product) between 1 and 128);
alter table orders add column customer text
  constraint orders_customer_bounded check (length(customer) between 1 and 128);
alter table orders add column purchase_limit text
  constraint orders_purchase_limit_known check (purchase_limit in ('one_per_customer'));
alter table orders add constraint orders_purchase_limit_has_subject check (
  purchase_limit is null or (product is not null and customer is not null));

-- Of two orders for one customer and product one is refused when it is made, so two can never both be paid. The place is
-- given back only by an end that proves the order unpaid. A failed order keeps it: it can still be paid until it expires, and
-- if it gave its place away, both could be paid.
create unique index orders_one_per_customer on orders (product, customer)
  where purchase_limit = 'one_per_customer' and status not in ('expired', 'cancelled', 'voided');

-- A wish to cancel is never taken back and lets no further attempt begin: the shop has told its customer that it is over.
-- And whose place an order holds is fixed, or a paid order could be written out of the index above.
create function guard_cancellation_and_limit() returns trigger language plpgsql as $$
begin
  if old.cancel_requested_at is not null
     and (new.cancel_requested_at, new.cancel_reason) is distinct from (old.cancel_requested_at, old.cancel_reason) then
    raise exception 'the wish to cancel order % is fixed', old.id
      using errcode = 'check_violation', constraint = 'orders_cancel_fixed';
  end if;
  if old.cancel_requested_at is not null and new.current_attempt > old.current_attempt then
    raise exception 'order % is to be cancelled and takes no further attempt', old.id
      using errcode = 'check_violation', constraint = 'orders_no_attempt_after_cancel';
  end if;
  if (new.product, new.customer, new.purchase_limit) is distinct from (old.product, old.customer, old.purchase_limit) then
    raise exception 'product, customer and limit of order % are fixed', old.id
      using errcode = 'check_violation', constraint = 'orders_purchase_limit_fixed';
  end if;
  return new;
end $$;

create trigger orders_guard_cancellation_and_limit before update on orders
  for each row execute function guard_cancellation_and_limit();
