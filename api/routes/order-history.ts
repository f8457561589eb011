import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { listEvidence } from '../../store/orders/evidence.ts';
import { listAttempts } from '../../store/orders/payment-attempts.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { readKnownOrder } from '../known-order.ts';
import { describeAttempt, describeEvidence } from '../order-answer.ts';
import * as schemas from '../schemas.ts';
import { BY_API_KEY, problemsBehindAKey } from './documentation.ts';

/** What was tried for an order, and why we believe what we say of it. */
export function registerOrderHistoryRoutes(instance: FastifyInstance, { database }: ApiDependencies): void {
  const app = instance.withTypeProvider<ZodTypeProvider>();

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
      if (attempts.length === 0) await readKnownOrder(database, params.id);
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
      if (evidence.length === 0) await readKnownOrder(database, params.id);
      return { evidence: evidence.map(describeEvidence) };
    },
  });
}
