-- Who may call the API. Only the SHA-256 of a key is stored: the key itself is 32 random bytes, shown once, so a stolen
-- table opens nothing, and a slow hash would protect nothing more.
create table api_keys (
  id uuid primary key,
  name text not null constraint api_keys_name_bounded check (length(name) between 1 and 100),
  key_hash bytea not null constraint api_keys_hash_unique unique
    constraint api_keys_hash_is_sha256 check (length(key_hash) = 32),
  -- read: look; write: create orders and pay; operate: settle what nobody else could. Each includes the ones before it.
  role text not null constraint api_keys_role_known check (role in ('read', 'write', 'operate')),
  created_at timestamptz not null,
  revoked_at timestamptz
);

-- What a caller was answered under an Idempotency-Key, so that a repeat gets the same answer. This is a convenience for
-- callers; that an order is charged once does not rest on it.
create table idempotency_keys (
  -- Whose key it is: `api-key:{id}`, or `order:{id}` where a payment token is the only authority. Two callers may use the
  -- same key, and neither ever sees the other's answer.
  scope text not null constraint idempotency_keys_scope_bounded check (length(scope) between 1 and 100),
  route text not null,
  key text not null constraint idempotency_keys_key_bounded check (length(key) between 1 and 255),
  -- SHA-256 of method, path and canonical body: another body under the same key is a mistake of the caller's.
  request_hash bytea not null constraint idempotency_keys_hash_is_sha256 check (length(request_hash) = 32),
  -- Null while the first request is still running.
  response_status integer,
  response_headers jsonb,
  response_body text,
  created_at timestamptz not null,
  -- A request that died half-way frees its key after this; a finished one is replayed until then.
  expires_at timestamptz not null,

  primary key (scope, route, key),
  constraint idempotency_keys_answer_is_whole check ((response_status is null) = (response_body is null))
);

create index idempotency_keys_by_expiry on idempotency_keys (expires_at);

comment on table api_keys is 'Who may call the API, by the SHA-256 of a key.';
comment on table idempotency_keys is 'What a caller was answered under an Idempotency-Key.';
