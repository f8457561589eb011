import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CallScope, ChargeCommand, InquiryCommand } from '../../domain/gateway.ts';
import { createSimulatorGateway } from '../../gateways/simulator/adapter.ts';

/** The adapter against answers that no simulator gives by itself: whatever comes, it says no more than is certain. */
const REFERENCE = '01JDXW3Z9QFQ2V7W6N8K4M5P2T01';
const SCOPE: CallScope = { timeoutMs: 5_000, saveGatewayReference: () => Promise.resolve() };

const amount = { minorUnits: 1_999, currency: 'EUR' } as const;
const command: ChargeCommand = {
  merchantReference: REFERENCE,
  amount,
  paymentMethod: 'tok_ok',
  description: null,
  returnUrl: null,
};
const question: InquiryCommand = {
  merchantReference: REFERENCE,
  gatewayReference: null,
  amount,
  firstSentAt: '2026-11-30T12:00:00.000Z',
};

const charge = {
  id: 'ch_1',
  reference: REFERENCE,
  status: 'approved',
  amount: { minor_units: 1_999, currency: 'EUR' },
  decline_code: null,
  action_url: null,
};
const error = (code: string) => ({ error: { code, message: '' } });

let server: Server;
let url = '';
let answer: { readonly status: number; readonly body: unknown };
let seen: { path: string; headers: IncomingHttpHeaders; body: string };

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      seen = { path: request.url ?? '', headers: request.headers, body };
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  answer = { status: 201, body: charge };
});
afterAll(() => server.close());

function gateway(settings: object = {}, variables: NodeJS.ProcessEnv = {}) {
  return createSimulatorGateway({ name: 'main', settings: { url, ...settings } }, variables);
}

function chargeOnce(settings: object = {}) {
  const adapter = gateway(settings);
  return adapter.charge(adapter.prepareCharge(command), SCOPE);
}

async function ask(change: Partial<InquiryCommand> = {}, settings: object = {}) {
  return gateway(settings).inquire?.({ ...question, ...change }, SCOPE);
}

describe('what an answer to a charge means', () => {
  it.each([
    ['approved', 200, charge, { kind: 'approved', amount, gatewayReference: 'ch_1' }],
    [
      'more than we asked for',
      201,
      { ...charge, amount: { minor_units: 2_000, currency: 'EUR' } },
      { kind: 'approved' },
    ],
    ['another currency', 201, { ...charge, amount: { minor_units: 1_999, currency: 'USD' } }, { kind: 'unknown' }],
    [
      'no currency that exists',
      201,
      { ...charge, amount: { minor_units: 1_999, currency: 'XXX' } },
      { kind: 'unknown' },
    ],
    ['nothing at all approved', 201, { ...charge, amount: { minor_units: 0, currency: 'EUR' } }, { kind: 'unknown' }],
    ['an amount in text', 201, { ...charge, amount: { minor_units: '1999', currency: 'EUR' } }, { kind: 'unknown' }],
    ['another reference', 201, { ...charge, reference: 'R2' }, { kind: 'unknown' }],
    ['another reference, declined', 201, { ...charge, reference: 'R2', status: 'declined' }, { kind: 'unknown' }],
    ['a status of tomorrow', 201, { ...charge, status: 'levitating' }, { kind: 'unknown' }],
    ['no status', 201, { ...charge, status: undefined }, { kind: 'unknown' }],
    ['no id', 201, { ...charge, id: undefined }, { kind: 'unknown' }],
    ['an id full of markup', 201, { ...charge, id: '<script>' }, { kind: 'unknown' }],
    ['an action without an address', 201, { ...charge, status: 'requires_action' }, { kind: 'unknown' }],
    [
      'an action at a script',
      201,
      { ...charge, status: 'requires_action', action_url: 'javascript:1' },
      { kind: 'unknown' },
    ],
    ['a list', 200, [charge], { kind: 'unknown' }],
    ['null', 200, 'null', { kind: 'unknown' }],
    ['the charge under another status', 202, charge, { kind: 'unknown' }],
    ['the charge in an error', 500, charge, { kind: 'unknown' }],
    ['C12: nothing at all under a good status', 200, '', { kind: 'unknown' }],
    ['a redirect', 302, '', { kind: 'unknown' }],
    ['a new field', 201, { ...charge, network: 'visa' }, { kind: 'approved' }],
    [
      'no words for a decline',
      201,
      { ...charge, status: 'declined' },
      { kind: 'declined', decline: { code: 'other' } },
    ],
    [
      'an unknown decline',
      201,
      { ...charge, status: 'declined', decline_code: 'toString' },
      { kind: 'declined', decline: { code: 'other', gatewayCode: 'toString' } },
    ],
    ['the limiter', 429, error('rate_limited'), { kind: 'not_processed', declineCode: 'gateway_unreachable' }],
    ['a 429 of somebody else', 429, 'slow down', { kind: 'unknown' }],
    ['maintenance', 503, error('maintenance'), { kind: 'not_processed', declineCode: 'gateway_unreachable' }],
    ['a 503 of a proxy', 503, '<html>', { kind: 'unknown' }],
    ["the limiter's word under another status", 500, error('rate_limited'), { kind: 'unknown' }],
    ['a malformed request', 400, error('amount_invalid'), { kind: 'not_processed', declineCode: 'refused_by_gateway' }],
    ['a 400 without a known code', 400, error('because'), { kind: 'unknown' }],
    ['C02: a reference that was used', 409, error('reference_used'), { kind: 'unknown' }],
    ['C24: a key that was used', 422, error('idempotency_key_reused'), { kind: 'unknown' }],
    ['a 404', 404, error('route_not_found'), { kind: 'unknown' }],
  ])('%s', async (_name, status, body, expected) => {
    answer = { status, body };
    expect(await chargeOnce()).toMatchObject(expected);
  });
});

