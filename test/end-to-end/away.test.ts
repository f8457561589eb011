import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, describe, expect, test } from 'vitest';
import { findPrograms } from '../../cli/setup.mjs';
import { startPostgres } from '../../embedded/postgres.ts';
import { startTemporalDevServer } from '../../embedded/temporal.ts';
import { createLog } from '../../process/log.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.ts';
import { useStack, waitUntil } from '../support/stack.ts';

/** A part goes away in the middle of a purchase and comes back: no half-written state, and the order ends by itself. */
const bench = useStack();
const SETTLED = ['paid', 'failed'];
const WITHIN_MS = 90_000;
const log = createLog('silent', 'test');

/** What a test has started again is not the stack's to stop any more. */
const startedAgain: { stop(): Promise<void> }[] = [];

afterAll(async () => {
  await bench.stack().stopApplication();
  for (const part of startedAgain) await part.stop();
});

function processOf(part: 'database' | 'temporal'): number {
  const processId = bench.stack().processIds()[part];
  if (processId === undefined) throw new Error(`The ${part} has no process of ours`);
  return processId;
}

const ready = async (): Promise<boolean> =>
  (await request(`${bench.stack().addresses.api}/readyz`).catch(() => undefined))?.statusCode === 200;

describe('a part of the stack is away', () => {
  test('the gateway, from before the first request: nothing is sent, and the order is paid when it is back', async () => {
    const order = await bench.shop().createOrder();
    await bench.simulator().beginOutage({ kind: 'refuse', for_ms: 4_000 });
    const { status, body } = await bench.shop().pay(order, { waitSeconds: 1 });
    expect(status).toBe(202);
    expect(body.status).toBe('processing');
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect(await bench.ledger().charges(order.id)).toBe(1);
  });

  test('the gateway, in the middle of a purchase and of the inquiries', async () => {
    const order = await bench.shop().createOrder();
    await bench.shop().pay(order, { paymentMethod: 'tok_lost_answer', waitSeconds: 0 });
    await bench.ledger().waitForCharge(order.id);
    await bench.simulator().beginOutage({ kind: 'refuse', for_ms: 5_000 });
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect(await bench.ledger().charges(order.id)).toBe(1);
  });

  test('Temporal: a new pay is told so with Retry-After, and one in flight ends by itself', async () => {
    const inFlight = await bench.shop().createOrder();
    const untouched = await bench.shop().createOrder();
    await bench.ledger().fault(inFlight.id, { kind: 'slow', seconds: 4 });
    await bench.shop().pay(inFlight, { waitSeconds: 0 });
    await bench.ledger().waitForCharge(inFlight.id);
    process.kill(processOf('temporal'), 'SIGKILL');

    const refused = await bench.shop().pay(untouched, { waitSeconds: 0 });
    expect(refused.status).toBe(503);
    expect(refused.body).toMatchObject({ code: 'temporal_unavailable' });
    expect(Number(refused.retryAfter)).toBeGreaterThan(0);
    expect(await ready()).toBe(false);

    const { temporal: program } = findPrograms();
    if (program === null) throw new Error('The Temporal CLI is missing');
    const dataFolder = join(bench.dataFolder(), 'temporal');
    const server = await startTemporalDevServer({ program, dataFolder, log, searchAttributes: SEARCH_ATTRIBUTES });
    startedAgain.push(server);
    await waitUntil('the API is ready again', ready);
    expect((await bench.shop().waitFor(inFlight.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect((await bench.shop().pay(untouched)).body.status).toBe('paid');
    for (const { id } of [inFlight, untouched]) expect(await bench.ledger().charges(id)).toBe(1);
  });

  test('Postgres: a new order is told so with Retry-After, and a charge whose answer came meanwhile is not lost', async () => {
    const inFlight = await bench.shop().createOrder();
    await bench.ledger().fault(inFlight.id, { kind: 'slow', seconds: 3 });
    await bench.shop().pay(inFlight, { waitSeconds: 0 });
    await bench.ledger().waitForCharge(inFlight.id);
    process.kill(processOf('database'), 'SIGKILL');
    await waitUntil('the API has noticed', async () => !(await ready()));

    const { addresses, developmentKey } = bench.stack();
    const refused = await request(`${addresses.api}/v1/orders`, {
      method: 'POST',
      headers: { authorization: `Bearer ${developmentKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ amount: { minor_units: 100, currency: 'EUR' } }),
    });
    expect(refused.statusCode).toBe(503);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(await refused.body.json()).toMatchObject({ code: 'database_unavailable' });

    startedAgain.push(await startPostgres({ dataFolder: join(bench.dataFolder(), 'postgres'), log, environment: {} }));
    await waitUntil('the API is ready again', ready);
    expect((await bench.shop().waitFor(inFlight.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect(await bench.ledger().charges(inFlight.id)).toBe(1);
    expect(await bench.requests(inFlight.id)).toBe(1);
  });
});
