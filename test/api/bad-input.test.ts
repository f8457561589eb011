import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { countRows, NO_PURCHASES, startTestApi, type TestRequest, VISA } from './support.ts';

const testDatabase = await createTestDatabase();
const { database } = testDatabase;
const api = await startTestApi(testDatabase, { purchases: NO_PURCHASES });
const order = await api.createOrder();

const CREATE = { method: 'POST', url: '/v1/orders', role: 'write' } as const satisfies TestRequest;
const AMOUNT = { minor_units: 1_999, currency: 'EUR' };
const PAY = { method: 'POST', url: `/v1/orders/${order.id}/pay` } as const satisfies TestRequest;
const PAYMENT = { payment_token: order.token, payment_method: 'tok' };
const DECIDE = {
  method: 'POST',
  url: `/v1/orders/${order.id}/decisions`,
  role: 'operate',
} as const satisfies TestRequest;

/** Refused with this status, code and field, as problem+json, and nothing was written. */
async function expectRefusal(request: TestRequest, refusal: `${number} ${string}`, field?: string): Promise<string> {
  const [status, code] = [Number(refusal.slice(0, 3)), refusal.slice(4)];
  const before = await countRows(database);
  const answer = await api.call(request);
  expect(answer.json()).toMatchObject({
    status,
    code,
    type: `urn:paidonce:problem:${code}`,
    title: expect.stringMatching(/\.$/),
    detail: expect.any(String),
    instance: `urn:uuid:${answer.headers['x-request-id']}`,
    ...(field !== undefined && { errors: [{ field, message: expect.any(String) }] }),
  });
  expect(answer.statusCode).toBe(status);
  expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(await countRows(database)).toEqual(before);
  return answer.body;
}

describe('amounts', () => {
  const literals = [
    ...['0', '-0', '-1', '0.5', '1999.5', '1e-3', '1e400', '-1e400', '9007199254740992', '9007199254740993', '1e16'],
    // JSON.parse would round each of these to a good amount.
    ...['9007199254740991.4', '1.00000000000000001', '1999.0000000000000001', '0.99999999999999999999'],
    ...['"1999"', 'null', 'true', '[1999]', '{}', '"１９９９"'],
  ];
  test.each(literals)('%s minor units are refused', async (literal) => {
    const text = `{"amount":{"minor_units":${literal},"currency":"EUR"}}`;
    await expectRefusal({ ...CREATE, text }, '400 amount_invalid', 'amount.minor_units');
  });

  test.each(['1', '1999', '1e3', '1.0', '1999.000', '9007199254740991', '9.007199254740991e15'])(
    '%s minor units are taken as they are',
    async (literal) => {
      const answer = await api.call({ ...CREATE, text: `{"amount":{"minor_units":${literal},"currency":"EUR"}}` });
      expect(answer.statusCode).toBe(201);
      expect(answer.json().amount.minor_units).toBe(Number(literal));
    },
  );

  test.each(['NaN', 'Infinity', '01', '+1', '1.', '0x10', '1_000', '１９９９'])('%s is not JSON', async (literal) => {
    const text = `{"amount":{"minor_units":${literal},"currency":"EUR"}}`;
    await expectRefusal({ ...CREATE, text }, '400 body_malformed');
  });

  test.each(['XXX', 'eur', 'EURO', '', 'BTC', 'XAU', ' EUR', 'ЕUR'])('currency %j is unknown', async (currency) => {
    await expectRefusal(
      { ...CREATE, body: { amount: { minor_units: 1, currency } } },
      '400 currency_unknown',
      'amount.currency',
    );
  });

  test.each([
    ['HUF', 150],
    ['ISK', Number.MAX_SAFE_INTEGER],
  ])('%s in units that the gateway cannot be told is refused', async (currency, minor_units) => {
    const body = { amount: { minor_units, currency }, gateway: 'odd-units' };
    await expectRefusal({ ...CREATE, body }, '422 currency_unsupported', 'amount.minor_units');
    expect((await api.call({ ...CREATE, body: { ...body, gateway: 'simulator' } })).statusCode).toBe(201);
  });

  test.each([
    ['HUF', 15_000],
    ['ISK', 150],
  ])('%s in units that fit is taken', async (currency, minor_units) => {
    const body = { amount: { minor_units, currency }, gateway: 'odd-units' };
    expect((await api.call({ ...CREATE, body })).statusCode).toBe(201);
  });
});

