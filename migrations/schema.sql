-- The present shape of the database on one page, made from its catalog. Do not edit: write a migration, then run
-- `npm run schema:dump`. A test holds this page equal to what the migrations make, and checks that it can be run.

create table api_keys (
  id uuid not null,
  name text not null,
  key_hash bytea not null,
  role text not null,
  created_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  constraint api_keys_hash_is_sha256 CHECK ((length(key_hash) = 32)),
  constraint api_keys_hash_unique UNIQUE (key_hash),
  constraint api_keys_name_bounded CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_role_known CHECK ((role = ANY (ARRAY['read'::text, 'write'::text, 'operate'::text])))
);
comment on table api_keys is 'Who may call the API, by the SHA-256 of a key.';

create table attempt_status_transitions (
  from_status text not null,
  to_status text not null,
  constraint attempt_status_transitions_pkey PRIMARY KEY (from_status, to_status)
);
comment on table attempt_status_transitions is 'The moves a payment attempt may make.';

create table deliveries (
  event_id uuid not null,
  endpoint_id uuid not null,
  status text not null default 'pending'::text,
  tries integer not null default 0,
  tries_since timestamp with time zone not null,
  next_try_at timestamp with time zone,
  lease uuid,
  last_try_at timestamp with time zone,
  last_answer text,
  delivered_at timestamp with time zone,
  parked_reason text,
  constraint deliveries_answer_bounded CHECK ((length(last_answer) <= 500)),
  constraint deliveries_delivered_has_time CHECK (((status <> 'delivered'::text) OR (delivered_at IS NOT NULL))),
  constraint deliveries_leased_is_pending CHECK (((lease IS NULL) OR (status = 'pending'::text))),
  constraint deliveries_parked_has_reason CHECK (((status = 'parked'::text) = (parked_reason IS NOT NULL))),
  constraint deliveries_pending_has_time CHECK (((status = 'pending'::text) = (next_try_at IS NOT NULL))),
  constraint deliveries_pkey PRIMARY KEY (event_id, endpoint_id),
  constraint deliveries_reason_bounded CHECK (((length(parked_reason) >= 1) AND (length(parked_reason) <= 500))),
  constraint deliveries_status_known CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'parked'::text]))),
  constraint deliveries_tries_bounded CHECK (((tries >= 0) AND (tries <= 1000)))
);
comment on table deliveries is 'One event on its way to one endpoint.';

create table disputes (
  id uuid not null,
  order_id uuid not null,
  attempt_number integer not null,
  gateway text not null,
  gateway_reference text not null,
  amount_minor_units bigint not null,
  currency text not null,
  status text not null,
  evidence_id uuid not null,
  opened_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  constraint disputes_amount_positive CHECK ((amount_minor_units > 0)),
  constraint disputes_closed_has_time CHECK (((status = 'opened'::text) = (closed_at IS NULL))),
  constraint disputes_gateway_reference_bounded CHECK (((length(gateway_reference) >= 1) AND (length(gateway_reference) <= 255))),
  constraint disputes_once UNIQUE (gateway, gateway_reference),
  constraint disputes_pkey PRIMARY KEY (id),
  constraint disputes_status_known CHECK ((status = ANY (ARRAY['opened'::text, 'won'::text, 'lost'::text])))
);
comment on table disputes is 'Money that the customer''s bank takes back.';

create table entitlements (
  order_id uuid not null,
  kind text not null,
  granted_at timestamp with time zone not null,
  redeemed_by text,
  redeemed_at timestamp with time zone,
  revoked_reason text,
  revoked_at timestamp with time zone,
  constraint entitlements_pkey PRIMARY KEY (order_id, kind),
  constraint entitlements_reason_bounded CHECK (((length(revoked_reason) >= 10) AND (length(revoked_reason) <= 1000))),
  constraint entitlements_redeemed_has_redeemer CHECK (((redeemed_at IS NULL) = (redeemed_by IS NULL))),
  constraint entitlements_redeemer_bounded CHECK (((length(redeemed_by) >= 1) AND (length(redeemed_by) <= 200))),
  constraint entitlements_revoked_has_reason CHECK (((revoked_at IS NULL) = (revoked_reason IS NULL)))
);
comment on table entitlements is 'What a paid order entitles to, once per kind.';

