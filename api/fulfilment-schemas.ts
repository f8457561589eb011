import { z } from 'zod';
import { DELIVERY_STATUSES } from '../domain/delivery.ts';
import { OUTBOX_EVENTS, type OutboxEventKind } from '../store/deliveries/outbox-events.ts';
import { entitlementKind, orderPath, text, time } from './schemas.ts';

/** What crosses the API about entitlements, events and webhook endpoints. */

const KINDS = Object.keys(OUTBOX_EVENTS) as [OutboxEventKind, ...OutboxEventKind[]];
const id = z
  .string({ error: 'Must be an id.' })
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'Must be an id: a lower-case UUID.');

export const entitlementPath = orderPath.extend({ kind: entitlementKind });

export const entitlement = z
  .object({
    kind: z.string(),
    granted_at: time,
    redeemed_by: z.string().nullable().meta({ description: 'Who used it up; null while nobody has.' }),
    redeemed_at: time.nullable(),
    revoked_reason: z.string().nullable(),
    revoked_at: time.nullable(),
  })
  .meta({ id: 'Entitlement', description: 'What a paid order entitles to; at most once per order and kind.' });

export const entitlementList = z.object({ entitlements: z.array(entitlement) }).meta({ id: 'EntitlementList' });

export const redemption = z
  .strictObject({
    redeemer: text(200).meta({
      description:
        'Who uses it up, in your own words, such as the id of a download. A repeat by the same one is answered alike.',
    }),
  })
  .meta({ id: 'Redemption' });

export const revocation = z
  .strictObject({
    reason: text(1_000)
      .refine((reason) => reason.trim().length >= 10, 'Must have at least 10 characters: it is kept and told.')
      .meta({ description: 'Why; kept, and told to the endpoints.' }),
  })
  .meta({ id: 'Revocation' });

const event = z
  .object({
    id: z.string().meta({ description: 'The `webhook-id` under which it is told; the same at each try.' }),
    sequence: z.int().meta({ description: 'Its number among the events of the order, from 1 without a gap.' }),
    kind: z.string(),
    data: z.record(z.string(), z.unknown()),
    created_at: time,
  })
  .meta({ id: 'Event' });

export const eventList = z.object({ events: z.array(event) }).meta({ id: 'EventList' });

export const endpointPath = z.strictObject({
  id: id.meta({ description: 'The id that the endpoint was added with.' }),
});

const endpointFields = {
  id: z.string(),
  url: z.string(),
  event_kinds: z.array(z.string()).nullable().meta({ description: 'What it is told of; null for everything.' }),
  secret_generation: z.int(),
  previous_secret_until: time.nullable().meta({ description: 'Until then the secret before signs as well.' }),
  created_at: time,
  disabled_at: time.nullable(),
  disabled_reason: z.string().nullable(),
};

export const endpoint = z.object(endpointFields).meta({ id: 'WebhookEndpoint' });

export const endpointWithSecret = z
  .object({
    ...endpointFields,
    secret: z.string().meta({ description: 'Verifies what the endpoint is told. Shown this once.' }),
  })
  .meta({ id: 'WebhookEndpointWithSecret' });

export const endpointList = z.object({ webhook_endpoints: z.array(endpoint) }).meta({ id: 'WebhookEndpointList' });

export const newEndpoint = z
  .strictObject({
    url: text(2_000).meta({ format: 'uri', description: 'Where events are sent by POST. Public and https.' }),
    event_kinds: z
      .array(z.enum(KINDS, { error: `Must be one of ${KINDS.join(', ')}.` }))
      .min(1, 'Must name at least one kind; leave it out for all.')
      .max(KINDS.length, 'Must name each kind once.')
      .optional()
      .meta({ description: 'What it is told of; everything if left out.' }),
  })
  .meta({ id: 'NewWebhookEndpoint' });

const OVERLAP_SENTENCE = 'Must be a whole number of seconds from 0 to 30 days.';

export const rotation = z
  .strictObject({
    overlap_seconds: z
      .int({ error: OVERLAP_SENTENCE })
      .min(0, OVERLAP_SENTENCE)
      .max(30 * 86_400, OVERLAP_SENTENCE)
      .optional()
      .meta({ description: 'How long the old secret signs as well. 0 when it has leaked.' }),
  })
  .meta({ id: 'SecretRotation' });

const REPLAY_SENTENCE = 'Must be either event_id, or from and to.';
const instant = z.iso.datetime({ error: 'Must be a time such as 2026-11-30T12:00:00Z.' });

export const replay = z
  .strictObject({ event_id: id.optional(), from: instant.optional(), to: instant.optional() })
  .refine(
    ({ event_id: eventId, from, to }) =>
      eventId === undefined ? from !== undefined && to !== undefined : from === undefined && to === undefined,
    REPLAY_SENTENCE,
  )
  .meta({ id: 'Replay', description: `Which events are told once more. ${REPLAY_SENTENCE}` });

export const replayed = z
  .object({
    replayed: z.int().meta({ description: 'How many became due; what is on its way already is not counted.' }),
  })
  .meta({ id: 'Replayed' });

export const deliveryQuery = z.strictObject({
  status: z.enum(DELIVERY_STATUSES, { error: `Must be one of ${DELIVERY_STATUSES.join(', ')}.` }).optional(),
});

export const deliveryList = z
  .object({
    deliveries: z.array(
      z
        .object({
          event_id: z.string(),
          order_id: z.string(),
          sequence: z.int(),
          kind: z.string(),
          status: z.enum(DELIVERY_STATUSES),
          tries: z.int(),
          next_try_at: time.nullable(),
          last_try_at: time.nullable(),
          last_answer: z.string().nullable().meta({ description: "The endpoint's status and first words." }),
          delivered_at: time.nullable(),
          parked_reason: z.string().nullable(),
          created_at: time,
        })
        .meta({ id: 'Delivery' }),
    ),
  })
  .meta({ id: 'DeliveryList' });
