import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { CodedError } from '../../domain/errors.ts';
import {
  type Entitlement,
  listEntitlements,
  redeemEntitlement,
  revokeEntitlement,
} from '../../store/deliveries/entitlements.ts';
import { listEvents } from '../../store/deliveries/outbox-events.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { describeEntitlement, describeEvent } from '../fulfilment-answer.ts';
import * as schemas from '../fulfilment-schemas.ts';
import { readKnownOrder } from '../known-order.ts';
import { orderPath } from '../schemas.ts';
import { BY_API_KEY, problemsBehindAKey, WITH_A_BODY } from './documentation.ts';

/** What a paid order entitles to, and what is told of an order. */
export function registerEntitlementRoutes(instance: FastifyInstance, dependencies: ApiDependencies): void {
  registerReadRoutes(instance, dependencies);
  registerChangeRoutes(instance, dependencies);
}

function registerReadRoutes(instance: FastifyInstance, { database }: ApiDependencies): void {
  const app = instance.withTypeProvider<ZodTypeProvider>();

  app.get('/v1/orders/:id/entitlements', {
    config: { access: 'read' },
    schema: {
      operationId: 'listEntitlements',
      summary: 'List what an order entitles to; nothing until it is paid',
      tags: ['fulfilment'],
      security: BY_API_KEY,
      params: orderPath,
      response: { 200: schemas.entitlementList, ...problemsBehindAKey('field_invalid', 'order_not_found') },
    },
    handler: async ({ params }) => {
      const entitlements = await listEntitlements(database, params.id);
      if (entitlements.length === 0) await readKnownOrder(database, params.id);
      return { entitlements: entitlements.map(describeEntitlement) };
    },
  });

  app.get('/v1/orders/:id/events', {
    config: { access: 'read' },
    schema: {
      operationId: 'listEvents',
      summary: 'List the events of an order by their numbers',
      description: 'For a receiver that sees by the numbers that one is missing.',
      tags: ['fulfilment'],
      security: BY_API_KEY,
      params: orderPath,
      response: { 200: schemas.eventList, ...problemsBehindAKey('field_invalid', 'order_not_found') },
    },
    handler: async ({ params }) => {
      const events = await listEvents(database, params.id);
      if (events.length === 0) await readKnownOrder(database, params.id);
      return { events: events.map(describeEvent) };
    },
  });
}

function registerChangeRoutes(instance: FastifyInstance, { database }: ApiDependencies): void {
  const app = instance.withTypeProvider<ZodTypeProvider>();

  app.post('/v1/orders/:id/entitlements/:kind/redeem', {
    config: { access: 'write' },
    schema: {
      operationId: 'redeemEntitlement',
      summary: 'Use up an entitlement, once',
      description: 'Of many at once one has it. A repeat by the same redeemer gets the same answer.',
      tags: ['fulfilment'],
      security: BY_API_KEY,
      params: schemas.entitlementPath,
      body: schemas.redemption,
      response: {
        200: schemas.entitlement.describe('It is yours.'),
        ...problemsBehindAKey(...WITH_A_BODY, 'entitlement_not_found', 'entitlement_redeemed', 'entitlement_revoked'),
      },
    },
    handler: async ({ params: { id: orderId, kind }, body: { redeemer } }) => {
      const said = { redeemer, now: new Date().toISOString() };
      const entitlement = demandKnown(await redeemEntitlement(database, { orderId, kind }, said));
      if (entitlement.revokedAt !== null) throw new CodedError('entitlement_revoked');
      if (entitlement.redeemedBy !== redeemer) throw new CodedError('entitlement_redeemed');
      return describeEntitlement(entitlement);
    },
  });

  app.post('/v1/orders/:id/entitlements/:kind/revoke', {
    config: { access: 'operate' },
    schema: {
      operationId: 'revokeEntitlement',
      summary: 'Take an entitlement back, with a reason that is kept and told',
      tags: ['fulfilment'],
      security: BY_API_KEY,
      params: schemas.entitlementPath,
      body: schemas.revocation,
      response: {
        200: schemas.entitlement.describe('As it stands; the first reason stays.'),
        ...problemsBehindAKey(...WITH_A_BODY, 'entitlement_not_found'),
      },
    },
    handler: async ({ params: { id: orderId, kind }, body: { reason } }) => {
      const said = { reason, now: new Date().toISOString() };
      return describeEntitlement(demandKnown(await revokeEntitlement(database, { orderId, kind }, said)));
    },
  });
}

function demandKnown(entitlement: Entitlement | undefined): Entitlement {
  if (entitlement === undefined) throw new CodedError('entitlement_not_found');
  return entitlement;
}
