import { Agent, type Dispatcher } from 'undici';

/** One request to a gateway. `body` is undefined for a question. */
export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The whole call, from connecting to the last byte of the answer. */
  readonly timeoutMs: number;
  /** For answers that are whole books and not one charge. */
  readonly answerBytesMax?: number;
}

/**
 * What came of a call. `answered`: a whole HTTP answer is here, whatever its status. `failed` with `sent: false`: it is
 * certain that no byte of the request left this machine. `failed` with `sent: true`: the gateway may have acted on it.
 */
export type HttpResult =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  | { readonly kind: 'failed'; readonly sent: boolean; readonly code: string; readonly reason: string };

export interface HttpClient {
  call(call: HttpCall): Promise<HttpResult>;
}

/** No honest answer about one charge is larger; a gateway (or what sits in its place) must not fill our memory. */
const ANSWER_BYTES_MAX = 256 * 1024;
const HEADER_BYTES_MAX = 32 * 1024;
const CONNECT_TIMEOUT_MS = 5_000;
/**
 * Connections are kept, because a TLS handshake for each charge would cost more than the charge. A kept connection can be
 * closed by the gateway at the very moment we write to it; undici then fails the call without repeating it, and we count it
 * as sent: safe, but an inquiry for nothing. So an idle connection is given up after 1.5 s, long before gateways and load
 * balancers do (5 s and more), and sooner where the gateway's Keep-Alive header announces less.
 */
const IDLE_CONNECTION_MS = 1_500;
/** undici's own time-outs are coarse (up to half a second late), so they stand behind our timer, not in its place. */
const BACKSTOP_MS = 1_000;

/**
 * One gateway account's HTTP client. Connections are not limited in number: a gateway that answers slowly must not make
 * another order's charge wait in a queue. It never repeats a request and never follows a redirect.
 */
export function createHttpClient(): HttpClient {
  const agent = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveMaxTimeout: IDLE_CONNECTION_MS,
    keepAliveTimeoutThreshold: 1_000,
    // A second request behind an unanswered one would share its fate when the connection breaks.
    pipelining: 1,
    maxHeaderSize: HEADER_BYTES_MAX,
  });
  return { call: (call) => new Promise((resolve) => dispatch(agent, call, resolve)) };
}

/**
 * Uses undici's lowest door, because only there can be seen whether a request was started: the code of an error says
 * little (ECONNRESET happens before and after). `onRequestStart` is called when a connection stands (TLS included) and
 * immediately before the first byte is written; it is the line between "certainly not sent" and "perhaps".
 */
function dispatch(agent: Agent, call: HttpCall, resolve: (result: HttpResult) => void): void {
  const answer = {
    sent: false,
    over: false,
    status: 0,
    headers: {} as Record<string, string>,
    chunks: [] as Buffer[],
    bytes: 0,
  };
  let started: Dispatcher.DispatchController | undefined;

  const finish = (result: HttpResult): void => {
    if (answer.over) return;
    answer.over = true;
    clearTimeout(timer);
    resolve(result);
  };
  const fail = (code: string, reason: string): void => {
    finish({ kind: 'failed', sent: answer.sent, code, reason });
    started?.abort(new Error(reason));
  };
  const bytesMax = call.answerBytesMax ?? ANSWER_BYTES_MAX;
  const timer = setTimeout(() => fail('timeout', `no whole answer within ${call.timeoutMs} ms`), call.timeoutMs);

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(controller) {
      started = controller;
      // The verdict "not sent" may already have been given; from then on nothing may leave.
      if (answer.over) controller.abort(new Error('the call was given up before it was sent'));
      else answer.sent = true;
    },
    onResponseStart(_controller, status, headers) {
      answer.status = status;
      for (const [name, value] of Object.entries(headers)) answer.headers[name.toLowerCase()] = String(value ?? '');
    },
    onResponseData(_controller, chunk) {
      answer.bytes += chunk.length;
      if (answer.bytes > bytesMax) fail('answer_too_large', `the answer is larger than ${bytesMax} bytes`);
      else answer.chunks.push(chunk);
    },
    onResponseEnd() {
      const { status, headers } = answer;
      finish({ kind: 'answered', status, headers, body: Buffer.concat(answer.chunks).toString('utf8') });
    },
    onResponseError(_controller, error) {
      fail(codeOf(error), error.message);
    },
  };
  try {
    agent.dispatch(optionsFor(call), handler);
  } catch (error) {
    fail(codeOf(error), error instanceof Error ? error.message : 'the request could not be made');
  }
}

function optionsFor({ method, url, headers, body, timeoutMs }: HttpCall): Dispatcher.DispatchOptions {
  const { origin, pathname, search } = new URL(url);
  return {
    origin,
    path: `${pathname}${search}`,
    method,
    headers: { ...headers },
    body: body ?? null,
    headersTimeout: timeoutMs + BACKSTOP_MS,
    bodyTimeout: timeoutMs + BACKSTOP_MS,
  };
}

/** Node and undici put a string `code` on their errors; an AggregateError of several addresses carries it too. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'unclear';
}