create table evidence (
  id uuid not null,
  order_id uuid not null,
  attempt_number integer,
  kind text not null,
  proves_order_status text,
  proves_attempt_status text,
  detail text not null,
  recorded_at timestamp with time zone not null,
  constraint evidence_attempt_is_named CHECK (((attempt_number IS NOT NULL) OR ((proves_attempt_status IS NULL) AND (COALESCE(proves_order_status, 'failed'::text) <> 'paid'::text)))),
  constraint evidence_attempt_status_is_settled CHECK ((proves_attempt_status = ANY (ARRAY['approved'::text, 'declined'::text, 'not_processed'::text]))),
  constraint evidence_detail_bounded CHECK ((length(detail) <= 8000)),
  constraint evidence_for_attempt UNIQUE (order_id, attempt_number, proves_attempt_status, id),
  constraint evidence_for_order UNIQUE (order_id, proves_order_status, id),
  constraint evidence_kind_known CHECK ((kind = ANY (ARRAY['gateway_response'::text, 'webhook'::text, 'inquiry'::text, 'statement_line'::text, 'operator_decision'::text, 'never_sent'::text]))),
  constraint evidence_never_sent_proves_no_payment CHECK (((kind <> 'never_sent'::text) OR ((COALESCE(proves_order_status, 'failed'::text) = ANY (ARRAY['failed'::text, 'expired'::text, 'cancelled'::text])) AND (COALESCE(proves_attempt_status, 'not_processed'::text) = 'not_processed'::text)))),
  constraint evidence_order_status_is_final CHECK ((proves_order_status = ANY (ARRAY['paid'::text, 'failed'::text, 'expired'::text, 'cancelled'::text, 'voided'::text]))),
  constraint evidence_pkey PRIMARY KEY (id)
);
comment on table evidence is 'Why we believe what orders and attempts say. Append-only.';

create table gateway_health (
  gateway text not null,
  silent_since timestamp with time zone,
  opened_at timestamp with time zone,
  probe_at timestamp with time zone,
  updated_at timestamp with time zone not null,
  constraint gateway_health_gateway_bounded CHECK (((length(gateway) >= 1) AND (length(gateway) <= 64))),
  constraint gateway_health_pkey PRIMARY KEY (gateway),
  constraint gateway_health_probe_is_set CHECK (((opened_at IS NULL) = (probe_at IS NULL)))
);
comment on table gateway_health is 'Whether each gateway answers, and whether new charges are let through to it.';

create table idempotency_keys (
  scope text not null,
  route text not null,
  key text not null,
  request_hash bytea not null,
  response_status integer,
  response_headers jsonb,
  response_body text,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint idempotency_keys_answer_is_whole CHECK (((response_status IS NULL) = (response_body IS NULL))),
  constraint idempotency_keys_hash_is_sha256 CHECK ((length(request_hash) = 32)),
  constraint idempotency_keys_key_bounded CHECK (((length(key) >= 1) AND (length(key) <= 255))),
  constraint idempotency_keys_pkey PRIMARY KEY (scope, route, key),
  constraint idempotency_keys_scope_bounded CHECK (((length(scope) >= 1) AND (length(scope) <= 100)))
);
comment on table idempotency_keys is 'What a caller was answered under an Idempotency-Key.';

create table inbox_events (
  id uuid not null,
  gateway text not null,
  event_id text not null,
  event_type text not null,
  occurred_at timestamp with time zone,
  received_at timestamp with time zone not null,
  body bytea not null,
  news json,
  merchant_reference text,
  gateway_reference text,
  state text not null,
  order_id uuid,
  attempt_number integer,
  remark text,
  applied_at timestamp with time zone,
  constraint inbox_events_applied_has_time CHECK (((state = ANY (ARRAY['applied'::text, 'nothing_new'::text, 'doubted'::text])) = (applied_at IS NOT NULL))),
  constraint inbox_events_body_bounded CHECK ((length(body) <= 2097152)),
  constraint inbox_events_event_id_bounded CHECK (((length(event_id) >= 1) AND (length(event_id) <= 255))),
  constraint inbox_events_event_type_bounded CHECK (((length(event_type) >= 1) AND (length(event_type) <= 100))),
  constraint inbox_events_gateway_bounded CHECK (((length(gateway) >= 1) AND (length(gateway) <= 64))),
  constraint inbox_events_gateway_reference_bounded CHECK (((length(gateway_reference) >= 1) AND (length(gateway_reference) <= 255))),
  constraint inbox_events_matched_has_order CHECK (((state = ANY (ARRAY['unmatched'::text, 'pooled'::text, 'not_understood'::text])) = (order_id IS NULL))),
  constraint inbox_events_merchant_reference_bounded CHECK (((length(merchant_reference) >= 1) AND (length(merchant_reference) <= 255))),
  constraint inbox_events_news_names_a_charge CHECK (((news IS NULL) OR (merchant_reference IS NOT NULL) OR (gateway_reference IS NOT NULL))),
  constraint inbox_events_once UNIQUE (gateway, event_id),
  constraint inbox_events_pkey PRIMARY KEY (id),
  constraint inbox_events_remark_bounded CHECK (((length(remark) >= 1) AND (length(remark) <= 1000))),
  constraint inbox_events_state_known CHECK ((state = ANY (ARRAY['stored'::text, 'applied'::text, 'nothing_new'::text, 'doubted'::text, 'unmatched'::text, 'pooled'::text, 'not_understood'::text, 'stuck'::text]))),
  constraint inbox_events_trouble_has_remark CHECK (((state <> ALL (ARRAY['doubted'::text, 'stuck'::text])) OR (remark IS NOT NULL))),
  constraint inbox_events_understood_has_news CHECK (((state = 'not_understood'::text) = (news IS NULL)))
);
comment on table inbox_events is 'What gateways told us by webhook, stored before they were answered.';

