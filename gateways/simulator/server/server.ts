import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getAction, postAction } from './action-route.ts';
import { postCharge } from './charge-route.ts';
import { postClose } from './close-route.ts';
import {
  deleteFaults,
  deleteWebhooks,
  getEntries,
  getFaults,
  getLedger,
  getWebhooks,
  type Outage,
  postFault,
  putAccount,
  putWebhooks,
} from './control-route.ts';
import { postDispute } from './dispute-route.ts';
import { type Exchange, Refusal, readExchange, send } from './exchange.ts';
import { endProcess } from './fatal.ts';
import { postFollowUp } from './follow-up-route.ts';
import { getCharge, getCharges } from './inquiry-route.ts';
import { lockLedger } from './ledger-lock.ts';
import { getRefunds, postRefund } from './refund-route.ts';
import { settleRefundInTime } from './refunding.ts';
import { openSimulator, type Simulator } from './simulator.ts';

export interface RunningSimulator {
  /** Such as `http://127.0.0.1:41873`. */
  readonly address: string;
  /** Stops listening, lets requests under way end for a moment, and closes the ledger. */
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
const CLOSING_MS = 1_000;

export interface SimulatorOptions {
  /** By default loopback: its controls and its ledger are open to whoever reaches it. */
  readonly host?: string;
  /** 0 for any free one. */
  readonly port: number;
  readonly ledgerPath: string;
}

/** Starts the gateway's HTTP face. */
export async function startSimulator({
  host = LOOPBACK,
  port,
  ledgerPath,
}: SimulatorOptions): Promise<RunningSimulator> {
  const lock = await lockLedger(ledgerPath);
  const simulator = await openSimulator(ledgerPath);
  for (const refund of simulator.books.refunds.waitingForTime()) settleRefundInTime(simulator, refund);
  const face = createFace(simulator, host);
  const listeningOn = await listen(face.server, host, port);
  face.listensOn(listeningOn);
  return {
    address: `http://${host}:${listeningOn}`,
    close: async () => {
      face.end();
      simulator.webhooks.close();
      await closeServer(face.server);
      await simulator.ledger.close();
      lock.release();
    },
  };
}

interface Face {
  readonly server: Server;
  listensOn(port: number): void;
  /** No outage brings the listener back after this. */
  end(): void;
}

function createFace(simulator: Simulator, host: string): Face {
  const state = { port: 0, ended: false, resetsUntil: 0 };

  const beginOutage = (outage: Outage): void => {
    // Kept connections would carry requests around the outage, so they end with its beginning.
    server.closeIdleConnections();
    if (outage.kind === 'reset_on_connect') {
      state.resetsUntil = Date.now() + outage.for_ms;
      return;
    }
    server.close();
    setTimeout(() => {
      if (!state.ended) server.listen(state.port, host);
    }, outage.for_ms);
  };

  const server = createServer((request, response) => {
    answer({ simulator, beginOutage }, request, response).catch(endProcess);
  });
  // Idle connections are the client's to end: a gateway that closes one while a request is on its way is a fault by itself.
  server.keepAliveTimeout = 65_000;
  server.prependListener('connection', (socket) => {
    if (Date.now() < state.resetsUntil) socket.resetAndDestroy();
  });
  return {
    server,
    listensOn: (port) => {
      state.port = port;
    },
    end: () => {
      state.ended = true;
    },
  };
}

interface Parts {
  readonly simulator: Simulator;
  readonly beginOutage: (outage: Outage) => void;
}

async function answer(parts: Parts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    await route(parts, await readExchange(request, response));
  } catch (error) {
    if (error instanceof Refusal) return send(response, error.reply);
    if (request.destroyed && !request.complete) return;
    throw error;
  }
}

const ACCOUNT = '[a-z][a-z0-9-]{0,63}';
const CHARGES = new RegExp(`^/(${ACCOUNT})/v1/charges$`);
const CHARGE = new RegExp(`^/(${ACCOUNT})/v1/charges/([a-z0-9_]{1,64})$`);
const CLOSE = new RegExp(`^/(${ACCOUNT})/v1/charges/close$`);
const CAPTURES = new RegExp(`^/(${ACCOUNT})/v1/captures$`);
const VOIDS = new RegExp(`^/(${ACCOUNT})/v1/voids$`);
const REFUNDS = new RegExp(`^/(${ACCOUNT})/v1/refunds$`);
const ACTION = /^\/actions\/([a-z0-9_]{1,64})$/;
const ACTION_DONE = /^\/actions\/([a-z0-9_]{1,64})\/(complete|fail)$/;
const CONTROL_ACCOUNT = new RegExp(`^/control/accounts/(${ACCOUNT})$`);
const CONTROL_WEBHOOKS = new RegExp(`^/control/accounts/(${ACCOUNT})/webhooks$`);

