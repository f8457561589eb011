import helmet from '@fastify/helmet';
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import { v7 as newId } from 'uuid';
import { CodedError } from '../domain/errors.ts';
import { checkAccess, demandAccess } from './access.ts';
import { refuseCardNumbers } from './card-guard.ts';
import type { ApiDependencies } from './dependencies.ts';
import { parseJsonBody } from './json-body.ts';
import { observeRequests } from './observation.ts';
import { describeRoutes, registerOpenApiRoute } from './openapi.ts';
import { sendProblem } from './problems.ts';
import { registerCancelRoute } from './routes/cancel.ts';
import { registerCreateOrderRoute } from './routes/create-order.ts';
import { registerDecisionRoute } from './routes/decisions.ts';
import { registerEntitlementRoutes } from './routes/entitlements.ts';
import { registerHealthRoutes } from './routes/health.ts';
import { registerInboxEventRoutes } from './routes/inbox-events.ts';
import { registerOrderHistoryRoutes } from './routes/order-history.ts';
import { registerPayRoute } from './routes/pay.ts';
import { registerReadOrderRoutes } from './routes/read-orders.ts';
import { registerRefundRoutes } from './routes/refunds.ts';
import { registerReturnRoute } from './routes/return.ts';
import { registerEndpointRoutes } from './routes/webhook-endpoints.ts';
import { registerWebhookRoute } from './routes/webhooks.ts';
import { answerUnreadableRequest } from './unreadable-request.ts';
import { validatorCompiler } from './validation.ts';

const BODY_LENGTH_MAX = 64 * 1_024;
/** To send a request of at most 64 KB; who takes longer only holds a connection. */
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * The HTTP API, not yet listening: call `listen` on it, and `close` at the end, which lets running requests finish. It owns
 * nothing that it is handed: the caller closes the database and the Temporal connection afterwards.
 */
export function createApi(dependencies: ApiDependencies): FastifyInstance {
  const loggerInstance: FastifyBaseLogger = dependencies.log;
  const app: FastifyInstance = fastify({
    loggerInstance,
    // Fastify's own lines hold the address with its query; ours (api/observation.ts) do not.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    bodyLimit: BODY_LENGTH_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { querystringParser: parseQuery },
    exposeHeadRoutes: false,
    // While closing, what still comes in on open connections is answered as ever and then told to go elsewhere.
    return503OnClosing: false,
    genReqId: () => newId(),
    frameworkErrors: sendProblem,
    clientErrorHandler: answerUnreadableRequest,
  });
  app.decorateRequest('apiKey', null);
  app.decorateRequest('problemCode', null);
  app.setErrorHandler(sendProblem);
  app.setNotFoundHandler((request, reply) => sendProblem(new CodedError('route_not_found'), request, reply));
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  takeOnlyJson(app);
  nameEveryAnswer(app);
  letConnectionsGoWhileClosing(app);
  observeRequests(app, dependencies.metrics);

  app.register(helmet, { contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } });
  describeRoutes(app);
  app.register(async (routes) => {
    routes.addHook('onRoute', demandAccess);
    routes.addHook('onRequest', checkAccess(dependencies.database));
    routes.addHook('preValidation', refuseCardNumbers);
    registerCreateOrderRoute(routes, dependencies);
    registerPayRoute(routes, dependencies);
    registerReturnRoute(routes, dependencies);
    registerReadOrderRoutes(routes, dependencies);
    registerOrderHistoryRoutes(routes, dependencies);
    registerDecisionRoute(routes, dependencies);
    registerCancelRoute(routes, dependencies);
    registerInboxEventRoutes(routes, dependencies);
    registerEntitlementRoutes(routes, dependencies);
    registerEndpointRoutes(routes, dependencies);
    registerRefundRoutes(routes, dependencies);
    registerHealthRoutes(routes, dependencies);
    registerOpenApiRoute(routes);
  });
  // By itself, because it takes any body as bytes; card numbers in it are blacked out and not refused: no gateway would know why.
  app.register(async (routes) => {
    routes.addHook('onRoute', demandAccess);
    routes.addHook('onRequest', checkAccess(dependencies.database));
    registerWebhookRoute(routes, dependencies);
  });
  return app;
}

function takeOnlyJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, async (_request: unknown, body: string) =>
    parseJsonBody(body),
  );
}

/** With the id an answer is found again in the log. Nothing here may be kept by a cache on the way: it changes, and it holds tokens. */
function nameEveryAnswer(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    reply.header('cache-control', 'no-store');
  });
}

/** A connection that a client keeps open after its last answer would hold up the end of the process for a minute. */
function letConnectionsGoWhileClosing(app: FastifyInstance): void {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onSend', async (_request, reply) => {
    if (closing) reply.header('connection', 'close');
  });
}

/** A parameter that is given twice is a mistake and not a list; joined, no schema here takes it. */
function parseQuery(text: string): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    query[name] = Object.hasOwn(query, name) ? `${query[name]},${value}` : value;
  }
  return query;
}
