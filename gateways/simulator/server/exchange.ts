import type { IncomingMessage, ServerResponse } from 'node:http';

/** An answer in the making: everything but how it travels. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that has been read, and the ways to answer it. */
export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly response: ServerResponse;
}

/** Ends a request with a status, a code of the gateway's API and a sentence, from however deep. */
export class Refusal extends Error {
  readonly reply: Reply;

  constructor(status: number, code: string, { message, field }: { message: string; field?: string }) {
    super(message);
    this.name = 'Refusal';
    this.reply = { status, body: { error: { code, message, ...(field === undefined ? {} : { field }) } } };
  }
}

const REQUEST_BYTES_MAX = 64 * 1024;

/** Reads a request whole. @throws Refusal 413 for more than 64 kB. */
export async function readExchange(request: IncomingMessage, response: ServerResponse): Promise<Exchange> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= REQUEST_BYTES_MAX) chunks.push(chunk);
  }
  if (bytes > REQUEST_BYTES_MAX)
    throw new Refusal(413, 'body_too_large', { message: 'A request may have 65536 bytes.' });
  return {
    method: request.method ?? 'GET',
    url: readUrl(request.url ?? '/'),
    headers: request.headers,
    body: Buffer.concat(chunks).toString('utf8'),
    response,
  };
}

function readUrl(path: string): URL {
  try {
    return new URL(`http://simulator${path}`);
  } catch {
    throw new Refusal(400, 'url_malformed', { message: 'The address of the request cannot be read.' });
  }
}

/** @throws Refusal 400 when the body is not JSON. */
export function readJson({ body }: Exchange): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    throw new Refusal(400, 'body_malformed', { message: 'The body must be JSON.' });
  }
}

/** The address that the caller used; behind it the customer's pages are reachable too. */
export function originOf({ headers }: Exchange): string {
  return `http://${headers.host ?? '127.0.0.1'}`;
}

export function send(response: ServerResponse, { status, body, headers = {} }: Reply): void {
  const type = { 'content-type': 'application/json; charset=utf-8' };
  sendText(response, { status, headers: { ...type, ...headers }, text: `${JSON.stringify(body)}\n` });
}

export interface TextReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export function sendText(response: ServerResponse, { status, headers, text }: TextReply): void {
  if (response.destroyed) return;
  response.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(text)) });
  response.end(text);
}

/** Cuts the connection with a TCP reset, as a crashed peer or an angry middlebox does. */
export function reset({ socket }: ServerResponse): void {
  socket?.resetAndDestroy();
}