type Handler = (parts: Parts, exchange: Exchange, words: readonly string[]) => Promise<void> | void;

/** Every route of the simulator: first the gateway's face, then what only tests, tour and operators may use. */
const ROUTES: readonly (readonly [string, RegExp, Handler])[] = [
  ['POST', CHARGES, authorized(({ simulator }, exchange, [account = '']) => postCharge(simulator, account, exchange))],
  ['GET', CHARGES, authorized(({ simulator }, exchange, [account = '']) => getCharges(simulator, account, exchange))],
  [
    'GET',
    CHARGE,
    authorized(({ simulator }, exchange, [account = '', id = '']) => getCharge(simulator, account, [exchange, id])),
  ],
  ['POST', CLOSE, authorized(({ simulator }, exchange, [account = '']) => postClose(simulator, account, exchange))],
  [
    'POST',
    CAPTURES,
    authorized(({ simulator }, exchange, [account = '']) => postFollowUp(simulator, account, [exchange, 'capture'])),
  ],
  [
    'POST',
    VOIDS,
    authorized(({ simulator }, exchange, [account = '']) => postFollowUp(simulator, account, [exchange, 'void'])),
  ],
  ['POST', REFUNDS, authorized(({ simulator }, exchange, [account = '']) => postRefund(simulator, account, exchange))],
  ['GET', REFUNDS, authorized(({ simulator }, exchange, [account = '']) => getRefunds(simulator, account, exchange))],
  ['POST', /^\/control\/disputes$/, ({ simulator }, exchange) => postDispute(simulator, exchange)],
  ['GET', ACTION, ({ simulator }, exchange, [id = '']) => getAction(simulator, exchange, id)],
  ['POST', ACTION_DONE, ({ simulator }, exchange, [id = '', way = '']) => postAction(simulator, exchange, [id, way])],
  ['PUT', CONTROL_ACCOUNT, ({ simulator }, exchange, [account = '']) => putAccount(simulator, account, exchange)],
  ['PUT', CONTROL_WEBHOOKS, ({ simulator }, exchange, [account = '']) => putWebhooks(simulator, account, exchange)],
  [
    'DELETE',
    CONTROL_WEBHOOKS,
    ({ simulator }, exchange, [account = '']) => deleteWebhooks(simulator, account, exchange),
  ],
  ['GET', /^\/control\/webhooks$/, ({ simulator }, exchange) => getWebhooks(simulator, exchange)],
  [
    'POST',
    /^\/control\/faults$/,
    ({ simulator, beginOutage }, exchange) => postFault(simulator, exchange, beginOutage),
  ],
  ['GET', /^\/control\/faults$/, ({ simulator }, exchange) => getFaults(simulator, exchange)],
  ['DELETE', /^\/control\/faults$/, ({ simulator }, exchange) => deleteFaults(simulator, exchange)],
  ['GET', /^\/ledger$/, ({ simulator }, exchange) => getLedger(simulator, exchange)],
  ['GET', /^\/ledger\/entries$/, ({ simulator }, exchange) => getEntries(simulator, exchange)],
  ['GET', /^\/healthz$/, (_parts, { response }) => send(response, { status: 200, body: { status: 'ok' } })],
];

async function route(parts: Parts, exchange: Exchange): Promise<void> {
  for (const [method, path, handle] of ROUTES) {
    const match = method === exchange.method ? path.exec(exchange.url.pathname) : null;
    if (match !== null) return handle(parts, exchange, match.slice(1));
  }
  throw new Refusal(404, 'route_not_found', { message: 'There is no such route.' });
}

/** Any bearer key will do: no real money is behind it. But a request without one is refused, as everywhere. */
function authorized(handle: Handler): Handler {
  return (parts, exchange, words) => {
    if (!/^Bearer \S+$/.test(exchange.headers.authorization ?? ''))
      throw new Refusal(401, 'credentials_missing', { message: 'Send a bearer key.' });
    return handle(parts, exchange, words);
  };
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const cut = setTimeout(() => server.closeAllConnections(), CLOSING_MS);
  await closed;
  clearTimeout(cut);
}
