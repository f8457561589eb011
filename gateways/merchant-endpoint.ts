import { lookup as lookupByDns } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import type { EndpointAnswer } from '../domain/delivery.ts';

/** One event on its way out. */
export interface EndpointCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface EndpointClient {
  /** Sends once and never throws. No redirect is followed. */
  send(call: EndpointCall): Promise<EndpointAnswer>;
  close(): Promise<void>;
}

export interface EndpointClientOptions {
  /** Says of an IP address whether it must not be talked to. */
  readonly isForbidden: (address: string) => boolean;
  readonly timeoutMs?: number;
  /** How names are looked up; for tests of a name that changes its address. */
  readonly lookup?: LookupFunction;
}

const TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** What is kept of an answer, to be read by a person; the status alone decides, so the rest is not even waited for. */
const ANSWER_BYTES_MAX = 2_048;
const ANSWER_TIMEOUT_MS = 2_000;
const IDLE_CONNECTION_MS = 1_500;

const FORBIDDEN = 'ERR_ADDRESS_FORBIDDEN';

class ForbiddenAddress extends Error {
  readonly code = FORBIDDEN;
}

/**
 * The HTTP client for merchants' endpoints, whose addresses come from outside. The address is judged where it is used: when a
 * name is looked up for the connection, and once more on the connected socket before a byte of HTTP is written, so that a name
 * that stood for a public address when the endpoint was added cannot lead inside now.
 */
export function createEndpointClient(options: EndpointClientOptions): EndpointClient {
  const agent = new Agent({
    connect: guardedConnector(options),
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveMaxTimeout: IDLE_CONNECTION_MS,
    maxHeaderSize: 16 * 1_024,
    pipelining: 1,
  });
  return {
    send: (call) => send(agent, call, options),
    close: () => agent.destroy(),
  };
}

function guardedConnector({ isForbidden, lookup = lookupByDns }: EndpointClientOptions): buildConnector.connector {
  const guardedLookup: LookupFunction = (hostname, lookupOptions, done) => {
    lookup(hostname, lookupOptions, (error, found, family) => {
      if (error !== null) return done(error, found, family);
      const addresses = typeof found === 'string' ? [found] : found.map(({ address }) => address);
      if (addresses.some(isForbidden)) return done(new ForbiddenAddress('its name stands for an internal address'), '');
      return done(null, found, family);
    });
  };
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: guardedLookup });
  return (target, done) => {
    connect(target, (error, socket) => {
      if (error !== null) return done(error, null);
      if (!isForbidden(socket.remoteAddress ?? '')) return done(null, socket);
      socket.destroy();
      return done(new ForbiddenAddress('it is an internal address'), null);
    });
  };
}

async function send(agent: Agent, call: EndpointCall, options: EndpointClientOptions): Promise<EndpointAnswer> {
  const { isForbidden, timeoutMs = TIMEOUT_MS } = options;
  const host = new URL(call.url).hostname.replace(/^\[(.*)\]$/, '$1');
  // No name, no look-up: this one is judged before a connection is even tried.
  if (isIP(host) !== 0 && isForbidden(host)) return { kind: 'points_inward', reason: 'it is an internal address' };
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const { statusCode, body } = await request(call.url, {
      dispatcher: agent,
      method: 'POST',
      headers: { ...call.headers },
      body: call.body,
      signal: timeout,
      headersTimeout: timeoutMs,
      bodyTimeout: ANSWER_TIMEOUT_MS,
    });
    return { kind: 'answered', status: statusCode, text: await readBeginning(body) };
  } catch (error) {
    if (codeOf(error) === FORBIDDEN) return { kind: 'points_inward', reason: messageOf(error) };
    return { kind: 'no_answer', reason: timeout.aborted ? `No answer within ${timeoutMs} ms` : messageOf(error) };
  }
}

/** The answer counts from its status on; a body that never ends, or breaks, changes nothing any more. */
async function readBeginning(body: AsyncIterable<unknown> & { destroy(): unknown }): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => body.destroy(), ANSWER_TIMEOUT_MS);
  try {
    for await (const chunk of body) {
      if (!Buffer.isBuffer(chunk)) break;
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= ANSWER_BYTES_MAX) break;
    }
  } catch {
    // What came until then is what can be told.
  } finally {
    clearTimeout(timer);
    body.destroy();
  }
  return printable(Buffer.concat(chunks).subarray(0, ANSWER_BYTES_MAX).toString('utf8'));
}

/** Postgres takes no NUL, and a log no line of somebody else's. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cs}\uFFFD\s]+/gu, ' ').trim();
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the request failed';
  return printable([codeOf(error), error.message].filter((part) => part !== undefined && part !== '').join(': '));
}
