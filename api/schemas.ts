import { z } from 'zod';
import { ATTEMPT_STATUSES } from '../domain/attempt.ts';
import { CURRENCY_DECIMALS, type Currency } from '../domain/currencies.ts';
import { EVIDENCE_KINDS } from '../domain/evidence.ts';
import { INBOX_EVENT_STATES } from '../domain/gateway-event.ts';
import { MINOR_UNITS_MAX } from '../domain/money.ts';
import { EVIDENCED_ORDER_STATUSES, ORDER_STATUSES, PURCHASE_LIMITS } from '../domain/order.ts';
import { DECLINE_CODES } from '../domain/outcome.ts';
import { REFUND_COVERAGES } from '../domain/refund.ts';

/** Everything that crosses the API, as it stands in the OpenAPI document. JSON is snake_case; unknown fields are refused. */

const AMOUNT_SENTENCE = `Must be a whole number of minor units (cents for EUR) from 1 to ${MINOR_UNITS_MAX}.`;

/** Not blank, no control characters and no halves of characters: Postgres refuses the one and changes the other. */
export function text(lengthMax: number) {
  const sentence = `Must be a text of 1 to ${lengthMax} characters, not blank and without control characters.`;
  return z
    .string({ error: sentence })
    .min(1, sentence)
    .max(lengthMax, sentence)
    .regex(/^(?=.*\S)[^\p{Cc}\p{Cs}]*$/u, sentence);
}

const URL_SENTENCE = 'Must be an http or https address of at most 2000 characters, without a user name.';

const webAddress = text(2_000)
  .refine(isWebAddress, URL_SENTENCE)
  .meta({ format: 'uri', description: 'Where a redirecting gateway sends the customer back to.' });

function isWebAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, username, password } = new URL(address);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '';
}

const orderId = z
  .string({ error: 'Must be the id of an order.' })
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'Must be the id of an order: a lower-case UUID.')
  .meta({ description: 'The id that the order was created with.' });

export const orderPath = z.strictObject({ id: orderId });

export const amount = z
  .strictObject({
    minor_units: z.int({ error: AMOUNT_SENTENCE }).min(1, AMOUNT_SENTENCE).max(MINOR_UNITS_MAX, AMOUNT_SENTENCE),
    currency: z.enum(Object.keys(CURRENCY_DECIMALS) as [Currency, ...Currency[]], {
      error: 'Must be a three-letter ISO 4217 code in use, such as EUR.',
    }),
  })
  .meta({ id: 'Amount', description: 'An amount as a whole number of the minor unit of its currency.' });

export const idempotencyHeaders = z.looseObject({
  'idempotency-key': z
    .string()
    .optional()
    .meta({ description: 'Makes a repeat of the request get the same answer: 1 to 255 printable ASCII characters.' }),
});

export const time = z.iso.datetime();

const KIND_SENTENCE = 'Must be a word of up to 64 lower-case letters, digits, hyphens and underscores.';

export const entitlementKind = z
  .string({ error: KIND_SENTENCE })
  .regex(/^[a-z][a-z0-9_-]{0,63}$/, KIND_SENTENCE)
  .meta({ description: 'What the customer gets, in your own words, such as download.' });

export const decline = z
  .object({
    code: z.enum(DECLINE_CODES),
    gateway_code: z.string().nullable(),
    retriable: z.boolean().meta({ description: 'Whether another try by the customer can make sense.' }),
  })
  .meta({ id: 'Decline' });

const action = z
  .object({ kind: z.enum(['redirect', 'show_code']), url: z.string() })
  .meta({ id: 'CustomerAction', description: 'What the customer has to do before the payment goes on.' });

export const paymentToken = z
  .object({ token: z.string(), attempt_number: z.int(), expires_at: time })
  .meta({ id: 'PaymentToken', description: 'Lets whoever holds it pay this one attempt of this order.' });

const status = z.enum(ORDER_STATUSES);

/** What the holder of a payment token may see. */
const paymentFields = {
  id: orderId,
  status,
  amount,
  attempt_number: z.int().meta({ description: 'Number of the last attempt; 0 before the first.' }),
  decline: decline.nullable().meta({ description: 'Why the last attempt was refused.' }),
  action: action.nullable(),
  expires_at: time,
};

