import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { listOrders } from '../../store/orders/orders.ts';
import { apiKeyOf, includes } from '../access.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { readKnownOrder } from '../known-order.ts';
import { describeOrder, describeOrderWithToken } from '../order-answer.ts';
import * as schemas from '../schemas.ts';
import { BY_API_KEY, problemsBehindAKey } from './documentation.ts';

/** How orders stand. */
export function registerReadOrderRoutes(instance: FastifyInstance, { database, settings }: ApiDependencies): void {
  const app = instance.withTypeProvider<ZodTypeProvider>();

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
      const order = await readKnownOrder(database, request.params.id);
      const mayPay = includes(apiKeyOf(request).role, 'write');
      return mayPay ? describeOrderWithToken(order, settings) : { ...describeOrder(order), payment_token: null };
    },
  });
}
