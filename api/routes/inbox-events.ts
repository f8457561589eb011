import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { CodedError } from '../../domain/errors.ts';
import type { Database } from '../../store/database.ts';
import { findInboxEvent, type InboxEvent, listInboxEvents } from '../../store/inbox/inbox-events.ts';
import { matchInboxEvents, reopenInboxEvent } from '../../store/inbox/inbox-upkeep.ts';
import type { ApiDependencies } from '../dependencies.ts';
import * as schemas from '../schemas.ts';
import { BY_API_KEY, problemsBehindAKey } from './documentation.ts';

/** What gateways told us, and what became of it. */
export function registerInboxEventRoutes(instance: FastifyInstance, { database, events }: ApiDependencies): void {
  const app = instance.withTypeProvider<ZodTypeProvider>();

  app.get('/v1/inbox-events', {
    config: { access: 'operate' },
    schema: {
      operationId: 'listInboxEvents',
      summary: 'List the events of gateways, newest first',
      description: 'Those that wait for a person are doubted, pooled, not_understood and stuck.',
      tags: ['operators'],
      security: BY_API_KEY,
      querystring: schemas.inboxQuery,
      response: { 200: schemas.inboxEventList, ...problemsBehindAKey('field_invalid') },
    },
    handler: async ({ query }) => {
      const limit = Number(query.limit);
      const found = await listInboxEvents(database, {
        state: query.state ?? null,
        orderId: query.order_id ?? null,
        before: query.cursor ?? null,
        limit: limit + 1,
      });
      const page = found.slice(0, limit);
      return { inbox_events: page.map(describe), next_cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null };
    },
  });

  app.post('/v1/inbox-events/:event_id/replay', {
    config: { access: 'operate' },
    schema: {
      operationId: 'replayInboxEvent',
      summary: 'Apply an event once more',
      description: 'Does nothing to an event that was applied. One without an order looks for it again.',
      tags: ['operators'],
      security: BY_API_KEY,
      params: schemas.inboxEventPath,
      response: {
        202: schemas.inboxEvent.describe('The event as it stands; it is applied right after this answer.'),
        ...problemsBehindAKey('field_invalid', 'inbox_event_not_found', 'temporal_unavailable'),
      },
    },
    handler: async ({ params }, reply) => {
      const { event_id: id } = params;
      await readKnownEvent(database, id);
      await reopenInboxEvent(database, id);
      await matchInboxEvents(database, { id, limit: 1 });
      const event = await readKnownEvent(database, id);
      if (event.state === 'stored' && event.orderId !== null) await events.tell({ id, orderId: event.orderId });
      return reply.code(202).send(describe(event));
    },
  });
}

async function readKnownEvent(database: Database, id: string): Promise<InboxEvent> {
  const event = await findInboxEvent(database, id);
  if (event === undefined) throw new CodedError('inbox_event_not_found', `No event of a gateway has the id ${id}.`);
  return event;
}

function describe(event: InboxEvent) {
  return {
    id: event.id,
    gateway: event.gateway,
    event_id: event.eventId,
    type: event.type,
    state: event.state,
    order_id: event.orderId,
    attempt_number: event.attemptNumber,
    merchant_reference: event.merchantReference,
    gateway_reference: event.gatewayReference,
    remark: event.remark,
    occurred_at: event.occurredAt,
    received_at: event.receivedAt,
    applied_at: event.appliedAt,
    body: event.body,
  };
}
