import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { v7 as newId } from 'uuid';
import type { z } from 'zod';
import { toGatewayUnits } from '../../domain/currency-units.ts';
import { CodedError } from '../../domain/errors.ts';
import { inTransaction } from '../../store/database.ts';
import { listEvidence } from '../../store/evidence.ts';
import { findOrder, insertOrder, listOrders, type NewOrder, type Order } from '../../store/orders.ts';
import { listAttempts } from '../../store/payment-attempts.ts';
import { apiKeyOf, includes } from '../access.ts';
import type { ApiDependencies, GatewayFacts } from '../dependencies.ts';
import { answerOnce } from '../idempotency.ts';
import { describeAttempt, describeEvidence, describeOrder, tokenFor } from '../order-answer.ts';
import * as schemas from '../schemas.ts';
import { BY_API_KEY, problemsBehindAKey, WITH_A_BODY, WITH_AN_IDEMPOTENCY_KEY } from './documentation.ts';

/** Making orders and reading all that is known about them. */
export function registerOrderRoutes(instance: FastifyInstance, dependencies: ApiDependencies): void {
  const app = instance.withTypeProvider<ZodTypeProvider>();
  const { database } = dependencies;

  app.post('/v1/orders', {
    config: { access: 'write' },
    schema: {
      operationId: 'createOrder',
      summary: 'Create an order',
      tags: ['orders'],
      security: BY_API_KEY,
      headers: schemas.idempotencyHeaders,
      body: schemas.newOrder,
      response: {
        201: schemas.order.describe('The order, with the token for its first payment attempt.'),
        ...problemsBehindAKey(
          ...WITH_A_BODY,
          ...WITH_AN_IDEMPOTENCY_KEY,
          'amount_invalid',
          'currency_unknown',
          'currency_unsupported',
          'gateway_unknown',
          'shop_reference_taken',
        ),
      },
    },
    handler: (request, reply) =>
      answerOnce({ database, request, reply, scope: `api-key:${apiKeyOf(request).id}` }, async (keep) => {
        const created = newOrderOf(request.body, dependencies);
        const answer = {
          status: 201,
          headers: { location: `/v1/orders/${created.id}` },
          body: withToken(created, dependencies),
        };
        // One commit: an order whose answer was lost is found again by its key, never made twice.
        await inTransaction(database, async (transaction) => {
          await insertOrder(transaction, created);
          await keep(transaction, answer);
        });
        return answer;
      }),
  });

  app.get('/v1/orders', {
    config: { access: 'read' },
    schema: {
      operationId: 'listOrders',
      summary: 'List orders, newest first',
      tags: ['orders'],
      security: BY_API_KEY,
      querystring: schemas.listQuery,
      response: { 200: schemas.orderList, ...problemsBehindAKey('field_invalid') },
    },
    handler: async ({ query }) => {
      const limit = Number(query.limit);
      const found = await listOrders(database, {
        status: query.status ?? null,
        shopReference: query.shop_reference ?? null,
        before: query.cursor ?? null,
        limit: limit + 1,
      });
      const page = found.slice(0, limit);
      return { orders: page.map(describeOrder), next_cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null };
    },
  });

  app.get('/v1/orders/:id', {
    config: { access: 'read' },
    schema: {
      operationId: 'readOrder',
      summary: 'Read an order',
      description: 'With a key that may write, an order that can be paid carries a fresh payment token.',
      tags: ['orders'],
      security: BY_API_KEY,
      params: schemas.orderPath,
      response: { 200: schemas.order, ...problemsBehindAKey('field_invalid', 'order_not_found') },
    },
    handler: async (request) => {
      const order = await findOrder(database, request.params.id);
      if (order === undefined) throw new CodedError('order_not_found');
      const mayPay = includes(apiKeyOf(request).role, 'write');
      return mayPay ? withToken(order, dependencies) : { ...describeOrder(order), payment_token: null };
    },
  });

  app.get('/v1/orders/:id/attempts', {
    config: { access: 'read' },
    schema: {
      operationId: 'listAttempts',
      summary: 'List the payment attempts of an order, the first first',
      tags: ['orders'],
      security: BY_API_KEY,
      params: schemas.orderPath,
      response: { 200: schemas.attemptList, ...problemsBehindAKey('field_invalid', 'order_not_found') },
    },
    handler: async ({ params }) => {
      const attempts = await listAttempts(database, params.id);
      if (attempts.length === 0) await demandOrder(dependencies, params.id);
      return { attempts: attempts.map(describeAttempt) };
    },
  });

  app.get('/v1/orders/:id/evidence', {
    config: { access: 'read' },
    schema: {
      operationId: 'listEvidence',
      summary: 'List the evidence for what is said about an order, oldest first',
      tags: ['orders'],
      security: BY_API_KEY,
      params: schemas.orderPath,
      response: { 200: schemas.evidenceList, ...problemsBehindAKey('field_invalid', 'order_not_found') },
    },
    handler: async ({ params }) => {
      const evidence = await listEvidence(database, params.id);
      if (evidence.length === 0) await demandOrder(dependencies, params.id);
      return { evidence: evidence.map(describeEvidence) };
    },
  });
}

async function demandOrder({ database }: ApiDependencies, orderId: string): Promise<void> {
  if ((await findOrder(database, orderId)) === undefined) throw new CodedError('order_not_found');
}

/** The order as it will stand on its row. */
function newOrderOf(body: z.infer<typeof schemas.newOrder>, { gateways, settings }: ApiDependencies): Order & NewOrder {
  const gateway = findGateway(body.gateway, gateways);
  const amount = { minorUnits: body.amount.minor_units, currency: body.amount.currency };
  // Throws for an amount that the gateway could not be told of exactly: better now than when it is to be charged.
  toGatewayUnits(amount, gateway.currencyDecimals);
  const now = Date.now();
  const createdAt = new Date(now).toISOString();
  return {
    id: newId(),
    shopReference: body.shop_reference ?? null,
    amount,
    gateway: gateway.name,
    description: body.description ?? null,
    returnUrl: body.return_url ?? null,
    expiresAt: new Date(now + (body.expires_in_seconds ?? settings.orderExpirySeconds) * 1_000).toISOString(),
    createdAt,
    updatedAt: createdAt,
    status: 'created',
    currentAttempt: 0,
    needsReview: false,
    reviewReason: null,
    decline: null,
    action: null,
  };
}

function findGateway(name: string | undefined, gateways: ApiDependencies['gateways']): GatewayFacts {
  const gateway = name === undefined ? gateways[0] : gateways.find((configured) => configured.name === name);
  if (gateway !== undefined) return gateway;
  const names = gateways.map((configured) => configured.name).join(', ');
  throw new CodedError('gateway_unknown', `No gateway of this name is configured; there are: ${names}.`, {
    field: 'gateway',
  });
}

function withToken(order: Order, { settings }: ApiDependencies): z.infer<typeof schemas.order> {
  return { ...describeOrder(order), payment_token: tokenFor(order, settings, new Date()) };
}
