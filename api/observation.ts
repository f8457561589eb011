import type { FastifyInstance } from 'fastify';
import { Counter, Histogram, type Registry } from 'prom-client';

/** From a plain read to the longest wait of a `pay`. */
const DURATION_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export interface PayMetrics {
  /** `already_final`: no call to Temporal was needed; `joined`: the attempt was there; else what Temporal said. */
  count(way: 'already_final' | 'joined' | 'started' | 'attached' | 'over'): void;
}

export function createPayMetrics(registry: Registry): PayMetrics {
  const counter = new Counter({
    name: 'paidonce_pay_requests_total',
    help: 'Calls of pay, by how their attempt was reached.',
    labelNames: ['way'],
    registers: [registry],
  });
  return { count: (way) => counter.inc({ way }) };
}

/**
 * One log line and one measurement a request. They name the route's pattern and never the address as it came: that, like
 * bodies and headers, may hold what must not be kept.
 */
export function observeRequests(app: FastifyInstance, registry: Registry): void {
  const durations = new Histogram({
    name: 'paidonce_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  });
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown';
    durations.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1_000);
    const line = {
      method: request.method,
      route,
      status: reply.statusCode,
      code: request.problemCode ?? undefined,
      api_key_id: request.apiKey?.id,
      order_id: orderIdOf(request.params),
      duration_ms: Math.round(reply.elapsedTime),
    };
    if (reply.statusCode >= 500) request.log.error(line, 'request');
    else request.log.info(line, 'request');
  });
}

const ORDER_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function orderIdOf(params: unknown): string | undefined {
  const id = typeof params === 'object' && params !== null && 'id' in params ? params.id : undefined;
  return typeof id === 'string' && ORDER_ID.test(id) ? id : undefined;
}
