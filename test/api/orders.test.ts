import { describe, expect, test } from 'vitest';
import { recordNews } from '../../store/orders/records.ts';
import { createTestDatabase } from '../support/database.ts';
import { approvalOf, claimAndSend, DECLINED, NO_PURCHASES, record, startTestApi } from './support.ts';

const testDatabase = await createTestDatabase();
const { database } = testDatabase;
const api = await startTestApi(testDatabase, { purchases: NO_PURCHASES });
const UNKNOWN_ID = '01920000-0000-7000-8000-000000000000';

describe('creating an order', () => {
  test('answers 201 with the order, its address and a token for the first attempt', async () => {
    const answer = await api.call({
      method: 'POST',
      url: '/v1/orders',
      role: 'write',
      body: {
        amount: { minor_units: 1_999, currency: 'EUR' },
        shop_reference: 'shop-1',
        description: 'Two books – naïve & “quoted”',
        return_url: 'https://shop.example/return?order=1',
        expires_in_seconds: 600,
      },
    });
    expect(answer.statusCode).toBe(201);
    const order = answer.json();
    expect(answer.headers.location).toBe(`/v1/orders/${order.id}`);
    expect(order).toMatchObject({
      status: 'created',
      amount: { minor_units: 1_999, currency: 'EUR' },
      attempt_number: 0,
      gateway: 'simulator',
      shop_reference: 'shop-1',
      description: 'Two books – naïve & “quoted”',
      return_url: 'https://shop.example/return?order=1',
      needs_review: false,
      decline: null,
      action: null,
      payment_token: { attempt_number: 1, token: expect.stringMatching(/^pt1\.[\w-]{72}$/) },
    });
    expect(Date.parse(order.expires_at) - Date.parse(order.created_at)).toBe(600_000);
  });

  test('the stored order reads back as it was answered', async () => {
    const created = await api.createOrder({ shop_reference: 'shop-2' });
    const read = await api.call({ url: `/v1/orders/${created.id}`, role: 'write' });
    expect(read.json()).toMatchObject({ ...created.body, payment_token: { attempt_number: 1 } });
  });

  test('an amount of 9007199254740991 goes in and out unchanged', async () => {
    const created = await api.createOrder({ amount: { minor_units: Number.MAX_SAFE_INTEGER, currency: 'IDR' } });
    const read = await api.call({ url: `/v1/orders/${created.id}`, role: 'read' });
    expect(read.body).toContain('"minor_units":9007199254740991');
  });

  test('a second order with the same shop reference is refused, and the first one found by it', async () => {
    const first = await api.createOrder({ shop_reference: 'shop-3' });
    const second = await api.call({
      method: 'POST',
      url: '/v1/orders',
      role: 'write',
      body: { amount: { minor_units: 5, currency: 'EUR' }, shop_reference: 'shop-3' },
    });
    expect(second.statusCode).toBe(409);
    expect(second.json()).toMatchObject({ code: 'shop_reference_taken', errors: [{ field: 'shop_reference' }] });
    const found = await api.call({ url: '/v1/orders?shop_reference=shop-3', role: 'read' });
    expect(found.json().orders.map(({ id }: { id: string }) => id)).toEqual([first.id]);
  });
});

