import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readSigningSecret, verifyStandardWebhook } from '../../gateways/standard-webhooks.ts';
import { createLedgerFolder, type SimulatorProcess, startSimulatorProcess } from '../support/simulator-process.ts';
import { waitUntil } from '../support/stack.ts';

interface Received {
  readonly headers: Record<string, readonly string[]>;
  readonly body: Buffer;
}

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const OLD_SECRET = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const folder = createLedgerFolder();
const received: Received[] = [];
/** What the shop answers next; 204 when the list is empty. */
const answers: number[] = [];
let simulator: SimulatorProcess;
let shop: Server;
let url = '';

beforeAll(async () => {
  simulator = await startSimulatorProcess(folder.path);
  shop = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headersDistinct as Received['headers'], body: Buffer.concat(chunks) });
      response.writeHead(answers.shift() ?? 204).end();
    });
  });
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/`;
  await simulator.control.aimWebhooks('shop', { url, secrets: [SECRET] });
});
afterEach(async () => {
  await simulator.control.clearFaults();
  answers.length = 0;
});
afterAll(async () => {
  await simulator.stop();
  shop.close();
  folder.remove();
});

let made = 0;

async function charge(paymentMethod = 'tok_ok'): Promise<{ readonly reference: string; readonly status: string }> {
  made += 1;
  const reference = `W${made}`;
  const response = await fetch(`${simulator.address}/shop/v1/charges`, {
    method: 'POST',
    headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
    body: JSON.stringify({ reference, amount: { minor_units: 500, currency: 'EUR' }, payment_method: paymentMethod }),
  });
  return { reference, status: ((await response.json()) as { status: string }).status };
}

const bodiesOf = (reference: string) =>
  received
    .map(({ body }) => JSON.parse(body.toString()) as { type: string; account: string; data: { reference: string } })
    .filter(({ data }) => data.reference === reference);
const typesOf = (reference: string) => bodiesOf(reference).map(({ type }) => type);
const arrives = (reference: string, count: number) =>
  waitUntil(`${count} webhooks for ${reference}`, async () => typesOf(reference).length >= count);

describe('the simulator tells of charges by webhook', () => {
  it.each([
    ['tok_ok', ['charge.approved']],
    ['tok_declined', ['charge.declined']],
    ['tok_action', ['charge.requires_action']],
    ['tok_pending_approved', ['charge.pending', 'charge.approved']],
  ])('%s: %s', async (token, types) => {
    const { reference } = await charge(token);
    await arrives(reference, types.length);
    expect(typesOf(reference)).toEqual(types);
  });

  it('signed as Standard Webhooks, with every secret of the account', async () => {
    await simulator.control.aimWebhooks('shop', { url, secrets: [SECRET, OLD_SECRET] });
    const { reference } = await charge();
    await arrives(reference, 1);
    const { headers, body } = received.at(-1)!;
    for (const secret of [SECRET, OLD_SECRET]) {
      const options = { secrets: [readSigningSecret(secret, 'X')], now: new Date() };
      expect(verifyStandardWebhook(headers, body, options).kind).toBe('genuine');
    }
    await simulator.control.aimWebhooks('shop', { url, secrets: [SECRET] });
  });

  it('again and again until it is answered 2xx, under the same id', async () => {
    answers.push(500, 302, 404);
    const { reference } = await charge();
    await arrives(reference, 4);
    await waitUntil(
      'it is delivered',
      async () => (await simulator.control.webhooks(reference))[0]?.delivered === true,
    );
    const [record] = await simulator.control.webhooks(reference);
    expect(record!.tries.map(({ status }) => status)).toEqual([500, 302, 404, 204]);
    expect(new Set(received.slice(-4).map(({ headers }) => headers['webhook-id']?.[0])).size).toBe(1);
  });

  it('and shows nothing of its secrets', async () => {
    expect(JSON.stringify(await simulator.control.webhooks())).not.toContain('whsec_');
  });
});

describe('what can go wrong with a webhook', () => {
  it('it comes before the answer', async () => {
    await simulator.control.addFault({ fault: { kind: 'webhook_first' } });
    const { reference } = await charge();
    expect(typesOf(reference)).toEqual(['charge.approved']);
  });

  it('it is lost', async () => {
    await simulator.control.addFault({ fault: { kind: 'webhook_lost' } });
    const lost = await charge();
    const next = await charge();
    await arrives(next.reference, 1);
    expect(typesOf(lost.reference)).toEqual([]);
    expect(await simulator.control.webhooks(lost.reference)).toMatchObject([{ fault: 'webhook_lost', tries: [] }]);
  });

  it('it comes late', async () => {
    await simulator.control.addFault({ fault: { kind: 'webhook_late', seconds: 1 } });
    const { reference } = await charge();
    expect(typesOf(reference)).toEqual([]);
    await arrives(reference, 1);
  });

  it.each([
    ['same_event', 1],
    ['other_event', 2],
  ] as const)('it comes twice, as the %s', async (as, ids) => {
    await simulator.control.addFault({ fault: { kind: 'webhook_twice', as } });
    const { reference } = await charge();
    await arrives(reference, 2);
    expect(new Set(received.slice(-2).map(({ headers }) => headers['webhook-id']?.[0])).size).toBe(ids);
  });

  it('two come in the wrong order', async () => {
    await simulator.control.addFault({ fault: { kind: 'webhook_out_of_order' } });
    const { reference } = await charge('tok_pending_approved');
    await arrives(reference, 2);
    expect(typesOf(reference)).toEqual(['charge.approved', 'charge.pending']);
  });

  it('it names another amount, currency or account', async () => {
    await simulator.control.addFault({ fault: { kind: 'webhook_wrong', by: -1, currency: 'USD', account: 'other' } });
    const { reference } = await charge();
    await arrives(reference, 1);
    expect(bodiesOf(reference)[0]).toMatchObject({
      account: 'other',
      data: { amount: { minor_units: 499, currency: 'USD' } },
    });
  });

  it('it is of an unknown kind, or signed by a stranger', async () => {
    await simulator.control.addFault({ fault: { kind: 'webhook_unknown_kind' } });
    const odd = await charge();
    await arrives(odd.reference, 1);
    expect(typesOf(odd.reference)).toEqual(['charge.pondered']);
    await simulator.control.addFault({ fault: { kind: 'webhook_forged' } });
    const forged = await charge();
    await arrives(forged.reference, 1);
    const { headers, body } = received.at(-1)!;
    const options = { secrets: [readSigningSecret(SECRET, 'X')], now: new Date() };
    expect(verifyStandardWebhook(headers, body, options).kind).toBe('rejected');
  });
});
