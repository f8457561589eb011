import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Registry } from 'prom-client';

type Stage = 'starting' | 'working' | 'stopping';

/** What a worker, which serves nobody else, tells those who watch over it. */
export interface WorkerHealth {
  /** Where it listens, such as `http://127.0.0.1:9090`. */
  readonly address: string;
  /** What is served at `/metrics`. */
  readonly metrics: Registry;
  enter(stage: Stage): void;
  close(): Promise<void>;
}

/**
 * Answers GET `/healthz` (the process is alive), `/readyz` (200 while it takes work, 503 before and after) and `/metrics`.
 * Readiness does not look at Temporal or Postgres: a worker that waits for one of them must not be replaced by another
 * that would wait as well.
 */
export async function serveWorkerHealth({ host, port }: { host: string; port: number }): Promise<WorkerHealth> {
  let stage: Stage = 'starting';
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const server = createServer((request, response) => {
    if (request.method !== 'GET') return answer(response, 405, { status: 'only GET' });
    if (request.url === '/healthz') return answer(response, 200, { status: 'ok' });
    if (request.url === '/readyz') return answer(response, stage === 'working' ? 200 : 503, { status: stage });
    if (request.url === '/metrics') return void sendMetrics(response, metrics);
    return answer(response, 404, { status: 'unknown path' });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { address, port: bound } = server.address() as AddressInfo;
  return {
    address: `http://${address.includes(':') ? `[${address}]` : address}:${bound}`,
    metrics,
    enter: (next) => {
      stage = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, status: number, body: { readonly status: string }): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function sendMetrics(response: ServerResponse, metrics: Registry): Promise<void> {
  const text = await metrics.metrics();
  response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
}