describe('bodies', () => {
  test.each(['{', '', 'undefined', '{"amount":', '[', '{"a":1}}', "{'a':1}", '\u0000'])(
    '%j is malformed',
    async (text) => {
      await expectRefusal({ ...CREATE, text }, '400 body_malformed');
    },
  );

  test.each(['null', '[]', '"text"', '17', 'true'])('%s is no object', async (text) => {
    await expectRefusal({ ...CREATE, text }, '400 field_invalid', 'body');
  });

  test('none at all is refused', async () => {
    await expectRefusal(CREATE, '400 field_invalid', 'body');
  });

  test('65 KB are too large, whatever they hold', async () => {
    const text = JSON.stringify({ amount: AMOUNT, description: 'x'.repeat(65 * 1_024) });
    await expectRefusal({ ...CREATE, text }, '413 body_too_large');
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'application/jsonp', 'nonsense'])(
    'content type %s is unsupported',
    async (type) => {
      const headers = { 'content-type': type };
      await expectRefusal({ ...CREATE, body: { amount: AMOUNT }, headers }, '415 media_type_unsupported');
    },
  );

  test('nesting as deep as the size allows is refused, and quickly', async () => {
    const began = Date.now();
    await expectRefusal({ ...CREATE, text: '['.repeat(32_000) + ']'.repeat(32_000) }, '400 field_invalid', 'body');
    const text = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
    await expectRefusal({ ...CREATE, text }, '400 field_invalid');
    expect(Date.now() - began).toBeLessThan(10_000);
  });

  test('all mistakes are told at once', async () => {
    const answer = await api.call({
      ...CREATE,
      body: { amount: { minor_units: 0, currency: 'XXX' }, description: '', status: 'paid' },
    });
    expect(answer.json().errors.map(({ field }: { field: string }) => field)).toEqual([
      'amount.minor_units',
      'amount.currency',
      'description',
      'status',
    ]);
  });
});

