import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { CodedError } from '../../domain/errors.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { readKnownOrder } from '../known-order.ts';
import { createOrderWatch } from '../order-watch.ts';
import { addressAtShop, isReturnLink } from '../return-link.ts';
import { createReturnQuestions } from '../return-questions.ts';
import * as schemas from '../schemas.ts';
import { problems } from './documentation.ts';

const DESCRIPTION =
  `Where a gateway sends the customer back to when PUBLIC_URL is set. Has the gateway asked about the order at once, waits a moment for
the answer, and sends the customer on to the return_url of the order, with order_id and order_status added. The status is for the page
only: it can have been typed in by anybody, so read the order before you deliver. Opened twice, late or never, it changes nothing.`.replaceAll(
    '\n',
    ' ',
  );

/** The customer comes back from the gateway. */
export function registerReturnRoute(instance: FastifyInstance, dependencies: ApiDependencies): void {
  const app = instance.withTypeProvider<ZodTypeProvider>();
  const { database, orderChanges, purchases, settings, log } = dependencies;
  const watch = createOrderWatch(database, orderChanges);
  const questions = createReturnQuestions({ watch, purchases, log });
  app.addHook('preClose', async () => watch.end());

  app.get('/v1/orders/:id/return', {
    // The signature in the link says that it was made here.
    config: { access: 'public' },
    schema: {
      operationId: 'returnFromGateway',
      summary: 'Come back from the gateway',
      description: DESCRIPTION,
      tags: ['orders'],
      security: [],
      params: schemas.orderPath,
      querystring: schemas.returnQuery,
      response: {
        303: schemas.nothing.describe('On to the shop.'),
        ...problems('field_invalid', 'order_not_found'),
      },
    },
    handler: async ({ params: { id }, query: { signature } }, reply) => {
      // The same answer for a wrong signature as for no such order: nobody can try ids here.
      if (!isReturnLink(id, signature, settings.paymentTokenSecrets)) throw new CodedError('order_not_found');
      const order = await readKnownOrder(database, id);
      if (order.returnUrl === null) throw new CodedError('order_not_found');
      const seen = await questions.findOut(order);
      return reply.redirect(addressAtShop(order.returnUrl, seen), 303);
    },
  });
}
