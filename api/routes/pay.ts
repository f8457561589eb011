import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { reach } from '../../process/points.ts';
import { createBreakerGate } from '../breaker-gate.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { type Answer, answerOnce } from '../idempotency.ts';
import { createPayMetrics } from '../observation.ts';
import { describePayment, tokenFor } from '../order-answer.ts';
import { createOrderWatch } from '../order-watch.ts';
import { type PayResult, pay } from '../pay.ts';
import { readPaymentToken } from '../payment-token.ts';
import * as schemas from '../schemas.ts';
import { problems, WITH_A_BODY, WITH_AN_IDEMPOTENCY_KEY } from './documentation.ts';

/** How soon a caller that was told "not yet" may ask again. */
const RETRY_AFTER_SECONDS = '1';

const DESCRIPTION =
  `Makes the payment attempt that the token names, or joins it if it was made before: a repeat with the
same token, by whomever and however often, is never a second charge. The token is the authority, so that a shopper's
browser can call this route without an API key. Answers 200 with the final state (paid, or failed with the decline and
a token for the next attempt), or when the customer has to act; 202 when the outcome is not known within the wait: then
repeat the same request. An order whose time is over is refused with order_expired until it is closed, and then answered
as expired. Only an answer 200 is kept under an Idempotency-Key.`.replaceAll('\n', ' ');

/** The one route that can lead to a charge. */
export function registerPayRoute(instance: FastifyInstance, dependencies: ApiDependencies): void {
  const app = instance.withTypeProvider<ZodTypeProvider>();
  const { database, orderChanges, purchases, settings, log, metrics: registry } = dependencies;
  const watch = createOrderWatch(database, orderChanges);
  const metrics = createPayMetrics(registry);
  const breaker = createBreakerGate(database, registry);
  // Whoever still waits is told "not yet" at once; the order goes on without us.
  app.addHook('preClose', async () => watch.end());

  app.post('/v1/orders/:id/pay', {
    config: { access: 'payment_token' },
    schema: {
      operationId: 'payOrder',
      summary: 'Pay an order',
      description: DESCRIPTION,
      tags: ['orders'],
      security: [],
      params: schemas.orderPath,
      headers: schemas.idempotencyHeaders,
      body: schemas.payRequest,
      response: {
        200: schemas.payment.describe('The answer for this attempt.'),
        202: schemas.payment.describe('Not known yet. Repeat the request with the same token.'),
        ...problems(
          ...WITH_A_BODY,
          ...WITH_AN_IDEMPOTENCY_KEY,
          'payment_token_invalid',
          'payment_token_expired',
          'order_not_found',
          'order_expired',
          'order_not_payable',
          'gateway_unavailable',
          'temporal_unavailable',
        ),
      },
    },
    handler: (request, reply) => {
      const { body, params } = request;
      const { attemptNumber } = readPaymentToken(body.payment_token, {
        orderId: params.id,
        secrets: settings.paymentTokenSecrets,
        now: new Date(),
      });
      return answerOnce({ database, request, reply, scope: `order:${params.id}` }, async (keep) => {
        await reach('pay_received', params.id);
        const result = await pay(
          { database, purchases, watch, metrics, breaker, settings, log },
          {
            orderId: params.id,
            attemptNumber,
            paymentMethod: body.payment_method,
            returnUrl: body.return_url ?? null,
            waitMs: (body.wait_seconds ?? settings.payWaitSeconds) * 1_000,
          },
        );
        const answer = answerOf(result, dependencies);
        // What the customer still has to do is not the end: a repeat must see what became of it.
        if (result.answered && result.order.status !== 'requires_action') await keep(database, answer);
        return answer;
      });
    },
  });
}

function answerOf({ order, answered }: PayResult, { settings }: ApiDependencies): Answer {
  const token = answered ? tokenFor(order, settings, new Date()) : null;
  const body = { ...describePayment(order), payment_token: token };
  if (answered) return { status: 200, body };
  return { status: 202, headers: { location: `/v1/orders/${order.id}`, 'retry-after': RETRY_AFTER_SECONDS }, body };
}