describe('fields', () => {
  test.each([
    'status',
    'id',
    'paid',
    'current_attempt',
    'needs_review',
    'evidence_id',
    '__proto__',
    'constructor',
    'toString',
  ])('an extra field %s is refused', async (name) => {
    const text = `{"amount":{"minor_units":1,"currency":"EUR"},"${name}":1}`;
    await expectRefusal({ ...CREATE, text }, '400 field_invalid', name);
  });

  test('an extra field inside the amount is refused by its path', async () => {
    const body = { amount: { ...AMOUNT, exponent: 2 } };
    await expectRefusal({ ...CREATE, body }, '400 field_invalid', 'amount.exponent');
  });

  const fields: readonly [string, unknown][] = [
    ['description', ''],
    ['description', '   '],
    ['description', 'x'.repeat(501)],
    ['description', 'a\u0000b'],
    ['description', 'line\nbreak'],
    ['description', 17],
    ['description', null],
    ['shop_reference', 'x'.repeat(129)],
    ['shop_reference', {}],
    ['gateway', ''],
    ['return_url', 'javascript:alert(1)'],
    ['return_url', 'ftp://shop.example'],
    ['return_url', '/relative'],
    ['return_url', 'https://user:password@shop.example'],
    ['return_url', `https://shop.example/${'x'.repeat(2_000)}`],
    ['return_url', 'https://shop.example/\u0000'],
    ['expires_in_seconds', 0],
    ['expires_in_seconds', -5],
    ['expires_in_seconds', 1.5],
    ['expires_in_seconds', 30 * 86_400 + 1],
    ['expires_in_seconds', '60'],
  ];
  test.each(fields)('%s %j is refused when an order is made', async (field, value) => {
    await expectRefusal({ ...CREATE, body: { amount: AMOUNT, [field]: value } }, '400 field_invalid', field);
  });

  test('half a character is refused', async () => {
    const text = '{"amount":{"minor_units":1,"currency":"EUR"},"description":"\\ud800"}';
    await expectRefusal({ ...CREATE, text }, '400 field_invalid', 'description');
  });

  test('an unknown gateway is refused, and the known ones named', async () => {
    const body = { amount: AMOUNT, gateway: 'nobody' };
    expect(await expectRefusal({ ...CREATE, body }, '422 gateway_unknown', 'gateway')).toContain('simulator');
  });

  const payments: readonly [string, unknown][] = [
    ['payment_method', ''],
    ['payment_method', 'x'.repeat(256)],
    ['payment_method', undefined],
    ['payment_token', 7],
    ['payment_token', undefined],
    ['payment_token', 'x'.repeat(201)],
    ['wait_seconds', -1],
    ['wait_seconds', 61],
    ['wait_seconds', '5'],
    ['return_url', 'nowhere'],
    ['amount', { minor_units: 1, currency: 'EUR' }],
  ];
  test.each(payments)('%s %j is refused when an order is paid', async (field, value) => {
    await expectRefusal({ ...PAY, body: { ...PAYMENT, [field]: value } }, '400 field_invalid', field);
  });

  const decisions: readonly [string, unknown][] = [
    ['outcome', 'expired'],
    ['operator', ' '],
    ['reason', 'too short'],
    ['reason', 'x         '],
    ['extra', 1],
  ];
  test.each(decisions)('%s %j is refused in a decision', async (field, value) => {
    const body = { outcome: 'paid', operator: 'Ada', reason: 'seen on the bank statement', [field]: value };
    await expectRefusal({ ...DECIDE, body }, '400 field_invalid', field);
  });

  test('only an order that is unknown can be decided', async () => {
    const body = { outcome: 'paid', operator: 'Ada', reason: 'seen on the bank statement' };
    await expectRefusal({ ...DECIDE, body }, '409 order_not_unknown');
  });

  test.each([
    'limit=0',
    'limit=101',
    'limit=1.5',
    'limit=',
    'limit=1&limit=2',
    'cursor=abc',
    'status=gone',
    'page=2',
    'shop_reference=',
  ])('the query %s is refused', async (query) => {
    const field = query.split('=')[0];
    await expectRefusal({ url: `/v1/orders?${query}`, role: 'read' }, '400 field_invalid', field);
  });

  test.each([
    'abc',
    '0',
    '01920000-0000-7000-8000-00000000000',
    '01920000-0000-7000-8000-00000000000G',
    '%00',
    "'or'1'='1",
  ])('the order id %s is refused', async (id) => {
    await expectRefusal({ url: `/v1/orders/${encodeURIComponent(id)}`, role: 'read' }, '400 field_invalid', 'id');
  });

  test('an address that cannot be decoded is refused', async () => {
    await expectRefusal({ url: '/v1/orders/%E0%A4%A', role: 'read' }, '400 request_malformed');
    await expectRefusal({ url: `/v1/orders/${'x'.repeat(5_000)}`, role: 'read' }, '400 request_malformed');
  });

  test.each([
    ['GET', '/'],
    ['GET', '/v1'],
    ['DELETE', '/v1/orders'],
    ['PUT', `/v1/orders/${order.id}`],
    ['GET', `/v1/orders/${order.id}/pay`],
    ['POST', '/healthz'],
  ] as const)('%s %s is no route', async (method, url) => {
    await expectRefusal({ method, url, role: 'operate' }, '404 route_not_found');
  });
});