create table journal_lines (
  movement text not null,
  account text not null,
  order_id uuid not null,
  amount_minor_units bigint not null,
  currency text not null,
  recorded_at timestamp with time zone not null,
  constraint journal_lines_account_known CHECK ((account = ANY (ARRAY['gateway'::text, 'sales'::text, 'refunds'::text, 'over_payments'::text, 'disputes_open'::text, 'disputes_lost'::text]))),
  constraint journal_lines_amount_not_zero CHECK ((amount_minor_units <> 0)),
  constraint journal_lines_currency_is_iso_code CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint journal_lines_movement_bounded CHECK (((length(movement) >= 1) AND (length(movement) <= 200))),
  constraint journal_lines_pkey PRIMARY KEY (movement, account)
);
comment on table journal_lines is 'Every movement of money, twice. Append-only.';

create table order_status_transitions (
  from_status text not null,
  to_status text not null,
  constraint order_status_transitions_pkey PRIMARY KEY (from_status, to_status)
);
comment on table order_status_transitions is 'The moves an order may make.';

create table orders (
  id uuid not null,
  shop_reference text,
  amount_minor_units bigint not null,
  currency text not null,
  gateway text not null,
  description text,
  return_url text,
  status text not null default 'created'::text,
  current_attempt integer not null default 0,
  evidence_id uuid,
  needs_review boolean not null default false,
  review_reason text,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  captured_minor_units bigint not null default 0,
  refund_reserved_minor_units bigint not null default 0,
  refunded_minor_units bigint not null default 0,
  disputed_minor_units bigint not null default 0,
  dispute_lost_minor_units bigint not null default 0,
  cancel_requested_at timestamp with time zone,
  cancel_reason text,
  product text,
  customer text,
  purchase_limit text,
  entitlement_kinds text[] not null default '{order}'::text[],
  fallback_gateways text[] not null default '{}'::text[],
  constraint orders_amount_positive_and_safe CHECK (((amount_minor_units >= 1) AND (amount_minor_units <= '9007199254740991'::bigint))),
  constraint orders_cancel_has_reason CHECK (((cancel_requested_at IS NULL) = (cancel_reason IS NULL))),
  constraint orders_cancel_reason_bounded CHECK (((length(cancel_reason) >= 1) AND (length(cancel_reason) <= 500))),
  constraint orders_captured_bounded CHECK (((captured_minor_units >= 0) AND (captured_minor_units <= amount_minor_units))),
  constraint orders_currency_is_iso_code CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint orders_current_attempt_bounded CHECK (((current_attempt >= 0) AND (current_attempt <= 99))),
  constraint orders_customer_bounded CHECK (((length(customer) >= 1) AND (length(customer) <= 128))),
  constraint orders_description_bounded CHECK (((length(description) >= 1) AND (length(description) <= 500))),
  constraint orders_disputed_not_negative CHECK (((disputed_minor_units >= 0) AND (dispute_lost_minor_units >= 0))),
  constraint orders_entitlement_kinds_format CHECK (((cardinality(entitlement_kinds) >= 1) AND (cardinality(entitlement_kinds) <= 20) AND (cardinality(string_to_array(array_to_string(entitlement_kinds, ','::text, '!'::text), ','::text)) = cardinality(entitlement_kinds)) AND (array_to_string(entitlement_kinds, ','::text, '!'::text) ~ '^[a-z][a-z0-9_-]{0,63}(,[a-z][a-z0-9_-]{0,63})*$'::text))),
  constraint orders_fallback_gateways_bounded CHECK (((cardinality(fallback_gateways) <= 3) AND (array_position(fallback_gateways, NULL::text) IS NULL) AND (array_position(fallback_gateways, gateway) IS NULL))),
  constraint orders_final_status_has_evidence CHECK (((status = ANY (ARRAY['paid'::text, 'failed'::text, 'expired'::text, 'cancelled'::text, 'voided'::text])) = (evidence_id IS NOT NULL))),
  constraint orders_gateway_bounded CHECK (((length(gateway) >= 1) AND (length(gateway) <= 64))),
  constraint orders_never_over_refunded CHECK (((refund_reserved_minor_units + dispute_lost_minor_units) <= captured_minor_units)),
  constraint orders_pkey PRIMARY KEY (id),
  constraint orders_product_bounded CHECK (((length(product) >= 1) AND (length(product) <= 128))),
  constraint orders_purchase_limit_has_subject CHECK (((purchase_limit IS NULL) OR ((product IS NOT NULL) AND (customer IS NOT NULL)))),
  constraint orders_purchase_limit_known CHECK ((purchase_limit = 'one_per_customer'::text)),
  constraint orders_refunded_was_reserved CHECK (((refunded_minor_units >= 0) AND (refunded_minor_units <= refund_reserved_minor_units))),
  constraint orders_return_url_bounded CHECK (((length(return_url) >= 1) AND (length(return_url) <= 2000))),
  constraint orders_review_has_reason CHECK ((needs_review = (review_reason IS NOT NULL))),
  constraint orders_review_reason_bounded CHECK (((length(review_reason) >= 1) AND (length(review_reason) <= 500))),
  constraint orders_shop_reference_bounded CHECK (((length(shop_reference) >= 1) AND (length(shop_reference) <= 128))),
  constraint orders_shop_reference_unique UNIQUE (shop_reference),
  constraint orders_status_known CHECK ((status = ANY (ARRAY['created'::text, 'processing'::text, 'requires_action'::text, 'authorized'::text, 'unknown'::text, 'paid'::text, 'failed'::text, 'expired'::text, 'cancelled'::text, 'voided'::text])))
);
comment on table orders is 'What a shop wants to be paid, once.';

