import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { v7 as newId } from 'uuid';
import type { z } from 'zod';
import { toGatewayUnits } from '../../domain/currency-units.ts';
import { CodedError } from '../../domain/errors.ts';
import { type Database, inTransaction } from '../../store/database.ts';
import { approveRefund, requestRefund, withdrawRefund } from '../../store/refunds/refund-requests.ts';
import { findRefund, listRefunds, listRefundsOfOrder, type Refund } from '../../store/refunds/refunds.ts';
import { apiKeyOf } from '../access.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { answerOnce } from '../idempotency.ts';
import { readKnownOrder } from '../known-order.ts';
import * as refundSchemas from '../refund-schemas.ts';
import * as schemas from '../schemas.ts';
import { BY_API_KEY, problemsBehindAKey, WITH_A_BODY, WITH_AN_IDEMPOTENCY_KEY } from './documentation.ts';

/** Where an operator gives money back. */
export function registerRefundRoutes(instance: FastifyInstance, dependencies: ApiDependencies): void {
  registerNewRefund(instance, dependencies);
  registerDecisions(instance, dependencies);
  registerReads(instance, dependencies);
}

function registerNewRefund(instance: FastifyInstance, dependencies: ApiDependencies): void {
  const { database, settings } = dependencies;
  instance.withTypeProvider<ZodTypeProvider>().post('/v1/orders/:id/refunds', {
    config: { access: 'operate' },
    schema: {
      operationId: 'createRefund',
      summary: 'Refund an order, in whole or in part',
      description:
        'The amount is taken at once from what can be refunded, and the refund is carried out by itself. Above the configured limit a second person has to approve it.',
      tags: ['refunds'],
      security: BY_API_KEY,
      params: schemas.orderPath,
      headers: schemas.idempotencyHeaders,
      body: refundSchemas.newRefund,
      response: {
        201: refundSchemas.refund.describe('The refund as it is asked for.'),
        ...problemsBehindAKey(
          ...WITH_A_BODY,
          ...WITH_AN_IDEMPOTENCY_KEY,
          ...([
            'amount_invalid',
            'currency_unknown',
            'currency_unsupported',
            'order_not_found',
            'order_not_paid',
          ] as const),
          ...(['order_disputed', 'refund_exceeds_captured', 'refund_currency_mismatch', 'refund_unsupported'] as const),
        ),
      },
    },
    handler: async (request, reply) => {
      const { id: keyId } = apiKeyOf(request);
      const refundId = newId();
      await answerOnce({ database, request, reply, scope: `api-key:${keyId}` }, async (keep) => {
        const { params, body } = request;
        const order = await readKnownOrder(database, params.id);
        const wanted = body.amount;
        const refund = await inTransaction(database, async (transaction) => {
          const amount = await requestRefund(transaction, {
            ...{ id: refundId, orderId: order.id, minorUnits: wanted?.minor_units, currency: wanted?.currency },
            ...{ reason: body.reason ?? null, requestedBy: `api-key:${keyId}` },
            ...{ approvalLimits: settings.refundApprovalLimits, now: new Date().toISOString() },
          });
          const stored = await readKnownRefund(transaction, refundId);
          demandPossible(dependencies, stored, amount.minorUnits === order.amount.minorUnits);
          const made = describeRefund(stored);
          await keep(transaction, { status: 201, headers: { location: `/v1/refunds/${refundId}` }, body: made });
          return made;
        });
        await carryOut(dependencies, refundId);
        return { status: 201, headers: { location: `/v1/refunds/${refundId}` }, body: refund };
      });
    },
  });
}

/** Thrown inside the transaction, so that an impossible refund leaves no trace. */
function demandPossible({ gateways }: ApiDependencies, { gateway, amount }: Refund, isWhole: boolean): void {
  const facts = gateways.find(({ name }) => name === gateway);
  if (facts === undefined) throw new CodedError('gateway_unknown');
  if (facts.refund === undefined || (!facts.refund.partial && !isWhole)) throw new CodedError('refund_unsupported');
  toGatewayUnits(amount, facts.currencyDecimals);
}

/** The refund stands on its row: a start that fails now is made up for by the sweeper. */
async function carryOut({ database, refunds, log }: ApiDependencies, refundId: string): Promise<void> {
  const refund = await readKnownRefund(database, refundId);
  if (refund.status !== 'requested') return;
  const { orderId, gateway } = refund;
  await refunds.start({ refundId, orderId, gateway }).catch((cause: unknown) => {
    log.warn({ refundId, err: cause }, 'the workflow of a refund could not be started; the sweeper will start it');
  });
}

