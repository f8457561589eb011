import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { nodeProgram } from '../../embedded/processes.ts';
import { createEndpointClient, type EndpointClientOptions } from '../../gateways/merchant-endpoint.ts';
import { createEndpointSecrets } from '../../process/endpoint-secrets.ts';
import { isInward } from '../../process/inward-addresses.ts';
import type { Database } from '../../store/database.ts';
import { listDeliveries } from '../../store/deliveries/deliveries.ts';
import { insertOutboxEvent, type OutboxEventKind } from '../../store/deliveries/outbox-events.ts';
import { replayEvents } from '../../store/deliveries/replays.ts';
import { findEndpoint, insertEndpoint, rotateSecret } from '../../store/deliveries/webhook-endpoints.ts';
import { type DeliverySettings, startDeliveries } from '../../worker/deliveries.ts';
import { createTestDatabase } from '../support/database.ts';
import { accept, answer, breakOff, type Receiver, startReceiver, staySilent } from '../support/receiver.ts';
import { storeOrder } from '../support/rows.ts';

/** A merchant's endpoint is a real HTTP server here, the rows are in a real Postgres, and the loop is the worker's own. */
const MASTER_SECRET = 'a master secret of at least thirty-two characters';
const secrets = createEndpointSecrets(MASTER_SECRET);
const QUIET = { info: () => undefined, warn: () => undefined, error: () => undefined };
/** Pauses of the schedule are days; the tests make rows due by hand instead. */
const WITHIN = { timeout: 15_000, interval: 20 };

interface Shop {
  readonly database: Database;
  readonly databaseUrl: string;
  readonly endpointId: string;
  readonly receiver: Receiver;
  tell(kind?: OutboxEventKind, orderId?: string): Promise<string>;
  deliver(client?: Partial<EndpointClientOptions>, settings?: Partial<DeliverySettings>): { stop(): Promise<void> };
  /** Makes whatever waits for its next try due now. */
  skipPauses(): Promise<void>;
  states(): Promise<string[]>;
}

async function openShop(url?: string): Promise<Shop> {
  const { database, url: databaseUrl } = await createTestDatabase();
  const receiver = await startReceiver();
  const endpointId = crypto.randomUUID();
  const secret = secrets.secretFor(endpointId, 1);
  receiver.trust(secret.text);
  await insertEndpoint(database, {
    ...{ id: endpointId, url: url ?? receiver.url, eventKinds: null },
    ...{ secretHash: secret.hash, createdAt: new Date().toISOString() },
  });
  return {
    ...{ database, databaseUrl, endpointId, receiver },
    tell: async (kind = 'order.paid', given) => {
      const orderId = given ?? (await storeOrder(database));
      await insertOutboxEvent(database, { orderId, attemptNumber: 1, kind, now: new Date().toISOString() });
      return orderId;
    },
    deliver: (client = {}, settings = {}) => startLoop(database, client, settings),
    skipPauses: async () => {
      await database.query(`update deliveries set next_try_at = now() where status = 'pending' and lease is null`);
    },
    states: async () => {
      const { rows } = await database.query<{ state: string }>(
        `select case when lease is null then status || ' after ' || tries else 'under way' end as state
         from deliveries order by event_id`,
      );
      return rows.map(({ state }) => state);
    },
  };
}

function startLoop(
  database: Database,
  client: Partial<EndpointClientOptions>,
  settings: Partial<DeliverySettings>,
): { stop(): Promise<void> } {
  const endpoints = createEndpointClient({ isForbidden: () => false, timeoutMs: 500, ...client });
  const running = startDeliveries({
    ...{ database, secrets, endpoints, log: QUIET },
    settings: { idlePauseMs: 20, leaseMs: 5_000, ...settings },
  });
  const stop = async (): Promise<void> => {
    await running.stop();
    await endpoints.close();
  };
  onTestFinished(stop);
  return { stop };
}

