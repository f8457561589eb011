import type { ServerResponse } from 'node:http';
import type { DeliveryFault } from './faults.ts';
import { type Reply, sendText } from './exchange.ts';

type Unreadable = (DeliveryFault & { kind: 'unreadable' })['as'];

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const HUGE_BYTES = 2 * 1024 * 1024;

/** Answers with something that looks like success and cannot be read, each in a way that was seen in the wild. */
export function sendUnreadable(response: ServerResponse, as: Unreadable, { status, body }: Reply): void {
  const text = JSON.stringify(body);
  const half = text.slice(0, Math.floor(text.length / 2));
  switch (as) {
    case 'html':
      return sendText(response, status, { 'content-type': 'text/html' }, '<html><body>Please wait while we check your browser.</body></html>');
    case 'empty':
      return sendText(response, status, JSON_TYPE, '');
    case 'truncated':
      return sendText(response, status, JSON_TYPE, half);
    case 'huge':
      return sendText(response, status, JSON_TYPE, JSON.stringify({ ...(body as object), padding: 'x'.repeat(HUGE_BYTES) }));
    case 'cut_off':
      response.writeHead(status, { ...JSON_TYPE, 'content-length': String(Buffer.byteLength(text)) });
      response.write(half, () => response.socket?.destroy());
      return;
    case 'not_http':
      response.socket?.end('approved, have a nice day\r\n\r\n');
  }
}
