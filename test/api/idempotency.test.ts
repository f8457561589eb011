import { describe, expect, test } from 'vitest';
import type { Database } from '../../store/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { approvalOf, countRows, createStandIn, DECLINED, startTestApi, VISA } from './support.ts';

const testDatabase = await createTestDatabase({ poolSize: 20 });
const { database } = testDatabase;
const purchases = createStandIn(testDatabase, async ({ paymentMethod }, order) => {
  if (paymentMethod === 'silent') return undefined;
  return paymentMethod === 'declined' ? DECLINED : approvalOf(order);
});
const api = await startTestApi(testDatabase, { purchases });
const BODY = { amount: { minor_units: 500, currency: 'EUR' } };

function create(key: string, body: unknown = BODY, role: 'write' | 'operate' = 'write') {
  return api.call({ method: 'POST', url: '/v1/orders', role, body, headers: { 'idempotency-key': key } });
}

describe('creating an order under an Idempotency-Key', () => {
  test('a repeat with the same body gets the same answer and makes no second order', async () => {
    const first = await create('key-1');
    const before = await countRows(database);
    const repeat = await create('key-1');
    expect(repeat.statusCode).toBe(201);
    expect(repeat.body).toBe(first.body);
    expect(repeat.headers.location).toBe(first.headers.location);
    expect(repeat.headers['idempotency-replayed']).toBe('true');
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    expect(await countRows(database)).toEqual(before);
  });

  test('the order of the fields in the body does not matter, its content does (C66)', async () => {
    const first = await create('key-2', { amount: { minor_units: 500, currency: 'EUR' }, description: 'a' });
    const reordered = await create('key-2', { description: 'a', amount: { currency: 'EUR', minor_units: 500 } });
    expect(reordered.body).toBe(first.body);
    const other = await create('key-2', { amount: { minor_units: 501, currency: 'EUR' }, description: 'a' });
    expect(other.statusCode).toBe(422);
    expect(other.json()).toMatchObject({ code: 'idempotency_key_reused', errors: [{ field: 'idempotency-key' }] });
  });

  test('two callers may use the same key, and neither sees the answer of the other (C69)', async () => {
    const one = await create('key-3');
    const other = await create('key-3', BODY, 'operate');
    expect(other.statusCode).toBe(201);
    expect(other.json().id).not.toBe(one.json().id);
  });

  test('twenty at once make one order; who does not get its answer is told to come again', async () => {
    const before = await countRows(database);
    const answers = await Promise.all(Array.from({ length: 20 }, () => create('key-4')));
    expect((await countRows(database)).orders).toBe(before.orders! + 1);
    const created = answers.filter(({ statusCode }) => statusCode === 201);
    expect(new Set(created.map(({ body }) => body)).size).toBe(1);
    for (const answer of answers.filter(({ statusCode }) => statusCode !== 201)) {
      expect(answer.statusCode).toBe(409);
      expect(answer.json().code).toBe('idempotency_key_in_progress');
      expect(answer.headers['retry-after']).toBe('1');
    }
    expect((await create('key-4')).body).toBe(created[0]!.body);
  });

  test('bare and quoted spellings are one key', async () => {
    const bare = await create('key-5');
    expect((await create('"key-5"')).body).toBe(bare.body);
    expect((await create(' key-5 ')).body).toBe(bare.body);
  });

  test('an error frees the key: the corrected body is not refused for it', async () => {
    const wrong = await create('key-6', { ...BODY, gateway: 'nobody' });
    expect(wrong.json().code).toBe('gateway_unknown');
    expect((await create('key-6')).statusCode).toBe(201);
  });

  test('an order whose insert fails leaves neither order nor stored answer', async () => {
    await create('key-7', { ...BODY, shop_reference: 'taken' });
    const before = await countRows(database);
    expect((await create('key-8', { ...BODY, shop_reference: 'taken' })).statusCode).toBe(409);
    expect(await countRows(database)).toEqual(before);
  });

  test('a request that died half-way holds its key for two minutes and no longer', async () => {
    await create('key-9');
    await database.query(
      `update idempotency_keys set response_status = null, response_headers = null, response_body = null where key = 'key-9'`,
    );
    expect((await create('key-9')).statusCode).toBe(409);
    await database.query(`update idempotency_keys set expires_at = created_at where key = 'key-9'`);
    expect((await create('key-9')).statusCode).toBe(201);
  });

  test.each(['', '""', 'ü', 'a\tb', 'x'.repeat(256), `"${'x'.repeat(256)}"`])('the key %j is refused', async (key) => {
    const before = await countRows(database);
    const answer = await create(key);
    expect(answer.statusCode).toBe(400);
    expect(answer.json().code).toBe('idempotency_key_invalid');
    expect(await countRows(database)).toEqual(before);
  });

  test('a card number as key is refused and not told back', async () => {
    const answer = await create(`order-${VISA}`);
    expect(answer.json()).toMatchObject({ code: 'card_number_refused', errors: [{ field: 'idempotency-key' }] });
    expect(answer.body).not.toContain('4111');
  });
});