describe('reading', () => {
  test('a key that may only read gets no payment token', async () => {
    const { id } = await api.createOrder();
    const read = await api.call({ url: `/v1/orders/${id}`, role: 'read' });
    expect(read.json().payment_token).toBeNull();
  });

  test('unknown orders answer 404 on every route', async () => {
    for (const path of ['', '/attempts', '/evidence']) {
      const answer = await api.call({ url: `/v1/orders/${UNKNOWN_ID}${path}`, role: 'operate' });
      expect(answer.statusCode).toBe(404);
      expect(answer.json().code).toBe('order_not_found');
    }
  });

  test('pages run through all orders, newest first and each once', async () => {
    const created: string[] = [];
    for (let count = 0; count < 7; count += 1) created.unshift((await api.createOrder()).id);
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = (await api.call({ url: `/v1/orders?limit=3${cursor && `&cursor=${cursor}`}`, role: 'read' })).json();
      expect(page.orders.length).toBeLessThanOrEqual(3);
      seen.push(...page.orders.map(({ id }: { id: string }) => id));
      cursor = page.next_cursor ?? '';
    } while (cursor !== '');
    expect(seen.slice(0, 7)).toEqual(created);
    expect(new Set(seen).size).toBe(seen.length);
    const { rows } = await database.query<{ count: number }>('select count(*) from orders');
    expect(seen.length).toBe(rows[0]!.count);
  });

  test('attempts and evidence say what happened, without the payment method or the request', async () => {
    const { id } = await api.createOrder();
    const attempt = { attemptNumber: 1, paymentMethod: 'tok_secret_method', returnUrl: null };
    await claimAndSend(database, { id }, attempt);
    await record(database, { id, ...attempt }, DECLINED);

    const order = (await api.call({ url: `/v1/orders/${id}`, role: 'write' })).json();
    expect(order).toMatchObject({
      status: 'failed',
      decline: { code: 'insufficient_funds', gateway_code: '51', retriable: true },
      payment_token: { attempt_number: 2 },
    });
    const attempts = await api.call({ url: `/v1/orders/${id}/attempts`, role: 'read' });
    expect(attempts.json().attempts).toMatchObject([{ attempt_number: 1, status: 'declined', sends: 1 }]);
    expect(attempts.body).not.toContain('tok_secret_method');
    const evidence = (await api.call({ url: `/v1/orders/${id}/evidence`, role: 'read' })).json().evidence;
    expect(evidence).toMatchObject([{ kind: 'gateway_response', proves_order_status: 'failed', attempt_number: 1 }]);
    expect(evidence[0].id).toBe(attempts.json().attempts[0].evidence_id);
    const failed = (await api.call({ url: '/v1/orders?status=failed', role: 'read' })).json().orders;
    expect(failed.map((listed: { id: string }) => listed.id)).toEqual([id]);
  });

  test('an attempt that never left is no decline while another one follows it by itself', async () => {
    const { id } = await api.createOrder();
    await claimAndSend(database, { id }, { attemptNumber: 1, paymentMethod: 'tok', returnUrl: null });
    await recordNews(database, {
      orderId: id,
      attemptNumber: 1,
      kind: 'gateway_response',
      outcome: { kind: 'not_processed', declineCode: 'gateway_unreachable', reason: 'refused', raw: '' },
      now: new Date().toISOString(),
      anotherFollows: true,
    });
    const order = (await api.call({ url: `/v1/orders/${id}`, role: 'write' })).json();
    expect(order).toMatchObject({ status: 'processing', decline: null, payment_token: null });
    const { attempts } = (await api.call({ url: `/v1/orders/${id}/attempts`, role: 'read' })).json();
    expect(attempts).toMatchObject([
      { status: 'not_processed', decline: { code: 'gateway_unreachable', gateway_code: null } },
    ]);
  });

  test('a paid order shows no decline of an earlier attempt and no token', async () => {
    const { id } = await api.createOrder();
    const request = { paymentMethod: 'tok', returnUrl: null };
    await claimAndSend(database, { id }, { attemptNumber: 1, ...request });
    await record(database, { id, attemptNumber: 1 }, DECLINED);
    await claimAndSend(database, { id }, { attemptNumber: 2, ...request });
    await record(database, { id, attemptNumber: 2 }, approvalOf({ amount: { minorUnits: 1_999, currency: 'EUR' } }));
    const order = (await api.call({ url: `/v1/orders/${id}`, role: 'write' })).json();
    expect(order).toMatchObject({ status: 'paid', decline: null, attempt_number: 2, payment_token: null });
  });
});
