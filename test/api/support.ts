import { Writable } from 'node:stream';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll } from 'vitest';
import type { ApiSettings, GatewayFacts } from '../../api/dependencies.ts';
import type { EventTeller } from '../../api/event-teller.ts';
import type { PurchaseStarter } from '../../api/purchases.ts';
import type { RefundStarter } from '../../api/refund-starter.ts';
import { createApi } from '../../api/server.ts';
import type { EndpointSettings } from '../../api/webhook-endpoints.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import type { GatewayOutcome } from '../../domain/outcome.ts';
import { createEndpointSecrets } from '../../process/endpoint-secrets.ts';
import { type ApiKeyRole, createApiKey } from '../../store/api-keys.ts';
import type { Database } from '../../store/database.ts';
import { claimAttempt } from '../../store/orders/claims.ts';
import { listenForOrderChanges } from '../../store/orders/order-changes.ts';
import type { Order } from '../../store/orders/orders.ts';
import { recordNews } from '../../store/orders/records.ts';
import { markSent } from '../../store/orders/sends.ts';
import type { AttemptRequest } from '../../workflows/messages.ts';
import type { TestDatabase } from '../support/database.ts';

export const SECRET = 'a secret of at least thirty-two characters';
export const PREVIOUS_SECRET = 'an older secret of at least thirty-two chars';
export const VISA = '4111 1111 1111 1111';

export interface TestApi {
  readonly app: FastifyInstance;
  readonly keys: Readonly<Record<ApiKeyRole, string>>;
  /** Everything that was logged so far, as text. */
  logged(): string;
  call(request: TestRequest): Promise<LightMyRequestResponse>;
  createOrder(fields?: Record<string, unknown>): Promise<CreatedOrder>;
  pay(
    order: { readonly id: string; readonly token: string },
    fields?: Record<string, unknown>,
  ): Promise<LightMyRequestResponse>;
}

export interface TestRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
  readonly url: string;
  readonly role?: ApiKeyRole;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly text?: string;
}

export interface CreatedOrder {
  readonly id: string;
  readonly token: string;
  readonly body: Record<string, unknown>;
}

export interface TestApiOptions {
  readonly purchases: PurchaseStarter;
  readonly refunds?: RefundStarter;
  readonly events?: EventTeller;
  readonly gateways?: readonly [GatewayFacts, ...GatewayFacts[]];
  readonly endpoints?: EndpointSettings;
  readonly settings?: Partial<ApiSettings>;
  readonly database?: Database;
}

const GATEWAYS: readonly [GatewayFacts, ...GatewayFacts[]] = [
  { name: 'simulator', currencyDecimals: {}, refund: { partial: true } },
  { name: 'odd-units', currencyDecimals: { HUF: 0, ISK: 2 } },
];

/** For tests in which nothing is refunded. */
const NO_REFUNDS: RefundStarter = { start: async () => undefined, ended: async () => undefined };

/** Names are not looked up in tests: one is public, one has come inside, and the rest are unknown. */
const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'shop.example': ['93.184.216.34'],
  'inside.example': ['10.0.0.7'],
};
const ENDPOINTS: EndpointSettings = {
  secrets: createEndpointSecrets(SECRET),
  addresses: { allowInternal: false, resolve: async (hostname) => ADDRESSES[hostname] ?? [] },
  overlapSeconds: 3_600,
};