describe('what an answer to an inquiry means', () => {
  it.each([
    ['one charge', 200, { charges: [charge] }, { kind: 'found', outcome: { kind: 'approved', amount } }],
    ['none', 200, { charges: [] }, { kind: 'absent' }],
    ['no such charge', 404, error('charge_not_found'), { kind: 'absent' }],
    ['no such route', 404, error('route_not_found'), { kind: 'unavailable' }],
    ['a 404 of a proxy', 404, '<html>', { kind: 'unavailable' }],
    ['an empty answer', 200, '', { kind: 'unavailable' }],
    ['an empty object', 200, {}, { kind: 'unavailable' }],
    ['an empty list under an error', 500, { charges: [] }, { kind: 'unavailable' }],
    ['a charge of somebody else', 200, { charges: [{ ...charge, reference: 'R2' }] }, { kind: 'unavailable' }],
    ['a charge that cannot be read', 200, { charges: [{ ...charge, status: 'x' }] }, { kind: 'unavailable' }],
    ['a 401', 401, error('credentials_missing'), { kind: 'unavailable' }],
    [
      'a decline beside a charge: the money counts',
      200,
      { charges: [{ ...charge, id: 'ch_0', status: 'declined', decline_code: 'card_declined' }, charge] },
      { kind: 'found', outcome: { kind: 'approved', gatewayReference: 'ch_1' } },
    ],
    [
      'two charges: the first counts, and the evidence keeps both',
      200,
      { charges: [charge, { ...charge, id: 'ch_2' }] },
      { kind: 'found', outcome: { gatewayReference: 'ch_1', raw: expect.stringContaining('ch_2') } },
    ],
  ])('%s', async (_name, status, body, expected) => {
    answer = { status, body };
    expect(await ask()).toMatchObject(expected);
  });

  it('goes by the reference that is known and taken', async () => {
    answer = { status: 200, body: charge };
    const both = { capabilities: { inquire_by: ['merchant_reference', 'gateway_reference'] } };
    const theirs = { capabilities: { inquire_by: ['gateway_reference'] } };
    expect(await ask({ gatewayReference: 'ch_1' }, both)).toMatchObject({ kind: 'found' });
    expect(seen.path).toBe('/main/v1/charges/ch_1');
    await ask({ gatewayReference: null }, both);
    expect(seen.path).toBe(`/main/v1/charges?reference=${REFERENCE}`);
    await ask({ gatewayReference: '../../ledger' }, theirs);
    expect(seen.path).toBe('/main/v1/charges/..%2F..%2Fledger');
    expect(await ask({ gatewayReference: null }, theirs)).toMatchObject({ kind: 'unavailable' });
  });
});

describe('what is sent', () => {
  it('is the prepared body to the byte, and the key only where it is honoured', async () => {
    const adapter = gateway();
    const prepared = adapter.prepareCharge({ ...command, description: 'Zwölf Äpfel "rot"' });
    await adapter.charge(prepared, SCOPE);
    expect(seen.body).toBe(prepared.body);
    expect(seen.headers['idempotency-key']).toBe(REFERENCE);
    await chargeOnce({ capabilities: { repeat: { by: 'reference' } } });
    expect(seen.headers['idempotency-key']).toBeUndefined();
  });

  it('goes to the account, with the key from the environment', async () => {
    const adapter = gateway({ account: 'theirs', api_key_env: 'SHOP_KEY' }, { SHOP_KEY: 'k-123' });
    const prepared = adapter.prepareCharge(command);
    await adapter.charge(prepared, SCOPE);
    expect(seen.path).toBe('/theirs/v1/charges');
    expect(seen.headers.authorization).toBe('Bearer k-123');
    expect(prepared.body).not.toContain('k-123');
  });

  it("counts in the gateway's units, both ways", async () => {
    const adapter = gateway({ capabilities: { currency_decimals: { HUF: 0 } } });
    const forints = { ...command, amount: { minorUnits: 150_000, currency: 'HUF' } } as const;
    answer = { status: 201, body: { ...charge, amount: { minor_units: 1_500, currency: 'HUF' } } };
    expect(await adapter.charge(adapter.prepareCharge(forints), SCOPE)).toMatchObject({
      kind: 'approved',
      amount: forints.amount,
    });
    expect(JSON.parse(seen.body)).toMatchObject({ amount: { minor_units: 1_500, currency: 'HUF' } });
    const odd = { ...command, amount: { minorUnits: 150_001, currency: 'HUF' } } as const;
    expect(() => adapter.prepareCharge(odd)).toThrow(expect.objectContaining({ code: 'currency_unsupported' }));
  });
});