create table outbox_event_kinds (
  kind text not null,
  constraint outbox_event_kinds_format CHECK ((kind ~ '^[a-z]{1,30}\.[a-z_]{1,30}$'::text)),
  constraint outbox_event_kinds_pkey PRIMARY KEY (kind)
);
comment on table outbox_event_kinds is 'What may be told to the world outside.';

create table outbox_events (
  id uuid not null,
  order_id uuid not null,
  attempt_number integer,
  kind text not null,
  payload jsonb not null,
  created_at timestamp with time zone not null,
  subject_id text,
  sequence integer not null,
  constraint outbox_events_once UNIQUE NULLS NOT DISTINCT (order_id, kind, attempt_number, subject_id),
  constraint outbox_events_pkey PRIMARY KEY (id),
  constraint outbox_events_sequence_counts CHECK (((sequence >= 1) AND (sequence <= 1000000))),
  constraint outbox_events_sequence_once UNIQUE (order_id, sequence),
  constraint outbox_events_subject_bounded CHECK (((length(subject_id) >= 1) AND (length(subject_id) <= 100)))
);
comment on table outbox_events is 'News for the world outside, written with the change and sent after the commit.';

create table over_payments (
  id uuid not null,
  order_id uuid not null,
  attempt_number integer not null,
  gateway text not null,
  gateway_reference text,
  amount_minor_units bigint not null,
  currency text not null,
  reason text not null,
  evidence_id uuid not null,
  recorded_at timestamp with time zone not null,
  constraint over_payments_amount_positive CHECK ((amount_minor_units > 0)),
  constraint over_payments_for_refund UNIQUE (id, order_id, amount_minor_units),
  constraint over_payments_once UNIQUE (gateway, gateway_reference),
  constraint over_payments_pkey PRIMARY KEY (id),
  constraint over_payments_reason_bounded CHECK (((length(reason) >= 1) AND (length(reason) <= 500)))
);
comment on table over_payments is 'Money that came in for an attempt or an order that is over. Append-only.';

