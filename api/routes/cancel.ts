import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { CodedError } from '../../domain/errors.ts';
import { type Cancelled, requestCancel } from '../../store/orders/cancellation.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { readKnownOrder } from '../known-order.ts';
import { describeOrderWithToken } from '../order-answer.ts';
import * as schemas from '../schemas.ts';
import { BY_API_KEY, problemsBehindAKey, WITH_A_BODY } from './documentation.ts';

const DESCRIPTION =
  `Answers 200 with the cancelled order when nothing of it is alive. While an attempt is, the wish is written down (202): no further
attempt is made, an action of the customer's is closed at the gateway where that can be done, and the order is cancelled as soon as
the attempt is proven dead. Should it turn out paid, the order is paid and the wish without effect: refund it then.`.replaceAll(
    '\n',
    ' ',
  );

/** Where the shop takes an order back. */
export function registerCancelRoute(instance: FastifyInstance, dependencies: ApiDependencies): void {
  const app = instance.withTypeProvider<ZodTypeProvider>();
  const { database, purchases, settings, log } = dependencies;

  app.post('/v1/orders/:id/cancel', {
    config: { access: 'write' },
    schema: {
      operationId: 'cancelOrder',
      summary: 'Cancel an order',
      description: DESCRIPTION,
      tags: ['orders'],
      security: BY_API_KEY,
      params: schemas.orderPath,
      body: schemas.cancellation,
      response: {
        200: schemas.order.describe('The order is cancelled.'),
        202: schemas.order.describe('An attempt is alive; the order is cancelled once that is proven dead.'),
        ...problemsBehindAKey(...WITH_A_BODY, 'order_not_found', 'order_not_cancellable'),
      },
    },
    handler: async ({ params: { id }, body: { reason } }, reply) => {
      const cancelled = await requestCancel(database, { orderId: id, reason, now: new Date().toISOString() });
      if (cancelled === undefined) throw new CodedError('order_not_found');
      if (cancelled.kind === 'refused') throw refusal(cancelled);
      // Only a hint: whoever inquires next sees the wish on the row, and an order that is cancelled lets nobody claim it.
      await purchases.cancel(id).catch((cause: unknown) => {
        log.warn({ orderId: id, err: cause }, 'The workflow could not be told of a cancellation; it will see the row.');
      });
      const order = await readKnownOrder(database, id);
      return reply.code(order.status === 'cancelled' ? 200 : 202).send(describeOrderWithToken(order, settings));
    },
  });
}

function refusal({ orderStatus, needsReview }: Extract<Cancelled, { kind: 'refused' }>): CodedError {
  if (needsReview) {
    return new CodedError(
      'order_not_cancellable',
      'A person has to look at the order first: money may have come in for it.',
    );
  }
  const way = orderStatus === 'paid' ? ' Refund it instead.' : '';
  return new CodedError('order_not_cancellable', `The order is ${orderStatus} and cannot be cancelled.${way}`);
}