const DECISION_PROBLEMS = ['field_invalid', 'refund_not_found'] as const;

function registerDecisions(instance: FastifyInstance, dependencies: ApiDependencies): void {
  const { database } = dependencies;
  const app = instance.withTypeProvider<ZodTypeProvider>();
  const shape = { tags: ['refunds'], security: BY_API_KEY, params: refundSchemas.refundPath };
  app.post('/v1/refunds/:id/approve', {
    config: { access: 'operate' },
    schema: {
      ...shape,
      operationId: 'approveRefund',
      summary: 'Approve a refund as the second person',
      description: 'The API key must be another one than that of the request for the refund.',
      response: {
        200: refundSchemas.refund,
        ...problemsBehindAKey(...DECISION_PROBLEMS, 'refund_not_awaiting_approval', 'refund_approver_is_requester'),
      },
    },
    handler: async (request) => {
      const { id } = request.params;
      await approveRefund(database, {
        id,
        approvedBy: `api-key:${apiKeyOf(request).id}`,
        now: new Date().toISOString(),
      });
      await carryOut(dependencies, id);
      return describeRefund(await readKnownRefund(database, id));
    },
  });
  app.post('/v1/refunds/:id/withdraw', {
    config: { access: 'operate' },
    schema: {
      ...shape,
      operationId: 'withdrawRefund',
      summary: 'Take back a refund of which nothing was sent',
      response: { 200: refundSchemas.refund, ...problemsBehindAKey(...DECISION_PROBLEMS, 'refund_already_sent') },
    },
    handler: async (request) => {
      const { id } = request.params;
      await withdrawRefund(database, { id, by: `api-key:${apiKeyOf(request).id}`, now: new Date().toISOString() });
      return describeRefund(await readKnownRefund(database, id));
    },
  });
}

function registerReads(instance: FastifyInstance, { database }: ApiDependencies): void {
  const app = instance.withTypeProvider<ZodTypeProvider>();
  const shape = { tags: ['refunds'], security: BY_API_KEY };
  app.get('/v1/orders/:id/refunds', {
    config: { access: 'read' },
    schema: {
      ...shape,
      operationId: 'listRefundsOfOrder',
      summary: 'List the refunds of an order, the first first',
      params: schemas.orderPath,
      response: { 200: refundSchemas.refundList, ...problemsBehindAKey('field_invalid', 'order_not_found') },
    },
    handler: async ({ params }) => {
      await readKnownOrder(database, params.id);
      return { refunds: (await listRefundsOfOrder(database, params.id)).map(describeRefund) };
    },
  });
  app.get('/v1/refunds', {
    config: { access: 'read' },
    schema: {
      ...shape,
      operationId: 'listRefunds',
      summary: 'List refunds, newest first',
      querystring: refundSchemas.refundQuery,
      response: { 200: refundSchemas.refundList, ...problemsBehindAKey('field_invalid') },
    },
    handler: async ({ query }) => {
      const filter = { status: query.status ?? null, before: query.cursor ?? null, limit: Number(query.limit) };
      return { refunds: (await listRefunds(database, filter)).map(describeRefund) };
    },
  });
  app.get('/v1/refunds/:id', {
    config: { access: 'read' },
    schema: {
      ...shape,
      operationId: 'readRefund',
      summary: 'Read a refund',
      params: refundSchemas.refundPath,
      response: { 200: refundSchemas.refund, ...problemsBehindAKey('field_invalid', 'refund_not_found') },
    },
    handler: async ({ params }) => describeRefund(await readKnownRefund(database, params.id)),
  });
}

async function readKnownRefund(database: Pick<Database, 'query'>, id: string): Promise<Refund> {
  const refund = await findRefund(database, id);
  if (refund === undefined) throw new CodedError('refund_not_found');
  return refund;
}

function describeRefund(refund: Refund): z.infer<typeof refundSchemas.refund> {
  return {
    id: refund.id,
    order_id: refund.orderId,
    status: refund.status,
    amount: { minor_units: refund.amount.minorUnits, currency: refund.amount.currency },
    reason: refund.reason,
    waits_for: refund.waitsFor,
    over_payment_id: refund.overPaymentId,
    attempt_number: refund.attemptNumber,
    refund_reference: refund.refundReference,
    gateway: refund.gateway,
    gateway_reference: refund.gatewayReference,
    sends: refund.sends,
    failure_code: refund.failureCode,
    review_reason: refund.reviewReason,
    requested_by: refund.requestedBy,
    approved_by: refund.approvedBy,
    created_at: refund.createdAt,
    updated_at: refund.updatedAt,
  };
}