create table payment_attempts (
  order_id uuid not null,
  attempt_number integer not null,
  merchant_reference text not null,
  gateway text not null,
  gateway_reference text,
  status text not null default 'claimed'::text,
  claimed_by_run text not null,
  payment_method text not null,
  return_url text,
  request_key text,
  request_body text,
  sends integer not null default 0,
  sent_at timestamp with time zone,
  last_sent_at timestamp with time zone,
  decline_code text,
  decline_gateway_code text,
  decline_retriable boolean,
  action_kind text,
  action_url text,
  evidence_id uuid,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint payment_attempts_action_is_whole CHECK ((((status = 'requires_action'::text) = (action_url IS NOT NULL)) AND ((action_url IS NULL) = (action_kind IS NULL)))),
  constraint payment_attempts_action_kind_known CHECK ((action_kind = ANY (ARRAY['redirect'::text, 'show_code'::text]))),
  constraint payment_attempts_action_url_bounded CHECK (((length(action_url) >= 1) AND (length(action_url) <= 4000))),
  constraint payment_attempts_answered_was_sent CHECK (((status = ANY (ARRAY['claimed'::text, 'not_processed'::text])) OR (sends > 0))),
  constraint payment_attempts_claimed_is_unsent CHECK (((status <> 'claimed'::text) OR (sends = 0))),
  constraint payment_attempts_declined_has_reason CHECK ((((status = ANY (ARRAY['declined'::text, 'not_processed'::text])) = (decline_code IS NOT NULL)) AND ((decline_code IS NULL) = (decline_retriable IS NULL)))),
  constraint payment_attempts_gateway_reference_unique UNIQUE (gateway, gateway_reference),
  constraint payment_attempts_merchant_reference_format CHECK ((merchant_reference ~ '^[0-9A-HJKMNP-TV-Z]{26}[0-9]{2}$'::text)),
  constraint payment_attempts_merchant_reference_unique UNIQUE (merchant_reference),
  constraint payment_attempts_number_bounded CHECK (((attempt_number >= 1) AND (attempt_number <= 99))),
  constraint payment_attempts_payment_method_bounded CHECK (((length(payment_method) >= 1) AND (length(payment_method) <= 255))),
  constraint payment_attempts_pkey PRIMARY KEY (order_id, attempt_number),
  constraint payment_attempts_request_body_bounded CHECK ((length(request_body) <= 20000)),
  constraint payment_attempts_request_key_unique UNIQUE (request_key),
  constraint payment_attempts_return_url_bounded CHECK (((length(return_url) >= 1) AND (length(return_url) <= 2000))),
  constraint payment_attempts_sends_bounded CHECK (((sends >= 0) AND (sends <= 1000))),
  constraint payment_attempts_sent_is_recorded CHECK ((((sends = 0) = (sent_at IS NULL)) AND ((sends = 0) = (last_sent_at IS NULL)) AND ((sends = 0) OR ((request_key IS NOT NULL) AND (request_body IS NOT NULL))))),
  constraint payment_attempts_settled_has_evidence CHECK (((status = ANY (ARRAY['approved'::text, 'declined'::text, 'not_processed'::text])) = (evidence_id IS NOT NULL))),
  constraint payment_attempts_status_known CHECK ((status = ANY (ARRAY['claimed'::text, 'sent'::text, 'requires_action'::text, 'pending'::text, 'unknown'::text, 'approved'::text, 'declined'::text, 'not_processed'::text])))
);
comment on table payment_attempts is 'One try to charge an order, and the payment token that was burnt for it.';

create table refund_status_transitions (
  from_status text not null,
  to_status text not null,
  constraint refund_status_transitions_pkey PRIMARY KEY (from_status, to_status)
);
comment on table refund_status_transitions is 'The moves a refund may make.';

create table refunds (
  id uuid not null,
  order_id uuid not null,
  attempt_number integer not null,
  charge_gateway_reference text,
  over_payment_id uuid,
  gateway text not null,
  refund_reference text not null,
  gateway_reference text,
  amount_minor_units bigint not null,
  currency text not null,
  reason text,
  status text not null,
  requested_by text not null,
  needs_approval boolean not null default false,
  approved_by text,
  request_key text,
  request_body text,
  sends integer not null default 0,
  sent_at timestamp with time zone,
  last_sent_at timestamp with time zone,
  failure_code text,
  review_reason text,
  evidence_id uuid,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint refunds_amount_positive_and_safe CHECK (((amount_minor_units >= 1) AND (amount_minor_units <= '9007199254740991'::bigint))),
  constraint refunds_answered_was_sent CHECK (((status = ANY (ARRAY['awaiting_approval'::text, 'requested'::text, 'failed'::text])) OR (sends > 0))),
  constraint refunds_approved_before_sent CHECK (((NOT needs_approval) OR (approved_by IS NOT NULL) OR (status = ANY (ARRAY['awaiting_approval'::text, 'failed'::text])))),
  constraint refunds_approver_is_another CHECK (((approved_by IS NULL) OR (approved_by <> requested_by))),
  constraint refunds_failed_has_code CHECK (((status = 'failed'::text) = (failure_code IS NOT NULL))),
  constraint refunds_gateway_reference_unique UNIQUE (gateway, gateway_reference),
  constraint refunds_pkey PRIMARY KEY (id),
  constraint refunds_reason_bounded CHECK (((length(reason) >= 1) AND (length(reason) <= 500))),
  constraint refunds_reference_format CHECK ((refund_reference ~ '^[0-9A-HJKMNP-TV-Z]{26}RF$'::text)),
  constraint refunds_reference_unique UNIQUE (refund_reference),
  constraint refunds_request_body_bounded CHECK ((length(request_body) <= 20000)),
  constraint refunds_request_key_unique UNIQUE (request_key),
  constraint refunds_requested_by_bounded CHECK (((length(requested_by) >= 1) AND (length(requested_by) <= 100))),
  constraint refunds_review_reason_bounded CHECK (((length(review_reason) >= 1) AND (length(review_reason) <= 500))),
  constraint refunds_sends_bounded CHECK (((sends >= 0) AND (sends <= 1000))),
  constraint refunds_sent_is_recorded CHECK ((((sends = 0) = (sent_at IS NULL)) AND ((sends = 0) = (last_sent_at IS NULL)) AND ((sends = 0) OR ((request_key IS NOT NULL) AND (request_body IS NOT NULL))))),
  constraint refunds_settled_has_evidence CHECK (((status = ANY (ARRAY['succeeded'::text, 'failed'::text])) = (evidence_id IS NOT NULL))),
  constraint refunds_status_known CHECK ((status = ANY (ARRAY['awaiting_approval'::text, 'requested'::text, 'sent'::text, 'pending'::text, 'unknown'::text, 'succeeded'::text, 'failed'::text])))
);
comment on table refunds is 'Money on its way back to the customer.';

