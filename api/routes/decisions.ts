import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { CodedError } from '../../domain/errors.ts';
import { findOpenOrder } from '../../store/orders/open-orders.ts';
import type { Order } from '../../store/orders/orders.ts';
import { clearReview } from '../../store/orders/reviews.ts';
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
  /** The order's workflow may have been ended by somebody; then it is started again, and takes the decision. */
  const startAgain = async (orderId: string): Promise<boolean> => {
    const open = await findOpenOrder(database, orderId);
    return open !== undefined && (await purchases.resume(open, open.attempt)) === 'resumed';
  };

  app.post('/v1/orders/:id/decisions', {
    config: { access: 'operate' },
    schema: {
      operationId: 'decideOrder',
      summary: 'Settle an unknown order by decision',
      description:
        "Reaches the order's workflow as an update. paid and failed are refused unless the order is unknown; reviewed is refused unless it is in review and settled.",
      tags: ['operators'],
      security: BY_API_KEY,
      params: schemas.orderPath,
      body: schemas.decision,
      response: {
        200: schemas.order.describe('The order as it is settled.'),
        ...problemsBehindAKey(
          ...WITH_A_BODY,
          'order_not_found',
          'order_not_unknown',
          'order_not_in_review',
          'temporal_unavailable',
        ),
      },
    },
    handler: async ({ params, body }) => {
      const order = await readKnownOrder(database, params.id);
      const { outcome, operator, reason } = body;
      if (outcome === 'reviewed') {
        const now = new Date().toISOString();
        if (!(await clearReview(database, { orderId: params.id, operator, reason, now })))
          throw new CodedError('order_not_in_review');
        return describeOrderWithToken(await readKnownOrder(database, params.id), settings);
      }
      if (order.status !== 'unknown') throw refusal(order);
      const decision = { outcome, operator, reason };
      let verdict = await purchases.settle(params.id, decision);
      if (verdict === 'refused' && (await startAgain(params.id))) verdict = await purchases.settle(params.id, decision);
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