/** The API of the product on a test database; nothing listens, requests go in by `inject`. */
export async function startTestApi(testDatabase: TestDatabase, options: TestApiOptions): Promise<TestApi> {
  const lines: string[] = [];
  const sink = new Writable({
    write: (chunk, _, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  const orderChanges = listenForOrderChanges({ url: testDatabase.url, applicationName: 'paidonce-api' });
  const app = createApi({
    settings: {
      paymentTokenSecrets: [SECRET, PREVIOUS_SECRET],
      paymentTokenSeconds: 3_600,
      orderExpirySeconds: 86_400,
      publicUrl: null,
      payWaitSeconds: 5,
      refundApprovalLimits: {},
      ...options.settings,
    },
    database: options.database ?? testDatabase.database,
    orderChanges,
    gateways: options.gateways ?? GATEWAYS,
    purchases: options.purchases,
    refunds: options.refunds ?? NO_REFUNDS,
    events: options.events ?? NO_EVENTS,
    endpoints: options.endpoints ?? ENDPOINTS,
    log: pino({ level: 'trace' }, sink),
    metrics: new Registry(),
  });
  await app.ready();
  closeAfterAllTests(async () => {
    await app.close();
    await orderChanges.close();
  });
  const keyFor = async (role: ApiKeyRole): Promise<string> =>
    (await createApiKey(testDatabase.database, { role, name: role })).key;
  const keys = { read: await keyFor('read'), write: await keyFor('write'), operate: await keyFor('operate') };
  const call = (request: TestRequest): Promise<LightMyRequestResponse> => inject(app, keys, request);
  return {
    app,
    keys,
    logged: () => lines.join(''),
    call,
    createOrder: async (fields = {}) => {
      const body = { amount: { minor_units: 1_999, currency: 'EUR' }, ...fields };
      const answer = await call({ method: 'POST', url: '/v1/orders', role: 'write', body });
      if (answer.statusCode !== 201) throw new Error(`The order was not created: ${answer.body}`);
      const created = answer.json<{ id: string; payment_token: { token: string } }>();
      return { id: created.id, token: created.payment_token.token, body: created };
    },
    pay: ({ id, token }, fields = {}) =>
      call({
        method: 'POST',
        url: `/v1/orders/${id}/pay`,
        body: { payment_token: token, payment_method: 'tok_visa', ...fields },
      }),
  };
}

const closers: (() => Promise<void>)[] = [];

/** The first API of a file is started outside of its tests, where alone a hook can be registered. */
function closeAfterAllTests(close: () => Promise<void>): void {
  closers.push(close);
  if (closers.length > 1) return;
  afterAll(async () => {
    for (const closeOne of closers) await closeOne();
  });
}

function inject(
  app: FastifyInstance,
  keys: TestApi['keys'],
  { method = 'GET', url, role, headers, body, text }: TestRequest,
): Promise<LightMyRequestResponse> {
  const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
  return app.inject({
    method,
    url,
    headers: {
      ...(role !== undefined && { authorization: `Bearer ${keys[role]}` }),
      ...(payload !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(payload !== undefined && { payload }),
  });
}

/** Tells nobody: what is stored stays stored. */
const NO_EVENTS: EventTeller = { tell: () => Promise.resolve(), ended: () => Promise.resolve() };

/** For tests in which no purchase may begin. */
export const NO_PURCHASES: PurchaseStarter = {
  pay: () => Promise.reject(new Error('This test starts no purchase')),
  resume: () => Promise.reject(new Error('This test has no order that was left alone')),
  settle: () => Promise.reject(new Error('This test settles nothing')),
  cancel: () => Promise.resolve(),
  askNow: () => Promise.resolve(),
  isReachable: () => Promise.resolve(true),
  ended: () => Promise.resolve(),
};

export interface StandIn extends PurchaseStarter {
  /** Every call of `pay`, in order. */
  readonly calls: AttemptRequest[];
}

/**
 * Does in this process what the worker does to the rows: claim, mark as sent, record. The answer for each attempt comes from
 * `outcomeFor`; undefined leaves the attempt in flight. How Temporal does it is tested end to end.
 */
export function createStandIn(
  { database }: TestDatabase,
  outcomeFor: (attempt: AttemptRequest, order: Order) => Promise<GatewayOutcome | undefined>,
): StandIn {
  const calls: AttemptRequest[] = [];
  return {
    ...NO_PURCHASES,
    calls,
    pay: async (order, attempt) => {
      calls.push(attempt);
      if (!(await claimAndSend(database, order, attempt))) return 'attached';
      const outcome = outcomeFor(attempt, order);
      outcome.then((said) => said && record(database, { ...order, ...attempt }, said)).catch(() => undefined);
      return 'started';
    },
  };
}

export async function claimAndSend(
  database: Database,
  order: Pick<Order, 'id'>,
  attempt: AttemptRequest,
): Promise<boolean> {
  const { attemptNumber } = attempt;
  const reference = merchantReference(order.id, attemptNumber);
  const step = { orderId: order.id, attemptNumber, run: 'stand-in', now: new Date().toISOString() };
  const { paymentMethod, returnUrl } = attempt;
  if (!(await claimAttempt(database, { ...step, merchantReference: reference, paymentMethod, returnUrl })))
    return false;
  return markSent(database, { ...step, requestKey: reference, requestBody: '{}' });
}

export async function record(
  database: Database,
  { id, attemptNumber }: Pick<Order, 'id'> & Pick<AttemptRequest, 'attemptNumber'>,
  outcome: GatewayOutcome,
): Promise<void> {
  await recordNews(database, {
    orderId: id,
    attemptNumber,
    kind: 'gateway_response',
    outcome,
    now: new Date().toISOString(),
  });
}

export function approvalOf(order: Pick<Order, 'amount'>): GatewayOutcome {
  return { kind: 'approved', amount: order.amount, raw: 'approved' };
}

export const DECLINED: GatewayOutcome = {
  kind: 'declined',
  decline: { code: 'insufficient_funds', gatewayCode: '51', retriable: true },
  raw: 'declined',
};

const TABLES = ['orders', 'payment_attempts', 'evidence', 'outbox_events', 'idempotency_keys', 'api_keys'] as const;

/** How many rows each table holds: bad input must leave them as they are. */
export async function countRows(database: Database): Promise<Record<string, number>> {
  const counts = TABLES.map((table) => `(select count(*) from ${table}) as ${table}`).join(', ');
  const { rows } = await database.query<Record<string, number>>(`select ${counts}`);
  return { ...rows[0] };
}
