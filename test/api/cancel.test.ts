import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { approvalOf, claimAndSend, NO_PURCHASES, record, startTestApi, VISA } from './support.ts';

const testDatabase = await createTestDatabase();
const { database } = testDatabase;
const told: string[] = [];
const purchases = {
  ...NO_PURCHASES,
  cancel: async (orderId: string) => {
    told.push(orderId);
  },
};
const api = await startTestApi(testDatabase, { purchases });
const away = await startTestApi(testDatabase, {
  purchases: { ...NO_PURCHASES, cancel: () => Promise.reject(new Error('Temporal is away')) },
});
const ATTEMPT = { attemptNumber: 1, paymentMethod: 'tok', returnUrl: null };

function cancel(id: string, { to = api, body = { reason: 'out of stock' } as unknown, role = 'write' as const } = {}) {
  return to.call({ method: 'POST', url: `/v1/orders/${id}/cancel`, role, body });
}

describe('POST /v1/orders/{id}/cancel', () => {
  test('cancels an order that nobody has tried to pay, and its token is dead', async () => {
    const order = await api.createOrder();
    const answer = await cancel(order.id);
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({
      status: 'cancelled',
      payment_token: null,
      cancel_requested_at: expect.any(String),
    });
    const paid = await api.pay(order);
    expect(paid.statusCode).toBe(200);
    expect(paid.json()).toMatchObject({ status: 'cancelled', payment_token: null });
    expect((await cancel(order.id)).statusCode).toBe(200);
  });

  test('C46: writes the wish down while an attempt is alive, tells the workflow, and offers no further attempt', async () => {
    const { id } = await api.createOrder();
    await claimAndSend(database, { id }, ATTEMPT);
    const answer = await cancel(id);
    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toMatchObject({ status: 'processing', cancel_requested_at: expect.any(String) });
    expect(told).toContain(id);
    await record(
      database,
      { id, attemptNumber: 1 },
      { kind: 'declined', decline: { code: 'card_declined', retriable: true }, raw: '' },
    );
    const read = (await api.call({ url: `/v1/orders/${id}`, role: 'write' })).json();
    expect(read).toMatchObject({ status: 'failed', payment_token: null });
  });

  test('C46: is refused for an order that is paid', async () => {
    const { id } = await api.createOrder();
    await claimAndSend(database, { id }, ATTEMPT);
    await record(database, { id, attemptNumber: 1 }, approvalOf({ amount: { minorUnits: 1_999, currency: 'EUR' } }));
    const answer = await cancel(id);
    expect(answer.statusCode).toBe(409);
    expect(answer.json()).toMatchObject({
      code: 'order_not_cancellable',
      detail: expect.stringContaining('Refund it'),
    });
  });

  test('stands on the row also when the workflow cannot be told', async () => {
    const { id } = await away.createOrder();
    expect((await cancel(id, { to: away })).json()).toMatchObject({ status: 'cancelled' });
  });

  test.each([
    ['no reason', {}],
    ['a blank reason', { reason: ' ' }],
    ['a card number', { reason: `Paid with ${VISA} already` }],
    ['a field that is none', { reason: 'out of stock', force: true }],
  ])('takes no body with %s', async (_fault, body) => {
    const { id } = await api.createOrder();
    expect((await cancel(id, { body })).statusCode).toBe(400);
    expect((await api.call({ url: `/v1/orders/${id}`, role: 'read' })).json().status).toBe('created');
  });

  test('answers 404 for an order that is not there, and 401 and 403 without the right key', async () => {
    expect((await cancel('01920000-0000-7000-8000-000000000002')).json().code).toBe('order_not_found');
    const { id } = await api.createOrder();
    const url = `/v1/orders/${id}/cancel`;
    const body = { reason: 'out of stock' };
    expect((await api.call({ method: 'POST', url, body })).statusCode).toBe(401);
    expect((await api.call({ method: 'POST', url, body, role: 'read' })).statusCode).toBe(403);
  });
});

describe('limit: one_per_customer', () => {
  const limited = (customer: string) => ({ product: 'course', customer, limit: 'one_per_customer' });
  const create = (fields: object) =>
    api.call({
      method: 'POST',
      url: '/v1/orders',
      role: 'write',
      body: { amount: { minor_units: 1_999, currency: 'EUR' }, ...fields },
    });

  test('of two orders at once one is made, and the other is told which', async () => {
    for (let race = 0; race < 20; race += 1) {
      const customer = crypto.randomUUID();
      const answers = await Promise.all([create(limited(customer)), create(limited(customer))]);
      const [made, refused] = answers.sort((left, right) => left.statusCode - right.statusCode);
      expect(made?.statusCode).toBe(201);
      expect(refused?.statusCode).toBe(409);
      expect(refused?.json().code).toBe('limit_one_per_customer');
      expect(refused?.json().detail).toContain(made?.json().id);
    }
  });

  test('a failed order keeps the place, because it can still be paid; a cancelled one gives it back', async () => {
    const customer = crypto.randomUUID();
    const { id } = (await create(limited(customer))).json();
    await claimAndSend(database, { id }, ATTEMPT);
    await record(
      database,
      { id, attemptNumber: 1 },
      { kind: 'declined', decline: { code: 'card_declined', retriable: true }, raw: '' },
    );
    expect((await create(limited(customer))).json().detail).toContain('failed');
    await cancel(id);
    expect((await create(limited(customer))).statusCode).toBe(201);
  });

  test('other customers, other products and orders without the limit are free', async () => {
    const customer = crypto.randomUUID();
    await create(limited(customer));
    expect((await create(limited(crypto.randomUUID()))).statusCode).toBe(201);
    expect((await create({ ...limited(customer), product: 'book' })).statusCode).toBe(201);
    expect((await create({ product: 'course', customer })).statusCode).toBe(201);
  });

  test('needs to know what and for whom', async () => {
    expect((await create({ limit: 'one_per_customer', product: 'course' })).json().code).toBe('field_invalid');
    expect((await create({ ...limited('someone'), limit: 'two' })).statusCode).toBe(400);
  });
});