create table schema_migrations (
  number integer not null,
  name text not null,
  sha256 text not null,
  applied_at timestamp with time zone not null,
  constraint schema_migrations_pkey PRIMARY KEY (number)
);
comment on table schema_migrations is 'Which files of migrations/ were applied.';

create table webhook_endpoints (
  id uuid not null,
  url text not null,
  event_kinds text[],
  secret_generation integer not null default 1,
  secret_hash bytea not null,
  previous_secret_until timestamp with time zone,
  created_at timestamp with time zone not null,
  disabled_at timestamp with time zone,
  disabled_reason text,
  constraint webhook_endpoints_disabled_has_reason CHECK (((disabled_at IS NULL) = (disabled_reason IS NULL))),
  constraint webhook_endpoints_generation_bounded CHECK (((secret_generation >= 1) AND (secret_generation <= 100000))),
  constraint webhook_endpoints_hash_is_sha256 CHECK ((length(secret_hash) = 32)),
  constraint webhook_endpoints_kinds_not_empty CHECK (((cardinality(event_kinds) >= 1) AND (cardinality(event_kinds) <= 100))),
  constraint webhook_endpoints_pkey PRIMARY KEY (id),
  constraint webhook_endpoints_previous_exists CHECK (((previous_secret_until IS NULL) OR (secret_generation > 1))),
  constraint webhook_endpoints_reason_bounded CHECK (((length(disabled_reason) >= 1) AND (length(disabled_reason) <= 500))),
  constraint webhook_endpoints_url_format CHECK (((url ~ '^https?://[^[:space:]]+$'::text) AND (length(url) <= 2000)))
);
comment on table webhook_endpoints is 'Where a merchant wants to be told of events.';

alter table deliveries add constraint deliveries_endpoint_id_fkey
  FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id);

alter table deliveries add constraint deliveries_event_id_fkey
  FOREIGN KEY (event_id) REFERENCES outbox_events(id);

alter table disputes add constraint disputes_attempt_exists
  FOREIGN KEY (order_id, attempt_number) REFERENCES payment_attempts(order_id, attempt_number);

alter table disputes add constraint disputes_evidence_id_fkey
  FOREIGN KEY (evidence_id) REFERENCES evidence(id);

alter table entitlements add constraint entitlements_order_id_fkey
  FOREIGN KEY (order_id) REFERENCES orders(id);

alter table evidence add constraint evidence_attempt_exists
  FOREIGN KEY (order_id, attempt_number) REFERENCES payment_attempts(order_id, attempt_number);

alter table evidence add constraint evidence_order_id_fkey
  FOREIGN KEY (order_id) REFERENCES orders(id);

alter table inbox_events add constraint inbox_events_attempt_exists
  FOREIGN KEY (order_id, attempt_number) REFERENCES payment_attempts(order_id, attempt_number);

alter table inbox_events add constraint inbox_events_order_id_fkey
  FOREIGN KEY (order_id) REFERENCES orders(id);

alter table journal_lines add constraint journal_lines_order_id_fkey
  FOREIGN KEY (order_id) REFERENCES orders(id);

alter table orders add constraint orders_evidence_proves_status
  FOREIGN KEY (id, status, evidence_id) REFERENCES evidence(order_id, proves_order_status, id);

alter table outbox_events add constraint outbox_events_kind_known
  FOREIGN KEY (kind) REFERENCES outbox_event_kinds(kind);

alter table outbox_events add constraint outbox_events_order_id_fkey
  FOREIGN KEY (order_id) REFERENCES orders(id);

alter table over_payments add constraint over_payments_attempt_exists
  FOREIGN KEY (order_id, attempt_number) REFERENCES payment_attempts(order_id, attempt_number);

alter table over_payments add constraint over_payments_evidence_id_fkey
  FOREIGN KEY (evidence_id) REFERENCES evidence(id);

alter table payment_attempts add constraint payment_attempts_evidence_proves_status
  FOREIGN KEY (order_id, attempt_number, status, evidence_id) REFERENCES evidence(order_id, attempt_number, proves_attempt_status, id);

alter table payment_attempts add constraint payment_attempts_order_id_fkey
  FOREIGN KEY (order_id) REFERENCES orders(id);

alter table refunds add constraint refunds_attempt_exists
  FOREIGN KEY (order_id, attempt_number) REFERENCES payment_attempts(order_id, attempt_number);

alter table refunds add constraint refunds_evidence_id_fkey
  FOREIGN KEY (evidence_id) REFERENCES evidence(id);

