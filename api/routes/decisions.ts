import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { CodedError } from '../../domain/errors.ts';
import type { Order } from '../../store/orders.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { readKnownOrder } from '../known-order.ts';
import { describeOrderWithToken } from '../order-answer.ts';
import * as schemas from '../schemas.ts';
import { BY_API_KEY, problemsBehindAKey, WITH_A_BODY } from './documentation.ts';

/** Where a person settles what nobody else could. */
export function registerDecisionRoute(
  instance: FastifyInstance,
  { database, purchases, settings }: ApiDependencies,
): void {
  const app = instance.withTypeProvider<ZodTypeProvider>();

  app.post('/v1/orders/:id/decisions', {
    config: { access: 'operate' },
    schema: {
      operationId: 'decideOrder',
      summary: 'Settle an unknown order by decision',
      description: "Reaches the order's workflow as an update. Refused unless the order is unknown.",
      tags: ['operators'],
      security: BY_API_KEY,
      params: schemas.orderPath,
      body: schemas.decision,
      response: {
        200: schemas.order.describe('The order as it is settled.'),
        ...problemsBehindAKey(...WITH_A_BODY, 'order_not_found', 'order_not_unknown', 'temporal_unavailable'),
      },
    },
    handler: async ({ params, body }) => {
      const order = await readKnownOrder(database, params.id);
      if (order.status !== 'unknown') throw refusal(order);
      const verdict = await purchases.settle(params.id, body);
      const settled = await readKnownOrder(database, params.id);
      if (verdict === 'refused') throw refusal(settled);
      return describeOrderWithToken(settled, settings);
    },
  });
}

function refusal({ status }: Order): CodedError {
  const reason =
    status === 'unknown'
      ? "The order's workflow is not running, so nobody can take the decision."
      : `The order is ${status}.`;
  return new CodedError(
    'order_not_unknown',
    `${reason} Only an order with the status unknown can be settled by decision.`,
  );
}
