import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { v7 as newId } from 'uuid';
import type { z } from 'zod';
import { toGatewayUnits } from '../../domain/currency-units.ts';
import { CodedError } from '../../domain/errors.ts';
import { type Database, inTransaction } from '../../store/database.ts';
import { findLimitHolder, insertOrder, type NewOrder, type Order } from '../../store/orders/orders.ts';
import { apiKeyOf } from '../access.ts';
import type { ApiDependencies, GatewayFacts } from '../dependencies.ts';
import { answerOnce } from '../idempotency.ts';
import { describeOrderWithToken } from '../order-answer.ts';
import * as schemas from '../schemas.ts';
import { BY_API_KEY, problemsBehindAKey, WITH_A_BODY, WITH_AN_IDEMPOTENCY_KEY } from './documentation.ts';

/** Where the shop says what it wants to be paid, once. */
export function registerCreateOrderRoute(instance: FastifyInstance, dependencies: ApiDependencies): void {
  const app = instance.withTypeProvider<ZodTypeProvider>();
  const { database, settings } = dependencies;

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
          'limit_one_per_customer',
        ),
      },
    },
    handler: (request, reply) =>
      answerOnce({ database, request, reply, scope: `api-key:${apiKeyOf(request).id}` }, async (keep) => {
        const created = newOrderOf(request.body, dependencies);
        const answer = {
          status: 201,
          headers: { location: `/v1/orders/${created.id}` },
          body: describeOrderWithToken(created, settings),
        };
        // One commit: an order whose answer was lost is found again by its key, never made twice.
        await inTransaction(database, async (transaction) => {
          await insertOrder(transaction, created);
          await keep(transaction, answer);
        }).catch((cause: unknown) => nameLimitHolder(database, created, cause));
        return answer;
      }),
  });
}

/** Says which order holds the customer's place. It may have ended since; then a repeat succeeds. */
async function nameLimitHolder(database: Database, created: NewOrder, cause: unknown): Promise<never> {
  if (!(cause instanceof CodedError) || cause.code !== 'limit_one_per_customer') throw cause;
  const holder = await findLimitHolder(database, created);
  if (holder === undefined) throw cause;
  const sentence = `The customer has order ${holder.id} for this product, which is ${holder.status}. Use that one, or cancel it first.`;
  throw new CodedError('limit_one_per_customer', sentence, { field: 'limit', cause });
}

/** The order as it will stand on its row. */
function newOrderOf(body: z.infer<typeof schemas.newOrder>, { gateways, settings }: ApiDependencies): Order & NewOrder {
  const gateway = findGateway(body.gateway, gateways);
  const amount = { minorUnits: body.amount.minor_units, currency: body.amount.currency };
  const fallbacks = findFallbacks(body.fallback_gateways ?? [], gateway, gateways);
  // Throws for an amount that a gateway could not be told of exactly: better now than when it is to be charged.
  for (const { currencyDecimals } of [gateway, ...fallbacks]) toGatewayUnits(amount, currencyDecimals);
  const now = Date.now();
  const createdAt = new Date(now).toISOString();
  return {
    id: newId(),
    shopReference: body.shop_reference ?? null,
    amount,
    gateway: gateway.name,
    fallbackGateways: fallbacks.map(({ name }) => name),
    description: body.description ?? null,
    returnUrl: body.return_url ?? null,
    entitlementKinds: body.entitlements ?? ['order'],
    expiresAt: new Date(now + (body.expires_in_seconds ?? settings.orderExpirySeconds) * 1_000).toISOString(),
    createdAt,
    updatedAt: createdAt,
    status: 'created',
    currentAttempt: 0,
    lastAttempt: null,
    product: body.product ?? null,
    customer: body.customer ?? null,
    purchaseLimit: body.limit ?? null,
    cancelRequestedAt: null,
    refundStatus: 'none',
    needsReview: false,
    reviewReason: null,
    decline: null,
    action: null,
  };
}

function findFallbacks(
  names: readonly string[],
  first: GatewayFacts,
  gateways: ApiDependencies['gateways'],
): readonly GatewayFacts[] {
  const repeated = names.find((name, index) => name === first.name || names.indexOf(name) !== index);
  if (repeated !== undefined) {
    const sentence = 'A fallback gateway must be another one than those before it.';
    throw new CodedError('field_invalid', sentence, { field: 'fallback_gateways' });
  }
  return names.map((name) => findGateway(name, gateways, 'fallback_gateways'));
}

function findGateway(name: string | undefined, gateways: ApiDependencies['gateways'], field = 'gateway'): GatewayFacts {
  const gateway = name === undefined ? gateways[0] : gateways.find((configured) => configured.name === name);
  if (gateway !== undefined) return gateway;
  const names = gateways.map((configured) => configured.name).join(', ');
  throw new CodedError('gateway_unknown', `No gateway of this name is configured; there are: ${names}.`, {
    field,
  });
}