describe('an event', () => {
  test('reaches the endpoint signed, with the order, the amount and its number, and is marked', async () => {
    const shop = await openShop();
    const orderId = await shop.tell();
    shop.deliver();
    await vi.waitFor(async () => expect(await shop.states()).toEqual(['delivered after 1']), WITHIN);
    expect(shop.receiver.received).toMatchObject([
      { kind: 'order.paid', orderId, sequence: 1, genuine: true, data: { amount: { minor_units: 1_999 } } },
    ]);
  });

  test('C21: accepted and then answered with 500, is told again under its id, and fulfilled once', async () => {
    const shop = await openShop();
    const orderId = await shop.tell();
    shop.receiver.behave(answer(500), breakOff, accept);
    shop.deliver();
    await vi.waitFor(async () => expect(await shop.states()).toEqual(['pending after 1']), WITHIN);
    await shop.skipPauses();
    await vi.waitFor(async () => expect(await shop.states()).toEqual(['pending after 2']), WITHIN);
    await shop.skipPauses();
    await vi.waitFor(async () => expect(await shop.states()).toEqual(['delivered after 3']), WITHIN);
    expect(new Set(shop.receiver.received.map(({ id }) => id)).size).toBe(1);
    expect(shop.receiver.received).toHaveLength(3);
    expect(shop.receiver.fulfilled()).toEqual([`order.paid ${orderId}`]);
  });

  test('F25: a receiver that never answers holds up one call and not the others', async () => {
    const shop = await openShop();
    const slow = await shop.tell();
    shop.receiver.behave(staySilent);
    shop.deliver();
    await vi.waitFor(() => expect(shop.receiver.received).toHaveLength(1), WITHIN);
    const quick = await shop.tell();
    await vi.waitFor(() => expect(shop.receiver.received).toHaveLength(2), WITHIN);
    expect(shop.receiver.received.map(({ orderId }) => orderId)).toEqual([slow, quick]);
    await vi.waitFor(async () => expect(await shop.states()).toEqual(['pending after 1', 'delivered after 1']), WITHIN);
    const rows = await listDeliveries(shop.database, { endpointId: shop.endpointId, status: 'pending', limit: 1 });
    expect(rows[0]?.lastAnswer).toBe('No answer within 500 ms');
  });

  test('of an order is told after the earlier ones of that order', async () => {
    const shop = await openShop();
    const orderId = await shop.tell('order.failed');
    await shop.tell('order.paid', orderId);
    shop.receiver.behave(answer(503));
    shop.deliver();
    await vi.waitFor(() => expect(shop.receiver.received).toHaveLength(1), WITHIN);
    await pause(200);
    expect(shop.receiver.received).toHaveLength(1);
    await shop.skipPauses();
    await vi.waitFor(() => expect(shop.receiver.received).toHaveLength(3), WITHIN);
    expect(shop.receiver.received.map(({ sequence }) => sequence)).toEqual([1, 1, 2]);
  });

  test('is not carried along a redirect, and what an answer holds is kept only in part', async () => {
    const shop = await openShop();
    const other = await startReceiver();
    await shop.tell();
    shop.receiver.behave((response) => {
      response.writeHead(307, { location: other.url });
      response.end(`moved\u0000 ${'x'.repeat(100_000)}`);
    });
    shop.deliver();
    await vi.waitFor(async () => expect(await shop.states()).toEqual(['pending after 1']), WITHIN);
    const [row] = await listDeliveries(shop.database, { endpointId: shop.endpointId, status: null, limit: 1 });
    expect(row?.lastAnswer).toMatch(/^307 moved x+$/);
    expect(row?.lastAnswer?.length).toBe(500);
    expect(other.received).toEqual([]);
  });

  test('is not told any more once the endpoint says that it is gone', async () => {
    const shop = await openShop();
    await shop.tell();
    shop.receiver.behave(answer(410));
    shop.deliver();
    await vi.waitFor(async () => expect(await shop.states()).toEqual(['parked after 1']), WITHIN);
    await vi.waitFor(async () => {
      const endpoint = await findEndpoint(shop.database, shop.endpointId);
      expect(endpoint?.disabledReason).toMatch('410');
    }, WITHIN);
    await shop.tell();
    expect(await shop.states()).toEqual(['parked after 1']);
  });

  test('is parked after three days, and told once more when it is replayed', async () => {
    const shop = await openShop();
    await shop.tell();
    await shop.database.query(`update deliveries set tries_since = now() - interval '72 hours'`);
    shop.receiver.behave(answer(500));
    const first = shop.deliver();
    await vi.waitFor(async () => expect(await shop.states()).toEqual(['parked after 1']), WITHIN);
    await first.stop();
    const id = shop.receiver.received[0]!.id;
    const now = new Date().toISOString();
    expect(await replayEvents(shop.database, { endpointId: shop.endpointId, replay: { eventId: id }, now })).toBe(1);
    shop.deliver();
    await vi.waitFor(async () => expect(await shop.states()).toEqual(['delivered after 1']), WITHIN);
    expect(shop.receiver.received.map((event) => event.id)).toEqual([id, id]);
  });
});

const DYING_SENDER = new URL('../support/dying-sender.ts', import.meta.url);