describe('card numbers', () => {
  const PLACES: readonly [string, TestRequest, string][] = [
    ['description', { ...CREATE, body: { amount: AMOUNT, description: `card ${VISA}` } }, 'description'],
    [
      'shop_reference',
      { ...CREATE, body: { amount: AMOUNT, shop_reference: '4111-1111-1111-1111' } },
      'shop_reference',
    ],
    ['gateway', { ...CREATE, body: { amount: AMOUNT, gateway: '5555555555554444' } }, 'gateway'],
    [
      'return_url',
      { ...CREATE, body: { amount: AMOUNT, return_url: 'https://shop.example/?c=4111111111111111' } },
      'return_url',
    ],
    [
      'currency',
      { ...CREATE, body: { amount: { minor_units: 1, currency: '４１１１１１１１１１１１１１１１' } } },
      'amount.currency',
    ],
    ['the name of a field', { ...CREATE, body: { amount: AMOUNT, '4111111111111111': 1 } }, 'body'],
    ['a field nobody knows', { ...CREATE, body: { amount: AMOUNT, card: { number: VISA } } }, 'card.number'],
    ['a list', { ...CREATE, body: [VISA] }, '0'],
    ['the body itself', { ...CREATE, body: VISA }, 'body'],
    ['payment_method', { ...PAY, body: { ...PAYMENT, payment_method: '378282246310005' } }, 'payment_method'],
    ['payment_token', { ...PAY, body: { ...PAYMENT, payment_token: VISA } }, 'payment_token'],
    ['reason', { ...DECIDE, body: { outcome: 'paid', operator: 'Ada', reason: `bank shows ${VISA}` } }, 'reason'],
    ['a query', { url: '/v1/orders?shop_reference=4111+1111+1111+1111', role: 'read' }, 'shop_reference'],
    ['the path', { url: '/v1/orders/4111111111111111', role: 'read' }, 'id'],
  ];
  test.each(PLACES)('in %s are refused by the field, neither told back nor logged', async (_, request, field) => {
    const body = await expectRefusal(request, '400 card_number_refused', field);
    expect(digitsOf(body)).not.toMatch(/4111111111111111|5555555555554444|378282246310005/);
  });

  property.prop([
    fc.constantFrom('4111111111111111', '5555555555554444', '378282246310005', '6011111111111117', '6200000000000005'),
    fc.constantFrom('', ' ', '-', '.', '\u2013', '\u00a0'),
    fc.boolean(),
    fc.stringMatching(/^[a-z ,:]{0,10}$/),
  ])('are found however they are spaced', async (digits, separator, fullWidth, before) => {
    const spaced = [...digits].map((digit, place) => (place % 4 === 3 ? digit + separator : digit)).join('');
    const written = fullWidth ? spaced.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))) : spaced;
    const answer = await api.call({ ...CREATE, body: { amount: AMOUNT, description: `${before}${written}` } });
    expect(answer.json().code).toBe('card_number_refused');
  });

  test('an order id in a text is not taken for one', async () => {
    const description = 'replaces order ff01be56-0740-4696-8119-6f124c791c82';
    expect((await api.call({ ...CREATE, body: { amount: AMOUNT, description } })).statusCode).toBe(201);
  });

  test('nothing of a request is in the log but its route, its order and its code', async () => {
    await api.call({ url: '/v1/orders/4111111111111111?token=pt1.secret', role: 'read' });
    await api.call({ url: `/nowhere/${order.token}?q=${order.token}` });
    await api.pay(order, { payment_method: 'tok_private', unknown: 1 });
    const log = api.logged();
    expect(log).toContain('"route":"/v1/orders/:id"');
    expect(log).toContain(`"order_id":"${order.id}"`);
    expect(log).toContain('"code":"card_number_refused"');
    const secrets = ['4111111111', VISA, 'pt1.', 'tok_private', api.keys.read, 'nowhere', 'shop.example', 'bank shows'];
    expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
  });
});

function digitsOf(text: string): string {
  return text.normalize('NFKC').replace(/\D/g, '');
}
