import type { ServerResponse } from 'node:http';
import { type Reply, sendText, type TextReply } from './exchange.ts';
import type { DeliveryFault } from './faults.ts';

type Unreadable = (DeliveryFault & { kind: 'unreadable' })['as'];
type WholeUnreadable = Exclude<Unreadable, 'cut_off' | 'not_http'>;

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const HTML = '<html><body>Please wait while we check your browser.</body></html>';
const HUGE_BYTES = 2 * 1024 * 1024;

const BODIES: Readonly<Record<WholeUnreadable, (text: string) => Omit<TextReply, 'status'>>> = {
  html: () => ({ headers: { 'content-type': 'text/html' }, text: HTML }),
  empty: () => ({ headers: JSON_TYPE, text: '' }),
  truncated: (text) => ({ headers: JSON_TYPE, text: halfOf(text) }),
  huge: (text) => ({ headers: JSON_TYPE, text: `${text.slice(0, -1)},"padding":"${'x'.repeat(HUGE_BYTES)}"}` }),
};

/** Answers with something that looks like success and cannot be read, each in a way that was seen in the wild. */
export function sendUnreadable(response: ServerResponse, as: Unreadable, { status, body }: Reply): void {
  const text = JSON.stringify(body);
  if (as === 'cut_off') {
    response.writeHead(status, { ...JSON_TYPE, 'content-length': String(Buffer.byteLength(text)) });
    response.write(halfOf(text), () => response.socket?.destroy());
  } else if (as === 'not_http') {
    response.socket?.end('approved, have a nice day\r\n\r\n');
  } else {
    sendText(response, { status, ...BODIES[as](text) });
  }
}

function halfOf(text: string): string {
  return text.slice(0, Math.floor(text.length / 2));
}