describe('P9, C21: a process killed between the answer and the mark', () => {
  test('leaves the event to another one, which tells it again under its id; the receiver fulfils once', async () => {
    const shop = await openShop();
    const orderId = await shop.tell();
    const { command, parameters } = nodeProgram(DYING_SENDER);
    const plan = { databaseUrl: shop.databaseUrl, masterSecret: MASTER_SECRET, leaseMs: 3_000 };
    const child = spawn(command, parameters, {
      env: { ...process.env, DYING_SENDER_PLAN: JSON.stringify(plan) },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    expect(signal).toBe('SIGKILL');
    expect(shop.receiver.received).toHaveLength(1);
    expect(await shop.states()).toEqual(['under way']);
    shop.deliver();
    await vi.waitFor(async () => expect(await shop.states()).toEqual(['delivered after 2']), WITHIN);
    expect(shop.receiver.received).toHaveLength(2);
    expect(new Set(shop.receiver.received.map(({ id }) => id)).size).toBe(1);
    expect(shop.receiver.fulfilled()).toEqual([`order.paid ${orderId}`]);
  });
});

describe('a secret that is changed', () => {
  test('signs beside the new one for a while, so that both kinds of receivers believe; then the new one alone', async () => {
    const shop = await openShop();
    const next = secrets.secretFor(shop.endpointId, 2);
    const rotateUntil = (previousUntil: string, generation: number) =>
      rotateSecret(
        shop.database,
        { id: shop.endpointId, secretGeneration: generation },
        { secretHash: next.hash, previousUntil },
      );
    await rotateUntil(new Date(Date.now() + 60_000).toISOString(), 1);
    shop.deliver();
    await shop.tell();
    await vi.waitFor(() => expect(shop.receiver.received).toHaveLength(1), WITHIN);
    shop.receiver.trust(next.text);
    await shop.tell();
    await vi.waitFor(() => expect(shop.receiver.received).toHaveLength(2), WITHIN);
    expect(shop.receiver.received.map(({ genuine }) => genuine)).toEqual([true, true]);
    await shop.database.query('update webhook_endpoints set previous_secret_until = now()');
    shop.receiver.trust(secrets.secretFor(shop.endpointId, 1).text);
    await shop.tell();
    await vi.waitFor(() => expect(shop.receiver.received).toHaveLength(3), WITHIN);
    expect(shop.receiver.received.at(-1)?.genuine).toBe(false);
  });
});

describe('S13: an endpoint that points inward', () => {
  test('gets nothing when its name has come to stand for an internal address', async () => {
    const shop = await openShop();
    const port = new URL(shop.receiver.url).port;
    await shop.database.query('update webhook_endpoints set url = $1', [`http://rebound.example:${port}/hooks`]);
    await shop.tell();
    const asked: string[] = [];
    shop.deliver({
      isForbidden: isInward,
      lookup: (hostname, options, done) => {
        asked.push(hostname);
        if (options.all === true) return done(null, [{ address: '127.0.0.1', family: 4 }]);
        return done(null, '127.0.0.1', 4);
      },
    });
    await vi.waitFor(async () => expect(await shop.states()).toEqual(['pending after 1']), WITHIN);
    const [row] = await listDeliveries(shop.database, { endpointId: shop.endpointId, status: null, limit: 1 });
    expect(row?.lastAnswer).toMatch('its name stands for an internal address');
    expect(asked).toEqual(['rebound.example']);
    expect(shop.receiver.received).toEqual([]);
  });

  test.each(['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]'])('gets nothing as %s', async (host) => {
    const shop = await openShop();
    const port = new URL(shop.receiver.url).port;
    await shop.database.query('update webhook_endpoints set url = $1', [`http://${host}:${port}/hooks`]);
    await shop.tell();
    shop.deliver({ isForbidden: isInward });
    await vi.waitFor(async () => expect(await shop.states()).toEqual(['pending after 1']), WITHIN);
    expect(shop.receiver.received).toEqual([]);
  });

  test('gets nothing when the look-up was deceived and only the connected socket shows it', async () => {
    const shop = await openShop();
    await shop.tell();
    let judged = 0;
    // The address passes the first question, as it would if the name had been answered with another one.
    shop.deliver({
      isForbidden: () => {
        judged += 1;
        return judged > 1;
      },
    });
    await vi.waitFor(async () => expect(await shop.states()).toEqual(['pending after 1']), WITHIN);
    expect(judged).toBe(2);
    expect(shop.receiver.received).toEqual([]);
  });
});
