/**
 * Every error that leaves a process, by its stable code. `status` is the HTTP status the API answers with, or null where
 * the error never reaches a caller of the API. docs/errors.md is tested against this table.
 */
export const ERRORS = {
  // What a caller of the API got wrong.
  body_malformed: { status: 400, title: 'The request body is not valid JSON.' },
  body_too_large: { status: 413, title: 'The request body is larger than this route takes.' },
  field_invalid: { status: 400, title: 'A field of the request is missing or has a value that is not allowed.' },
  media_type_unsupported: { status: 415, title: 'The request body must be sent as application/json.' },
  card_number_refused: {
    status: 400,
    title: 'A field holds what looks like a card number; card numbers are never accepted here.',
  },
  amount_invalid: {
    status: 400,
    title: 'The amount must be a positive whole number of minor units up to 9007199254740991.',
  },
  currency_unknown: { status: 400, title: 'The currency must be a three-letter ISO 4217 code in use.' },
  currency_unsupported: {
    status: 422,
    title: 'The gateway counts this currency in other units, and this amount does not fit them.',
  },
  gateway_unknown: { status: 422, title: 'No gateway of this name is configured.' },
  credentials_missing: { status: 401, title: 'Send your API key as "Authorization: Bearer <key>".' },
  credentials_invalid: { status: 401, title: 'This API key is not known or was revoked.' },
  role_insufficient: { status: 403, title: 'This API key does not have the role that the route needs.' },
  request_malformed: { status: 400, title: 'This is not an HTTP request that can be read.' },
  route_not_found: { status: 404, title: 'There is no such route.' },
  order_not_found: { status: 404, title: 'There is no order with this id.' },
  payment_token_invalid: { status: 401, title: 'The payment token is not one of ours or belongs to another order.' },
  payment_token_expired: { status: 401, title: 'The payment token has expired; read the order to get a fresh one.' },
  shop_reference_taken: { status: 409, title: 'Another order already carries this shop reference.' },
  order_expired: { status: 409, title: 'The time to pay this order is over; nothing was charged.' },
  order_not_payable: { status: 409, title: 'The order takes no new payment attempt; nothing was charged.' },
  order_not_cancellable: { status: 409, title: 'The order cannot be cancelled; nothing was changed.' },
  limit_one_per_customer: {
    status: 409,
    title: 'The customer has another order for this product, which is paid or can still be.',
  },
  order_not_in_review: {
    status: 409,
    title: 'Only an order in review whose status is settled can be marked as reviewed.',
  },
  order_not_unknown: { status: 409, title: 'Only an order with the status unknown can be settled by decision.' },
  order_not_paid: { status: 409, title: 'Only an order that is paid can be refunded; nothing was refunded.' },
  order_disputed: {
    status: 409,
    title: 'The order is in dispute; no refund leaves until that is over, or the customer might get the money twice.',
  },
  refund_exceeds_captured: {
    status: 409,
    title: 'More than is left of the order after earlier refunds and lost disputes; nothing was refunded.',
  },
  refund_currency_mismatch: { status: 422, title: 'A refund is in the currency of its order; nothing was refunded.' },
  refund_unsupported: {
    status: 422,
    title: 'The gateway of this order cannot make this refund; nothing was refunded.',
  },
  refund_not_found: { status: 404, title: 'There is no refund with this id.' },
  refund_not_awaiting_approval: { status: 409, title: 'The refund does not wait for approval.' },
  refund_approver_is_requester: {
    status: 403,
    title: 'Whoever asked for a refund cannot approve it; use the API key of a second person.',
  },
  refund_already_sent: { status: 409, title: 'The refund was sent to the gateway and cannot be taken back.' },
  entitlement_not_found: { status: 404, title: 'The order does not entitle to this, or is not paid yet.' },
  entitlement_redeemed: { status: 409, title: 'The entitlement was used up by somebody else.' },
  entitlement_revoked: { status: 409, title: 'The entitlement was taken back.' },
  webhook_endpoint_not_found: { status: 404, title: 'There is no webhook endpoint with this id.' },
  webhook_endpoint_disabled: { status: 409, title: 'The webhook endpoint is disabled; add a new one.' },
  webhook_endpoint_changed: {
    status: 409,
    title: 'The webhook endpoint was changed by somebody else at the same moment.',
  },
  webhook_url_refused: { status: 422, title: 'This web address cannot be a webhook endpoint.' },
  webhook_rejected: { status: 400, title: 'The webhook is not genuine, too old, or cut off; nothing was stored.' },
  webhooks_not_taken: { status: 404, title: 'No gateway of this name sends webhooks here.' },
  inbox_event_not_found: { status: 404, title: 'There is no event of a gateway with this id.' },
  idempotency_key_reused: { status: 422, title: 'This Idempotency-Key was used with another request body.' },
  idempotency_key_in_progress: { status: 409, title: 'The first request with this Idempotency-Key is still running.' },
  idempotency_key_invalid: { status: 400, title: 'The Idempotency-Key must be 1 to 255 printable ASCII characters.' },
  // Parts that are away.
  database_unavailable: { status: 503, title: 'The database cannot be reached; nothing was written. Try again.' },
  temporal_unavailable: {
    status: 503,
    title: 'The workflow service cannot be reached; try again, no charge is made twice.',
  },
  webhook_secret_unfit: {
    status: 503,
    title: 'The secret that signs what merchants are told is missing, or is not the one that it was.',
  },
  gateway_unavailable: {
    status: 503,
    title: 'The gateway does not answer at present, so no new charge is begun. Nothing was charged; try again.',
  },
  internal: { status: 500, title: 'Something went wrong here. The request id helps to find it in the log.' },
  // What stops a process at its start.
  configuration_invalid: { status: null, title: 'The configuration has mistakes.' },
  gateway_unsafe: { status: null, title: 'A gateway offers no way to charge exactly once.' },
  migration_gap: { status: null, title: 'A migration number is missing or doubled.' },
  migration_edited: { status: null, title: 'A migration that was already applied has been edited.' },
  database_not_migrated: { status: null, title: 'The database lacks migrations that this version of paidonce needs.' },
  database_ahead_of_code: { status: null, title: 'The database was migrated by a newer version of paidonce.' },
  stack_already_running: { status: null, title: 'Another paidonce stack is already running on this data folder.' },
  program_missing: { status: null, title: 'A program that paidonce needs is missing.' },
  program_failed: { status: null, title: 'A part of the embedded stack did not start.' },
} as const satisfies Record<string, { readonly status: number | null; readonly title: string }>;

export type ErrorCode = keyof typeof ERRORS;

/**
 * An error with a stable code and a sentence that a person can act on. `field` names the input it is about, by its path in
 * the request. Never put card data, tokens or secrets into `detail`: it is shown and logged.
 */
export class CodedError extends Error {
  readonly code: ErrorCode;
  readonly field: string | undefined;

  constructor(code: ErrorCode, detail?: string, options: { field?: string; cause?: unknown } = {}) {
    super(detail ?? ERRORS[code].title, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CodedError';
    this.code = code;
    this.field = options.field;
  }
}
