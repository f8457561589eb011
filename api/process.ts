import { Client, Connection } from '@temporalio/client';
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { type Config, purchaseSettings } from '../process/config.ts';
import { observeDeliveries } from '../process/delivery-gauges.ts';
import { createEndpointSecrets } from '../process/endpoint-secrets.ts';
import type { Logger } from '../process/log.ts';
import { readTemporalTarget } from '../process/temporal.ts';
import { createDatabase, type Database } from '../store/database.ts';
import { countDeliveries } from '../store/deliveries/deliveries.ts';
import { listenForOrderChanges } from '../store/orders/order-changes.ts';
import type { ApiSettings, GatewayFacts } from './dependencies.ts';
import { createEventTeller } from './event-teller.ts';
import { createPurchaseStarter } from './purchases.ts';
import { createRefundStarter } from './refund-starter.ts';
import { createApi } from './server.ts';
import type { EndpointSettings } from './webhook-endpoints.ts';

export interface RunningApi {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  readonly address: string;
  readonly app: FastifyInstance;
  /** Takes no new requests, answers those that are running, then closes what was opened here. */
  stop(): Promise<void>;
}

export interface ApiParts {
  readonly config: Config;
  readonly log: Logger;
  readonly gateways: readonly [GatewayFacts, ...GatewayFacts[]];
  readonly database: Database;
  readonly client: Client;
  /** See `PurchaseStarterOptions.eager`. */
  readonly eager: boolean;
}

/** Serves the API with parts that somebody else opened and will close: the worker's, where both share a process. */
export async function serveApi({ config, log, gateways, database, client, eager }: ApiParts): Promise<RunningApi> {
  const orderChanges = listenForOrderChanges({ url: config.DATABASE_URL, applicationName: 'paidonce-api', log });
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  observeDeliveries(metrics, () => countDeliveries(database));
  const refunds = createRefundStarter({ client, settings: purchaseSettings(config) });
  const purchases = createPurchaseStarter({ client, eager, settings: purchaseSettings(config) });
  const events = createEventTeller(client);
  const app = createApi({
    settings: apiSettings(config),
    database,
    orderChanges,
    gateways,
    purchases,
    refunds,
    events,
    endpoints: endpointSettings(config),
    log,
    metrics,
  });
  const stop = async (): Promise<void> => {
    await app.close();
    await purchases.ended();
    await refunds.ended();
    await events.ended();
    await orderChanges.close();
  };
  try {
    const address = await app.listen({ host: config.API_HOST, port: config.API_PORT });
    return { address, app, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * The API as a process of its own. It comes up while the database or Temporal is away, says so at /readyz, and answers 503 until
 * they are back.
 */
export async function startApiProcess({
  config,
  log,
  gateways,
}: Pick<ApiParts, 'config' | 'log' | 'gateways'>): Promise<RunningApi> {
  const { connection: options, namespace } = readTemporalTarget();
  const connection = Connection.lazy(options);
  const database = createDatabase({
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    applicationName: 'paidonce-api',
    log,
  });
  const closeParts = async (): Promise<void> => {
    await connection.close();
    await database.close();
  };
  try {
    const client = new Client({ connection, namespace });
    const api = await serveApi({ config, log, gateways, database, client, eager: false });
    return {
      ...api,
      stop: async () => {
        await api.stop();
        await closeParts();
      },
    };
  } catch (error) {
    await closeParts();
    throw error;
  }
}

function endpointSettings(config: Config): EndpointSettings {
  const { WEBHOOK_MASTER_SECRET: master } = config;
  return {
    secrets: master === undefined ? null : createEndpointSecrets(master),
    addresses: { allowInternal: config.ALLOW_INTERNAL_WEBHOOKS },
    overlapSeconds: config.WEBHOOK_SECRET_OVERLAP_SECONDS,
  };
}

function apiSettings(config: Config): ApiSettings {
  const previous = config.PAYMENT_TOKEN_SECRET_PREVIOUS;
  return {
    paymentTokenSecrets: [config.PAYMENT_TOKEN_SECRET, ...(previous === undefined ? [] : [previous])],
    paymentTokenSeconds: config.PAYMENT_TOKEN_SECONDS,
    orderExpirySeconds: config.ORDER_EXPIRY_SECONDS,
    publicUrl: config.PUBLIC_URL ?? null,
    payWaitSeconds: config.PAY_WAIT_SECONDS,
    refundApprovalLimits: config.REFUND_APPROVAL_LIMITS ?? {},
  };
}