alter table refunds add constraint refunds_order_id_fkey
  FOREIGN KEY (order_id) REFERENCES orders(id);

alter table refunds add constraint refunds_over_payment_whole
  FOREIGN KEY (over_payment_id, order_id, amount_minor_units) REFERENCES over_payments(id, order_id, amount_minor_units);

CREATE INDEX deliveries_due ON deliveries USING btree (endpoint_id, next_try_at) WHERE (status = 'pending'::text);

CREATE INDEX deliveries_parked ON deliveries USING btree (endpoint_id) WHERE (status = 'parked'::text);

CREATE INDEX disputes_by_order ON disputes USING btree (order_id, opened_at);

CREATE INDEX evidence_by_order ON evidence USING btree (order_id, recorded_at);

CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys USING btree (expires_at);

CREATE INDEX inbox_events_by_state ON inbox_events USING btree (state, id DESC);

CREATE INDEX inbox_events_stored ON inbox_events USING btree (order_id) WHERE (state = 'stored'::text);

CREATE INDEX inbox_events_without_order ON inbox_events USING btree (received_at) WHERE (state = ANY (ARRAY['unmatched'::text, 'pooled'::text]));

CREATE INDEX journal_lines_by_order ON journal_lines USING btree (order_id, recorded_at);

CREATE INDEX orders_by_status ON orders USING btree (status, id DESC);

CREATE INDEX orders_in_flight ON orders USING btree (updated_at) WHERE (status = ANY (ARRAY['processing'::text, 'requires_action'::text, 'authorized'::text, 'unknown'::text]));

CREATE INDEX orders_in_review ON orders USING btree (updated_at) WHERE needs_review;

CREATE UNIQUE INDEX orders_one_per_customer ON orders USING btree (product, customer) WHERE ((purchase_limit = 'one_per_customer'::text) AND (status <> ALL (ARRAY['expired'::text, 'cancelled'::text, 'voided'::text])));

CREATE INDEX orders_unpaid_by_expiry ON orders USING btree (expires_at) WHERE (status = ANY (ARRAY['created'::text, 'failed'::text]));

CREATE UNIQUE INDEX outbox_events_paid_once ON outbox_events USING btree (order_id) WHERE (kind = 'order.paid'::text);

CREATE UNIQUE INDEX over_payments_once_without_reference ON over_payments USING btree (order_id, attempt_number) WHERE (gateway_reference IS NULL);

CREATE UNIQUE INDEX payment_attempts_one_approved ON payment_attempts USING btree (order_id) WHERE (status = 'approved'::text);

CREATE UNIQUE INDEX payment_attempts_one_live ON payment_attempts USING btree (order_id) WHERE (status <> ALL (ARRAY['approved'::text, 'declined'::text, 'not_processed'::text]));

CREATE INDEX payment_attempts_waiting ON payment_attempts USING btree (gateway, order_id) WHERE (status = ANY (ARRAY['sent'::text, 'pending'::text, 'unknown'::text, 'requires_action'::text]));

CREATE INDEX refunds_by_order ON refunds USING btree (order_id, id);

CREATE INDEX refunds_in_flight ON refunds USING btree (updated_at) WHERE (status <> ALL (ARRAY['succeeded'::text, 'failed'::text]));

CREATE UNIQUE INDEX refunds_one_per_over_payment ON refunds USING btree (over_payment_id) WHERE (status <> 'failed'::text);

CREATE OR REPLACE FUNCTION address_outbox_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into deliveries (event_id, endpoint_id, tries_since, next_try_at)
  select new.id, id, new.created_at, new.created_at from webhook_endpoints
  where disabled_at is null and (event_kinds is null or new.kind = any (event_kinds));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION demand_balance()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (
    select from journal_lines where movement = new.movement
    group by order_id, currency having sum(amount_minor_units) <> 0) then
    raise exception 'the lines of % do not add up to nothing', new.movement
      using errcode = 'check_violation', constraint = 'journal_lines_balanced';
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION grant_entitlements()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into entitlements (order_id, kind, granted_at)
  select distinct new.id, kind, new.updated_at from unnest(new.entitlement_kinds) as kind;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION guard_attempt()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION guard_attempt_gateway()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  -- An order that does not exist is the foreign key's matter.
  if exists (
    select from orders where id = new.order_id and gateway <> new.gateway and new.gateway <> all (fallback_gateways)) then
    raise exception 'attempt % of order % names a gateway that is not the order''s', new.attempt_number, new.order_id
      using errcode = 'check_violation', constraint = 'payment_attempts_gateway_is_of_order';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION guard_cancellation_and_limit()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION guard_entitlement()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION guard_evidence()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (
    select from payment_attempts
    where order_id = new.order_id and sends > 0 and attempt_number = coalesce(new.attempt_number, attempt_number)) then
    raise exception 'order % was sent to its gateway', new.order_id
      using errcode = 'check_violation', constraint = 'evidence_never_sent_is_true';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION guard_fallback_gateways()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.fallback_gateways is distinct from old.fallback_gateways then
    raise exception 'the fallback gateways of order % are fixed', old.id
      using errcode = 'check_violation', constraint = 'orders_fallback_gateways_fixed';
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION guard_inbox_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION guard_order()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION guard_over_payment()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION guard_refund()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION keep_entitlement_kinds()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'what order % entitles to is fixed', old.id
    using errcode = 'check_violation', constraint = 'orders_entitlement_kinds_fixed';