describe('paying under an Idempotency-Key', () => {
  const pay = (order: { id: string; token: string }, key: string, fields: Record<string, unknown> = {}) =>
    api.call({
      method: 'POST',
      url: `/v1/orders/${order.id}/pay`,
      body: { payment_token: order.token, payment_method: 'tok', ...fields },
      headers: { 'idempotency-key': key },
    });

  test('a final answer is replayed, a decline too', async () => {
    for (const payment_method of ['tok', 'declined']) {
      const order = await api.createOrder();
      const first = await pay(order, 'p-1', { payment_method });
      const repeat = await pay(order, 'p-1', { payment_method });
      expect(repeat.body).toBe(first.body);
      expect(repeat.headers['idempotency-replayed']).toBe('true');
      expect((await pay(order, 'p-1', { payment_method: 'other' })).statusCode).toBe(422);
    }
  });

  test('C23: phone and desktop confirm at once under one key: 409 only meanwhile, then both read the paid order', async () => {
    const order = await api.createOrder();
    const answers = await Promise.all([pay(order, 'p-23'), pay(order, 'p-23')]);
    for (const answer of answers) {
      if (answer.statusCode === 200) expect(answer.json()).toMatchObject({ status: 'paid', attempt_number: 1 });
      else expect([answer.statusCode, answer.json().code]).toEqual([409, 'idempotency_key_in_progress']);
    }
    const repeats = await Promise.all([pay(order, 'p-23'), pay(order, 'p-23')]);
    for (const { statusCode, body } of repeats) expect([statusCode, body]).toEqual([200, repeats[0]?.body]);
    expect(repeats[0]?.json()).toMatchObject({ status: 'paid', attempt_number: 1 });
  });

  test('C13: our own answer breaks after the payment; the retry finds the payment and makes none', async () => {
    let faults = 0;
    const breaking: Database = {
      ...database,
      query: (text, values) => {
        const keeps = text.includes('idempotency_keys') && purchases.calls.length > before && faults === 0;
        if (!keeps) return database.query(text, values);
        faults += 1;
        return Promise.reject(new Error('the answer could not be put into words'));
      },
    };
    const broken = await startTestApi(testDatabase, { purchases, database: breaking });
    const order = await broken.createOrder();
    const before = purchases.calls.length;
    const request = {
      method: 'POST',
      url: `/v1/orders/${order.id}/pay`,
      body: { payment_token: order.token, payment_method: 'tok' },
      headers: { 'idempotency-key': 'p-13' },
    } as const;
    expect((await broken.call(request)).statusCode).toBe(500);
    const headers = { 'idempotency-key': 'a new key for the retry' };
    expect((await broken.call({ ...request, headers })).json()).toMatchObject({ status: 'paid', attempt_number: 1 });
    expect(purchases.calls.length).toBe(before + 1);
  });

  test('"not yet" is not kept: the repeat asks again', async () => {
    const order = await api.createOrder();
    const fields = { payment_method: 'silent', wait_seconds: 0 };
    for (let repeat = 0; repeat < 2; repeat += 1) {
      const answer = await pay(order, 'p-2', fields);
      expect(answer.statusCode).toBe(202);
      expect(answer.headers['idempotency-replayed']).toBeUndefined();
    }
  });

  test('the same key on another order is another request', async () => {
    const [one, two] = [await api.createOrder(), await api.createOrder()];
    expect((await pay(one, 'p-3')).json().id).toBe(one.id);
    expect((await pay(two, 'p-3')).json().id).toBe(two.id);
  });

  test('a repeat with a wrong token does not see the stored answer', async () => {
    const order = await api.createOrder();
    await pay(order, 'p-4');
    expect((await pay({ id: order.id, token: 'pt1.nonsense' }, 'p-4')).statusCode).toBe(401);
  });
});
