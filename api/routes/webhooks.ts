import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { maskCardNumbers } from '../../domain/card-number.ts';
import { CodedError } from '../../domain/errors.ts';
import type { EventNews, WebhookReading } from '../../domain/gateway-event.ts';
import { readMerchantReference } from '../../domain/merchant-reference.ts';
import type { Database } from '../../store/database.ts';
import { type InboxPlace, storeInboxEvent } from '../../store/inbox/inbox-events.ts';
import { isNothingNew } from '../../store/orders/records.ts';
import type { ApiDependencies } from '../dependencies.ts';
import * as schemas from '../schemas.ts';
import { problems } from './documentation.ts';

/** Far more than gateways send; a smaller limit has lost events of large orders elsewhere (C109). */
const WEBHOOK_LENGTH_MAX = 1_024 * 1_024;

/**
 * Where gateways tell us of charges. The event is on the disk before the answer leaves, because after a 2xx it never comes
 * again; what it means is worked out afterwards. The body is taken as bytes, whatever it says it is: signatures are over bytes.
 */
export function registerWebhookRoute(instance: FastifyInstance, dependencies: ApiDependencies): void {
  const { database, gateways } = dependencies;
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body);
  const app = instance.withTypeProvider<ZodTypeProvider>();

  app.post('/v1/webhooks/:gateway', {
    config: { access: 'public' },
    bodyLimit: WEBHOOK_LENGTH_MAX,
    schema: {
      operationId: 'receiveWebhook',
      summary: 'Take an event of a gateway',
      description:
        'For gateways. Verified by the signature over the exact bytes, stored once for each event id, then answered.',
      tags: ['webhooks'],
      params: schemas.webhookPath,
      body: schemas.webhookBody,
      response: {
        204: schemas.nothing.describe('The event is stored, now or by an earlier delivery.'),
        ...problems('webhook_rejected', 'webhooks_not_taken', 'body_too_large', 'field_invalid'),
      },
    },
    handler: async (request, reply) => {
      const { gateway: name } = request.params;
      const parseWebhook = gateways.find((gateway) => gateway.name === name)?.parseWebhook;
      if (parseWebhook === undefined) throw new CodedError('webhooks_not_taken');
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const now = new Date();
      const reading = parseWebhook({ headers: headersOf(request.raw.rawHeaders), body }, now);
      const event = genuine(reading, (reason) => request.log.warn({ gateway: name, reason }, 'a webhook was refused'));
      const nothingNew = await saysNothingNew(database, name, event.news);
      const stored = { gateway: name, ...event, body: withoutCardNumbers(body), nothingNew, now: now.toISOString() };
      tellOrder(dependencies, await storeInboxEvent(database, stored));
      return reply.code(204).send(null);
    },
  });
}

function genuine(reading: WebhookReading, onRefusal: (reason: string) => void) {
  if (reading.kind === 'genuine') return reading.event;
  onRefusal(reading.reason);
  throw new CodedError('webhook_rejected', `The webhook was not believed: ${reading.reason}.`);
}

/** Mostly the answer came first, and the row has it: then there is nothing to apply, and Temporal is left in peace. */
async function saysNothingNew(database: Database, gateway: string, news: EventNews | null): Promise<boolean> {
  const attempt = readMerchantReference(news?.merchantReference ?? '');
  if (news?.subject !== 'charge' || attempt === undefined || news.foreignAccount !== null) return false;
  return isNothingNew(database, { ...attempt, kind: 'webhook', outcome: news.outcome }, gateway);
}

/** Not waited for: the gateway wants its answer, and what is not told now is found by the next inquiry or the sweeper. */
function tellOrder({ events, log }: ApiDependencies, { id, orderId, state }: InboxPlace): void {
  if (state !== 'stored' || orderId === null) return;
  events.tell({ id, orderId }).catch((cause: unknown) => {
    log.warn({ order_id: orderId, inbox_event_id: id, err: cause }, 'an order could not be told of a stored event');
  });
}

/** As they came, name and value in turn: what Node makes of them joins the values of a header that came twice. */
function headersOf(pairs: readonly string[]): Record<string, readonly string[]> {
  const headers = new Map<string, string[]>();
  for (let place = 0; place + 1 < pairs.length; place += 2) {
    const name = (pairs[place] ?? '').toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), pairs[place + 1] ?? '']);
  }
  return Object.fromEntries(headers);
}

/** The bytes as they came, unless they hold what must not be kept: some gateways echo the card. */
function withoutCardNumbers(body: Buffer): Buffer {
  const text = body.toString('utf8');
  const masked = maskCardNumbers(text);
  return masked === text ? body : Buffer.from(masked, 'utf8');
}
