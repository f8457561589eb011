import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpClient, type HttpResult } from '../../gateways/http.ts';

/** What a broken peer does with a connection. `seen` counts the requests that reached it. */
type Behaviour = (socket: Socket, peer: Peer) => void;

interface Peer {
  readonly url: string;
  requests: number;
  connections: number;
  readonly server: Server;
}

const open: Server[] = [];

async function startPeer(behaviour: Behaviour): Promise<Peer> {
  const server = createServer();
  const peer: Peer = { url: '', requests: 0, connections: 0, server };
  server.on('connection', (socket) => {
    peer.connections += 1;
    socket.on('error', () => undefined);
    behaviour(socket, peer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(server);
  return Object.assign(peer, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

/** Calls `act` when a whole request is there (our bodies are short and end the request). */
function onRequest(act: (socket: Socket) => void): Behaviour {
  return (socket, peer) => {
    socket.on('data', (chunk) => {
      if (!chunk.toString().includes('{"pay":1}')) return;
      peer.requests += 1;
      act(socket);
    });
  };
}

const reply =
  (text: string) =>
  (socket: Socket): void => {
    socket.write(text);
  };

function post(url: string, timeoutMs = 2_000): Promise<HttpResult> {
  return createHttpClient().call({ method: 'POST', url, headers: {}, body: '{"pay":1}', timeoutMs });
}

describe('a call that did not leave', () => {
  it('knows a refused connection', async () => {
    const peer = await startPeer(() => undefined);
    peer.server.close();
    expect(await post(peer.url)).toMatchObject({ kind: 'failed', sent: false, code: 'ECONNREFUSED' });
  });

  it('knows a name that does not resolve', async () => {
    expect(await post('http://gateway.invalid/')).toMatchObject({ kind: 'failed', sent: false });
  });

  it('gives up at its own time while a TLS handshake hangs, and sends nothing afterwards', async () => {
    let bytes = '';
    const peer = await startPeer((socket) => socket.on('data', (chunk) => (bytes += chunk.toString('latin1'))));
    const started = Date.now();
    const result = await post(peer.url.replace('http:', 'https:'), 300);
    expect(result).toMatchObject({ kind: 'failed', sent: false, code: 'timeout' });
    expect(Date.now() - started).toBeLessThan(1_000);
    expect(bytes).not.toContain('pay');
  });

  it('sends nothing once it has said so, even when the connection stands a moment later', async () => {
    const peer = await startPeer(onRequest(reply('HTTP/1.1 204 No Content\r\n\r\n')));
    const http = createHttpClient();
    const call = { method: 'POST', url: peer.url, headers: {}, body: '{"pay":1}', timeoutMs: 5 } as const;
    // The process stands still: its timer is due, and comes first, before it hears that it is connected.
    await setImmediate();
    const pending = http.call(call);
    const until = Date.now() + 50;
    while (Date.now() < until);
    expect(await pending).toMatchObject({ kind: 'failed', sent: false, code: 'timeout' });
    await expect.poll(() => peer.connections).toBe(1);
    await http.call({ ...call, timeoutMs: 5_000 });
    expect(peer.requests).toBe(1);
  });

  it('knows a request that cannot be made at all', async () => {
    expect(await post('not an address')).toMatchObject({ kind: 'failed', sent: false });
    const http = createHttpClient();
    const headers = { 'idempotency-key': 'two\r\nlines' };
    const peer = await startPeer(() => undefined);
    const result = await http.call({ method: 'POST', url: peer.url, headers, body: '{"pay":1}', timeoutMs: 500 });
    expect(result).toMatchObject({ kind: 'failed', sent: false });
    expect(peer.requests).toBe(0);
  });
});

describe('a call that may have arrived', () => {
  const OK = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
  const faults: Readonly<Record<string, Behaviour>> = {
    'end of the connection after the request': onRequest((socket) => socket.end()),
    'reset after the request': onRequest((socket) => socket.resetAndDestroy()),
    'no answer': onRequest(() => undefined),
    'headers and then nothing': onRequest(reply(`${OK}content-length: 10\r\n\r\n`)),
    'half a body, then the end': onRequest((socket) => socket.end(`${OK}content-length: 10\r\n\r\n{"a"`)),
    'something that is not HTTP': onRequest(reply('hello\r\n\r\n')),
    'an informational answer only': onRequest(reply('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n')),
    'a body without an end': onRequest((socket) => {
      const more = (): void => {
        if (!socket.destroyed) socket.write('x'.repeat(64 * 1024), more);
      };
      socket.write(`${OK}\r\n`, more);
    }),
    'headers without an end': onRequest(reply(`${OK}x-long: ${'x'.repeat(64 * 1024)}\r\n\r\n`)),
  };

  it.each(Object.entries(faults))('counts as sent after %s, in time and without a repeat', async (_name, behaviour) => {
    const peer = await startPeer(behaviour);
    const started = Date.now();
    expect(await post(peer.url, 700)).toMatchObject({ kind: 'failed', sent: true });
    expect(Date.now() - started).toBeLessThan(1_500);
    expect(peer.requests).toBe(1);
  });

  it('says why an endless or oversized answer was not taken', async () => {
    const peer = await startPeer(onRequest(reply(`${OK}content-length: 300000\r\n\r\n${'x'.repeat(300_000)}`)));
    expect(await post(peer.url)).toMatchObject({ kind: 'failed', sent: true, code: 'answer_too_large' });
  });
});

describe('an answer', () => {
  it('is handed over whole, whatever its status', async () => {
    const answer = 'HTTP/1.1 503 Service Unavailable\r\nX-PAYW: A\r\ncontent-length: 7\r\n\r\nma\u00f1ana';
    const peer = await startPeer(onRequest((socket) => socket.end(answer)));
    const result = await post(peer.url);
    expect(result).toEqual({
      kind: 'answered',
      status: 503,
      headers: { 'x-payw': 'A', 'content-length': '7' },
      body: 'ma\u00f1ana',
    });
  });

  it('that points elsewhere is not followed', async () => {
    const elsewhere = await startPeer(onRequest(() => undefined));
    const redirect = `HTTP/1.1 307 Temporary Redirect\r\nlocation: ${elsewhere.url}\r\ncontent-length: 0\r\n\r\n`;
    const peer = await startPeer(onRequest(reply(redirect)));
    expect(await post(peer.url)).toMatchObject({ kind: 'answered', status: 307 });
    expect(elsewhere.connections).toBe(0);
  });
});

describe('kept connections', () => {
  const EMPTY = 'HTTP/1.1 204 No Content\r\n\r\n';

  it('are used again, one request at a time', async () => {
    const peer = await startPeer(onRequest(reply(EMPTY)));
    const http = createHttpClient();
    const call = { method: 'POST', url: peer.url, headers: {}, body: '{"pay":1}', timeoutMs: 2_000 } as const;
    for (let round = 0; round < 5; round += 1) {
      await http.call(call);
      await setImmediate();
    }
    expect(peer).toMatchObject({ requests: 5, connections: 1 });
    await Promise.all(Array.from({ length: 4 }, () => http.call(call)));
    expect(peer).toMatchObject({ requests: 9, connections: 4 });
  });

  it('that the gateway drops under our hands fail as sent and are not repeated', async () => {
    let answers = true;
    const peer = await startPeer((socket, self) => {
      onRequest(() => (answers ? socket.write(EMPTY) : socket.destroy()))(socket, self);
    });
    const http = createHttpClient();
    const call = { method: 'POST', url: peer.url, headers: {}, body: '{"pay":1}', timeoutMs: 2_000 } as const;
    await http.call(call);
    await setImmediate();
    answers = false;
    expect(await http.call(call)).toMatchObject({ kind: 'failed', sent: true });
    expect(peer).toMatchObject({ requests: 2, connections: 1 });
  });

  it('are given up soon when idle, before the gateway would do it', async () => {
    const closed: number[] = [];
    const peer = await startPeer((socket, self) => {
      socket.on('close', () => closed.push(Date.now()));
      onRequest(reply(EMPTY))(socket, self);
    });
    await post(peer.url);
    const idleSince = Date.now();
    await expect.poll(() => closed.length, { timeout: 5_000 }).toBe(1);
    expect(closed[0]! - idleSince).toBeLessThan(4_000);
  });
});