const orderFields = {
  ...paymentFields,
  gateway: z.string(),
  fallback_gateways: z.array(z.string()),
  refund_status: z.enum(REFUND_COVERAGES).meta({ description: 'How much of the order went back to the customer.' }),
  shop_reference: z.string().nullable(),
  description: z.string().nullable(),
  return_url: z.string().nullable(),
  entitlements: z.array(z.string()).meta({ description: 'What it entitles to once it is paid.' }),
  product: z.string().nullable(),
  customer: z.string().nullable(),
  limit: z.enum(PURCHASE_LIMITS).nullable(),
  cancel_requested_at: time.nullable().meta({ description: 'When the shop asked to cancel it.' }),
  needs_review: z.boolean(),
  review_reason: z.string().nullable(),
  created_at: time,
  updated_at: time,
};

const freshToken = paymentToken.nullable().meta({
  description:
    'The token for the next attempt. Null while no new attempt is possible, or when the API key may not pay.',
});

export const payment = z.object({ ...paymentFields, payment_token: freshToken }).meta({ id: 'Payment' });
export const listedOrder = z.object(orderFields).meta({ id: 'ListedOrder' });
export const order = z.object({ ...orderFields, payment_token: freshToken }).meta({ id: 'Order' });

export const orderList = z
  .object({
    orders: z.array(listedOrder),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: 'Send it as `cursor` to get the next page; null at the end.' }),
  })
  .meta({ id: 'OrderList' });

export const attemptList = z
  .object({
    attempts: z.array(
      z
        .object({
          attempt_number: z.int(),
          status: z.enum(ATTEMPT_STATUSES),
          merchant_reference: z.string().meta({ description: 'Our number for this attempt at the gateway.' }),
          gateway: z.string(),
          gateway_reference: z.string().nullable().meta({ description: "The gateway's own number for it." }),
          sends: z.int().meta({ description: 'How often the request was sent.' }),
          first_sent_at: time.nullable(),
          last_sent_at: time.nullable(),
          decline: decline.nullable(),
          action: action.nullable(),
          evidence_id: z.string().nullable(),
          created_at: time,
          updated_at: time,
        })
        .meta({ id: 'PaymentAttempt' }),
    ),
  })
  .meta({ id: 'PaymentAttemptList' });

export const evidenceList = z
  .object({
    evidence: z.array(
      z
        .object({
          id: z.string(),
          attempt_number: z.int().nullable(),
          kind: z.enum(EVIDENCE_KINDS),
          proves_order_status: z.enum(EVIDENCED_ORDER_STATUSES).nullable(),
          proves_attempt_status: z.enum(['approved', 'declined', 'not_processed']).nullable(),
          detail: z.string().meta({ description: "The source's own words." }),
          recorded_at: time,
        })
        .meta({ id: 'Evidence' }),
    ),
  })
  .meta({ id: 'EvidenceList' });

export const newOrder = z
  .strictObject({
    amount,
    gateway: text(64).optional().meta({ description: 'Name of a configured gateway; the first one if left out.' }),
    fallback_gateways: z
      .array(text(64), { error: 'Must be a list of names of configured gateways.' })
      .max(3, 'Must be at most 3 gateways.')
      .optional()
      .meta({
        description:
          'Where a further attempt goes, in this order, when the gateway before certainly took nothing. The payment method must be good at each.',
      }),
    shop_reference: text(128)
      .optional()
      .meta({ description: "The shop's own number; no two orders may carry the same." }),
    description: text(500).optional(),
    entitlements: z
      .array(entitlementKind)
      .min(1, 'Must name at least one kind.')
      .max(20, 'Must be at most 20 kinds.')
      .refine((kinds) => new Set(kinds).size === kinds.length, 'Must name each kind once.')
      .optional()
      .meta({ description: 'What it entitles to once it is paid; ["order"] if left out.' }),
    return_url: webAddress.optional(),
    product: text(128).optional().meta({ description: 'What is sold, in your own words.' }),
    customer: text(128).optional().meta({ description: 'Your own number for the customer; no name and no address.' }),
    limit: z
      .enum(PURCHASE_LIMITS, { error: `Must be one of ${PURCHASE_LIMITS.join(', ')}.` })
      .optional()
      .meta({
        description:
          'one_per_customer: refused while the customer has an order for the product that is not proven unpaid.',
      }),
    expires_in_seconds: z
      .int({ error: 'Must be a whole number of seconds.' })
      .min(1, 'Must be at least 1 second.')
      .max(30 * 86_400, 'Must be at most 30 days.')
      .optional()
      .meta({ description: 'After this the order takes no new attempt and, if unpaid, is closed.' }),
  })
  .refine(({ limit, product, customer }) => limit === undefined || (product !== undefined && customer !== undefined), {
    error: 'A limit needs both product and customer.',
    path: ['limit'],
  })
  .meta({ id: 'NewOrder' });

