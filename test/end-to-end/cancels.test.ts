import { describe, expect, test } from 'vitest';
import type { ShopOrder } from '../../cli/tour/shop.ts';
import { useStack, waitUntil } from '../support/stack.ts';

const bench = useStack();
/** `failed` is a moment on the way to `cancelled` or `expired`, in which the order takes no attempt any more. */
const ENDED = ['paid', 'cancelled', 'expired'];
const WITHIN_MS = 90_000;
const ORDERS = 30;

async function post<Answer>(path: string, body: object): Promise<{ readonly status: number; readonly body: Answer }> {
  const { addresses, developmentKey } = bench.stack();
  const answer = await fetch(new URL(path, addresses.api), {
    method: 'POST',
    headers: { authorization: `Bearer ${developmentKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Answer };
}

const cancel = (order: ShopOrder) =>
  post<ShopOrder>(`/v1/orders/${order.id}/cancel`, { reason: 'The customer changed their mind.' });
const later = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function actionOf(order: ShopOrder): Promise<string> {
  const { body } = await bench.shop().pay(order, { paymentMethod: 'tok_action' });
  expect(body.status).toBe('requires_action');
  return body.action?.url ?? '';
}

const confirm = async (actionUrl: string) =>
  (await fetch(`${actionUrl}/complete`, { method: 'POST', redirect: 'manual' })).status;

/** The gateway's ledger says the same as the order, and the order was charged by one request at most. */
async function endOf(order: ShopOrder): Promise<string> {
  const { status } = await bench.shop().waitFor(order.id, ENDED, WITHIN_MS);
  expect([order.id, status, await bench.ledger().charges(order.id)]).toEqual([
    order.id,
    status,
    status === 'paid' ? 1 : 0,
  ]);
  return status;
}

const all = (work: (index: number) => Promise<string>) =>
  Promise.all(Array.from({ length: ORDERS }, (_, index) => work(index)));

describe('an order that is cancelled in the moment it is paid', () => {
  test(`C46: ${ORDERS} of them: each is paid with one charge or cancelled with none`, async () => {
    const ends = await all(async (index) => {
      const order = await bench.shop().createOrder();
      const paid = bench.shop().pay(order, { waitSeconds: 0 });
      await later(index * 4);
      const [cancelled] = await Promise.all([cancel(order), paid]);
      expect([200, 202, 409]).toContain(cancelled.status);
      const end = await endOf(order);
      // What was said at once is what it came to.
      if (cancelled.status === 200) expect(end).toBe('cancelled');
      if (cancelled.status === 409) expect(end).toBe('paid');
      return end;
    });
    expect(ends.every((end) => end === 'paid' || end === 'cancelled')).toBe(true);
  }, 120_000);

  test(`${ORDERS} whose customers confirm at the gateway as it is told to close: paid or cancelled`, async () => {
    const ends = await all(async (index) => {
      const order = await bench.shop().createOrder();
      const url = await actionOf(order);
      await cancel(order);
      // Closed as soon as our own call is over for sure, after its eight seconds: some are sooner than that, some later, some never.
      if (index % 10 !== 9) await later(6_500 + index * 150).then(() => confirm(url));
      return endOf(order);
    });
    expect(new Set(ends)).toEqual(new Set(['paid', 'cancelled']));
  }, 120_000);

  test('C48: one whose answer is lost is found paid, one whose request never arrived is closed and cancelled', async () => {
    const ends = await Promise.all(
      (['lost_answer', 'never_arrives'] as const).map(async (kind) => {
        const order = await bench.shop().createOrder();
        await bench.ledger().fault(order.id, { kind });
        await bench.shop().pay(order, { waitSeconds: 0 });
        await waitUntil('it is not known', async () => (await bench.shop().read(order.id)).status === 'unknown');
        await cancel(order);
        return endOf(order);
      }),
    );
    expect(ends).toEqual(['paid', 'cancelled']);
  }, 120_000);
});

describe('an action that the customer leaves alone', () => {
  test('is closed at the gateway when the shop cancels: confirmed afterwards, it takes no money', async () => {
    const order = await bench.shop().createOrder();
    const url = await actionOf(order);
    expect((await cancel(order)).status).toBe(202);
    expect(await endOf(order)).toBe('cancelled');
    expect(await confirm(url)).toBe(409);
    expect(await endOf(order)).toBe('cancelled');
  }, 120_000);

  test('C49: is closed at the gateway first when the order expires, and then the order here', async () => {
    const amount = { minor_units: 1_999, currency: 'EUR' };
    const { body: order } = await post<ShopOrder>('/v1/orders', { amount, expires_in_seconds: 5 });
    const url = await actionOf(order);
    expect(await endOf(order)).toBe('expired');
    expect(await confirm(url)).toBe(409);
    expect(await endOf(order)).toBe('expired');
  }, 120_000);

  test('C49: ends in one of the two while the application is killed as the gateway is told to close', async () => {
    const orders = await Promise.all(Array.from({ length: 6 }, () => bench.shop().createOrder()));
    const urls = await Promise.all(orders.map(actionOf));
    await Promise.all(orders.map(cancel));
    // The customers of every second order confirm around the moment of the kill.
    const acts = urls.map(async (url, index) => {
      await later(7_800 + index * 100);
      if (index % 2 === 0) await confirm(url);
    });
    await later(8_100);
    await bench.stack().killApplication();
    await Promise.all(acts);
    await bench.stack().startApplication();
    const ends = await Promise.all(orders.map(endOf));
    expect(ends.every((end) => end === 'paid' || end === 'cancelled')).toBe(true);
    expect(ends.filter((_, index) => index % 2 === 1)).toEqual(['cancelled', 'cancelled', 'cancelled']);
  }, 240_000);
});