end $function$;

CREATE OR REPLACE FUNCTION number_outbox_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform from orders where id = new.order_id for no key update;
  select coalesce(max(sequence), 0) + 1 into new.sequence from outbox_events where order_id = new.order_id;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% of % is refused', lower(tg_op), tg_table_name
    using errcode = 'check_violation', constraint = tg_name;
end $function$;

CREATE OR REPLACE FUNCTION reserve_refund()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
end $function$;

CREATE TRIGGER deliveries_never_removed BEFORE DELETE OR TRUNCATE ON deliveries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER disputes_never_removed BEFORE DELETE OR TRUNCATE ON disputes FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER entitlements_guard BEFORE INSERT OR UPDATE ON entitlements FOR EACH ROW EXECUTE FUNCTION guard_entitlement();

CREATE TRIGGER entitlements_never_removed BEFORE DELETE OR TRUNCATE ON entitlements FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER evidence_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON evidence FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER evidence_guard BEFORE INSERT ON evidence FOR EACH ROW WHEN ((new.kind = 'never_sent'::text)) EXECUTE FUNCTION guard_evidence();

CREATE TRIGGER inbox_events_guard BEFORE UPDATE ON inbox_events FOR EACH ROW EXECUTE FUNCTION guard_inbox_event();

CREATE TRIGGER inbox_events_never_removed BEFORE DELETE OR TRUNCATE ON inbox_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER journal_lines_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON journal_lines FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE CONSTRAINT TRIGGER journal_lines_balance AFTER INSERT ON journal_lines DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION demand_balance();

CREATE TRIGGER orders_entitlement_kinds_kept BEFORE UPDATE OF entitlement_kinds ON orders FOR EACH ROW WHEN ((new.entitlement_kinds IS DISTINCT FROM old.entitlement_kinds)) EXECUTE FUNCTION keep_entitlement_kinds();

CREATE TRIGGER orders_grant_entitlements AFTER UPDATE OF status ON orders FOR EACH ROW WHEN (((new.status = 'paid'::text) AND (old.status <> 'paid'::text))) EXECUTE FUNCTION grant_entitlements();

CREATE TRIGGER orders_guard BEFORE INSERT OR UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION guard_order();

CREATE TRIGGER orders_guard_cancellation_and_limit BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION guard_cancellation_and_limit();

CREATE TRIGGER orders_guard_fallback_gateways BEFORE UPDATE OF fallback_gateways ON orders FOR EACH ROW EXECUTE FUNCTION guard_fallback_gateways();

CREATE TRIGGER orders_never_removed BEFORE DELETE OR TRUNCATE ON orders FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER outbox_events_address AFTER INSERT ON outbox_events FOR EACH ROW EXECUTE FUNCTION address_outbox_event();

CREATE TRIGGER outbox_events_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON outbox_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER outbox_events_number BEFORE INSERT ON outbox_events FOR EACH ROW EXECUTE FUNCTION number_outbox_event();

CREATE TRIGGER over_payments_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON over_payments FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER over_payments_guard BEFORE INSERT ON over_payments FOR EACH ROW EXECUTE FUNCTION guard_over_payment();

CREATE TRIGGER payment_attempts_guard BEFORE INSERT OR UPDATE ON payment_attempts FOR EACH ROW EXECUTE FUNCTION guard_attempt();

CREATE TRIGGER payment_attempts_guard_gateway BEFORE INSERT ON payment_attempts FOR EACH ROW EXECUTE FUNCTION guard_attempt_gateway();

CREATE TRIGGER payment_attempts_never_removed BEFORE DELETE OR TRUNCATE ON payment_attempts FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER refunds_guard BEFORE INSERT OR UPDATE ON refunds FOR EACH ROW EXECUTE FUNCTION guard_refund();

CREATE TRIGGER refunds_never_removed BEFORE DELETE OR TRUNCATE ON refunds FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER refunds_reserve AFTER INSERT OR UPDATE OF status ON refunds FOR EACH ROW EXECUTE FUNCTION reserve_refund();

CREATE TRIGGER webhook_endpoints_never_removed BEFORE DELETE OR TRUNCATE ON webhook_endpoints FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
