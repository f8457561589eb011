import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { listDeliveries } from '../../store/deliveries/deliveries.ts';
import type { Replay } from '../../store/deliveries/replays.ts';
import { disableEndpoint, listEndpoints } from '../../store/deliveries/webhook-endpoints.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { describeDelivery, describeEndpoint } from '../fulfilment-answer.ts';
import * as schemas from '../fulfilment-schemas.ts';
import {
  addEndpoint,
  type EndpointWithSecret,
  readKnownEndpoint,
  replayToEndpoint,
  rotateEndpoint,
} from '../webhook-endpoints.ts';
import { BY_API_KEY, problemsBehindAKey, WITH_A_BODY } from './documentation.ts';

const DELIVERIES_SHOWN_MAX = 100;
const TAGS = ['fulfilment'];
const ABOUT_ONE = ['field_invalid', 'webhook_endpoint_not_found'] as const;

/** Where a merchant says who is to be told of events. No Idempotency-Key here: the answer holds a secret, and none is stored. */
export function registerEndpointRoutes(instance: FastifyInstance, dependencies: ApiDependencies): void {
  registerListRoutes(instance, dependencies);
  registerAddRoute(instance, dependencies);
  registerRotateRoute(instance, dependencies);
  registerReplayRoute(instance, dependencies);
}

function registerListRoutes(instance: FastifyInstance, { database }: ApiDependencies): void {
  const app = instance.withTypeProvider<ZodTypeProvider>();

  app.get('/v1/webhook-endpoints', {
    config: { access: 'operate' },
    schema: {
      operationId: 'listWebhookEndpoints',
      summary: 'List the webhook endpoints, without their secrets',
      tags: TAGS,
      security: BY_API_KEY,
      response: { 200: schemas.endpointList, ...problemsBehindAKey() },
    },
    handler: async () => ({ webhook_endpoints: (await listEndpoints(database)).map(describeEndpoint) }),
  });

  app.delete('/v1/webhook-endpoints/:id', {
    config: { access: 'operate' },
    schema: {
      operationId: 'removeWebhookEndpoint',
      summary: 'Tell an endpoint of nothing any more',
      description: 'It stays in the list, disabled; what was waiting for it is parked.',
      tags: TAGS,
      security: BY_API_KEY,
      params: schemas.endpointPath,
      response: { 200: schemas.endpoint, ...problemsBehindAKey(...ABOUT_ONE) },
    },
    handler: async ({ params: { id } }) => {
      await disableEndpoint(database, { id, reason: 'Removed by an operator.', now: new Date().toISOString() });
      return describeEndpoint(await readKnownEndpoint(database, id));
    },
  });

  app.get('/v1/webhook-endpoints/:id/deliveries', {
    config: { access: 'operate' },
    schema: {
      operationId: 'listDeliveries',
      summary: `List what an endpoint was told of or is to be told of, the newest ${DELIVERIES_SHOWN_MAX}`,
      tags: TAGS,
      security: BY_API_KEY,
      params: schemas.endpointPath,
      querystring: schemas.deliveryQuery,
      response: { 200: schemas.deliveryList, ...problemsBehindAKey(...ABOUT_ONE) },
    },
    handler: async ({ params: { id: endpointId }, query: { status = null } }) => {
      await readKnownEndpoint(database, endpointId);
      const deliveries = await listDeliveries(database, { endpointId, status, limit: DELIVERIES_SHOWN_MAX });
      return { deliveries: deliveries.map(describeDelivery) };
    },
  });
}

function registerAddRoute(instance: FastifyInstance, { database, endpoints }: ApiDependencies): void {
  instance.withTypeProvider<ZodTypeProvider>().post('/v1/webhook-endpoints', {
    config: { access: 'operate' },
    schema: {
      operationId: 'addWebhookEndpoint',
      summary: 'Add a webhook endpoint and get its secret, once',
      tags: TAGS,
      security: BY_API_KEY,
      body: schemas.newEndpoint,
      response: {
        201: schemas.endpointWithSecret.describe('The endpoint with its secret, which is not shown again.'),
        ...problemsBehindAKey(...WITH_A_BODY, 'webhook_url_refused', 'webhook_secret_unfit'),
      },
    },
    handler: async ({ body }, reply) => {
      const wanted = { url: body.url, eventKinds: body.event_kinds ?? null };
      reply.code(201);
      return describeWithSecret(await addEndpoint(database, endpoints, wanted));
    },
  });
}

function registerRotateRoute(instance: FastifyInstance, { database, endpoints }: ApiDependencies): void {
  instance.withTypeProvider<ZodTypeProvider>().post('/v1/webhook-endpoints/:id/rotate-secret', {
    config: { access: 'operate' },
    schema: {
      operationId: 'rotateWebhookSecret',
      summary: 'Give an endpoint a new secret and get it, once',
      description:
        'For a while events carry a signature by each of the two, so that a receiver may change at any moment.',
      tags: TAGS,
      security: BY_API_KEY,
      params: schemas.endpointPath,
      body: schemas.rotation,
      response: {
        200: schemas.endpointWithSecret.describe('The endpoint with its new secret, which is not shown again.'),
        ...problemsBehindAKey(
          ...WITH_A_BODY,
          ...ABOUT_ONE,
          'webhook_endpoint_disabled',
          'webhook_endpoint_changed',
          'webhook_secret_unfit',
        ),
      },
    },
    handler: async ({ params: { id }, body: { overlap_seconds: overlapSeconds } }) =>
      describeWithSecret(
        await rotateEndpoint(database, endpoints, { id, ...(overlapSeconds !== undefined && { overlapSeconds }) }),
      ),
  });
}

function registerReplayRoute(instance: FastifyInstance, { database }: ApiDependencies): void {
  instance.withTypeProvider<ZodTypeProvider>().post('/v1/webhook-endpoints/:id/replays', {
    config: { access: 'operate' },
    schema: {
      operationId: 'replayEvents',
      summary: 'Tell an endpoint past events once more, by id or by time',
      description: 'Under the same ids as before, so a receiver that has an event already drops it.',
      tags: TAGS,
      security: BY_API_KEY,
      params: schemas.endpointPath,
      body: schemas.replay,
      response: {
        200: schemas.replayed,
        ...problemsBehindAKey(...WITH_A_BODY, ...ABOUT_ONE, 'webhook_endpoint_disabled'),
      },
    },
    handler: async ({ params: { id }, body }) => ({ replayed: await replayToEndpoint(database, id, replayOf(body)) }),
  });
}

/** The schema takes one of the two shapes only. */
function replayOf({ event_id: eventId, from = '', to = '' }: z.infer<typeof schemas.replay>): Replay {
  return eventId === undefined ? { from, to } : { eventId };
}

function describeWithSecret({ endpoint, secret }: EndpointWithSecret): z.infer<typeof schemas.endpointWithSecret> {
  return { ...describeEndpoint(endpoint), secret: secret.text };
}
