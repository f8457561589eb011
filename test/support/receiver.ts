import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { readSigningSecret, verifyStandardWebhook } from '../../gateways/standard-webhooks.ts';

export interface ReceivedEvent {
  /** The `webhook-id`, by which a receiver drops what it has already. */
  readonly id: string;
  readonly kind: string;
  readonly sequence: number;
  readonly orderId: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Whether the secret that this receiver knows signed it. */
  readonly genuine: boolean;
}

export type Behaviour = (response: ServerResponse, event: ReceivedEvent) => void;

export interface Receiver {
  readonly url: string;
  readonly received: ReceivedEvent[];
  /** What a receiver that keeps to the rules carries out: each genuine event once. */
  fulfilled(): string[];
  /** What the next requests are answered with; afterwards all are accepted. */
  behave(...behaviours: readonly Behaviour[]): void;
  /** Which secret it believes. */
  trust(secret: string): void;
}

export const accept: Behaviour = (response) => void response.writeHead(204).end();
export const answer =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    void response.writeHead(status, headers).end(`status ${status}`);
/** The event is taken, and the merchant's own proxy says otherwise. */
export const breakOff: Behaviour = (response) => void response.destroy();
export const staySilent: Behaviour = () => undefined;

/** A merchant's endpoint: a real HTTP server that verifies what it is told and keeps it all. */
export async function startReceiver(): Promise<Receiver> {
  const received: ReceivedEvent[] = [];
  const planned: Behaviour[] = [];
  let secret = '';
  const server = createServer((request, response) => {
    void readEvent(request, secret).then((event) => {
      received.push(event);
      (planned.shift() ?? accept)(response, event);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    received,
    fulfilled: () => {
      const ids = new Set<string>();
      const isNew = ({ id, genuine }: ReceivedEvent): boolean => genuine && !ids.has(id) && Boolean(ids.add(id));
      return received.filter(isNew).map(({ kind, orderId }) => `${kind} ${orderId}`);
    },
    behave: (...behaviours) => void planned.push(...behaviours),
    trust: (text) => {
      secret = text;
    },
  };
}

async function readEvent(request: IncomingMessage, secret: string): Promise<ReceivedEvent> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const headers = Object.fromEntries(Object.entries(request.headersDistinct).map(([name, all]) => [name, all ?? []]));
  const secrets = secret === '' ? [] : [readSigningSecret(secret, 'the test')];
  const verdict = verifyStandardWebhook(headers, body, { secrets, now: new Date() });
  const { type, sequence, data } = JSON.parse(body.toString('utf8')) as {
    type: string;
    sequence: number;
    data: Record<string, unknown>;
  };
  const id = headers['webhook-id']?.[0] ?? '';
  return { id, kind: type, sequence, orderId: String(data.order_id), data, genuine: verdict.kind === 'genuine' };
}