export const listQuery = z.strictObject({
  status: z.enum(ORDER_STATUSES, { error: `Must be one of ${ORDER_STATUSES.join(', ')}.` }).optional(),
  shop_reference: text(128).optional(),
  limit: z
    .string()
    .regex(/^([1-9]\d?|100)$/, 'Must be a whole number from 1 to 100.')
    .default('20')
    .meta({ description: 'How many orders a page holds: 1 to 100.' }),
  cursor: orderId.optional().meta({ description: 'The `next_cursor` of the page before.' }),
});

export const returnQuery = z
  // Gateways add fields of their own to the address; they are not read.
  .object({ signature: text(100).meta({ description: 'Says that the link was made here.' }) });

export const payRequest = z
  .strictObject({
    payment_token: z.string({ error: 'Must be the payment token of the order.' }).max(200, 'Is not a payment token.'),
    payment_method: text(255).meta({
      description: "The gateway's own token for the card or wallet. Never a card number: those are refused.",
    }),
    return_url: webAddress.optional(),
    wait_seconds: z
      .number({ error: 'Must be a number of seconds from 0 to 60.' })
      .min(0, 'Must be a number of seconds from 0 to 60.')
      .max(60, 'Must be a number of seconds from 0 to 60.')
      .optional()
      .meta({ description: 'How long to wait for the outcome before the answer is 202.' }),
  })
  .meta({ id: 'PayRequest' });

export const decision = z
  .strictObject({
    outcome: z.enum(['paid', 'failed', 'reviewed'], { error: 'Must be paid, failed or reviewed.' }).meta({
      description:
        'paid or failed settles an unknown order; reviewed takes an order whose status is settled out of the review pool.',
    }),
    operator: text(200).meta({ description: 'Who decided; kept as evidence.' }),
    reason: text(1_000)
      .refine((reason) => reason.trim().length >= 10, 'Must have at least 10 characters: the auditor will read it.')
      .meta({ description: 'Why; kept as evidence.' }),
  })
  .meta({ id: 'Decision' });

export const cancellation = z
  .strictObject({ reason: text(500).meta({ description: 'Why; kept as evidence.' }) })
  .meta({ id: 'Cancellation' });

export const webhookPath = z.strictObject({ gateway: text(64).meta({ description: 'Name of a configured gateway.' }) });

export const webhookBody = z.unknown().meta({ description: "The event, in the gateway's own form." });

export const nothing = z.null();

export const inboxEventPath = z.strictObject({
  event_id: orderId.meta({ description: 'Our id of the event, as the list has it.' }),
});

export const inboxQuery = z.strictObject({
  state: z.enum(INBOX_EVENT_STATES, { error: `Must be one of ${INBOX_EVENT_STATES.join(', ')}.` }).optional(),
  order_id: orderId.optional(),
  limit: listQuery.shape.limit,
  cursor: orderId.optional().meta({ description: 'The `next_cursor` of the page before.' }),
});

export const inboxEvent = z
  .object({
    id: z.string(),
    gateway: z.string(),
    event_id: z.string().meta({ description: "The gateway's own id of the event." }),
    type: z.string().meta({ description: "The gateway's word for what happened." }),
    state: z.enum(INBOX_EVENT_STATES).meta({ description: 'How far it has come.' }),
    order_id: z.string().nullable(),
    attempt_number: z.int().nullable(),
    merchant_reference: z.string().nullable(),
    gateway_reference: z.string().nullable(),
    remark: z.string().nullable().meta({ description: 'Why it was doubted, or what stopped it.' }),
    occurred_at: time.nullable(),
    received_at: time,
    applied_at: time.nullable(),
    body: z.string().meta({ description: 'What came, without card numbers.' }),
  })
  .meta({ id: 'InboxEvent' });

export const inboxEventList = z
  .object({ inbox_events: z.array(inboxEvent), next_cursor: z.string().nullable() })
  .meta({ id: 'InboxEventList' });

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string(),
    instance: z.string().meta({ description: 'The request id, to be found in the log.' }),
    errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem', description: 'An error, by RFC 9457 and with a stable code.' });
