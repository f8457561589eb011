import { describe, expect, test } from 'vitest';
import type { ShopOrder } from '../../cli/tour/shop.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { useStack, waitUntil } from '../support/stack.ts';

/** By its schedule nobody would ask in time: what is settled here, a return or a webhook has settled. */
const bench = useStack({ INQUIRY_SCHEDULE_SECONDS: '300,600', HANDOVER_AFTER_MS: '1000' }, true);
const SETTLED = ['paid', 'failed'];
const WITHIN_MS = 60_000;
const SHOP = 'http://127.0.0.1:9/thanks?cart=1';

async function call<Answer>(path: string, body?: object): Promise<Answer> {
  const { addresses, developmentKey } = bench.stack();
  const headers = { authorization: `Bearer ${developmentKey}`, 'content-type': 'application/json' };
  const request = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  return (await (await fetch(new URL(path, addresses.api), { headers, ...request })).json()) as Answer;
}

const createOrder = () =>
  call<ShopOrder>('/v1/orders', { amount: { minor_units: 1_999, currency: 'EUR' }, return_url: SHOP });

/** Pays until the gateway wants the customer to act. */
async function payToAction(order: ShopOrder): Promise<string> {
  const { body } = await bench.shop().pay(order, { paymentMethod: 'tok_action' });
  expect(body.status).toBe('requires_action');
  return body.action?.url ?? '';
}

/** The customer presses a button at the gateway. @returns where it sends the customer, or null when the action is over */
async function act(actionUrl: string, way: 'complete' | 'fail' = 'complete'): Promise<string | null> {
  const { status, headers } = await fetch(`${actionUrl}/${way}`, { method: 'POST', redirect: 'manual' });
  if (status !== 303) expect(status).toBe(409);
  return headers.get('location');
}

async function comeBack(link: string): Promise<string> {
  const { status, headers } = await fetch(link, { redirect: 'manual' });
  expect(status).toBe(303);
  return headers.get('location') ?? '';
}

const later = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const sentOn = (order: ShopOrder, status: string) => `${SHOP}&order_id=${order.id}&order_status=${status}`;

interface Proof {
  readonly kind: string;
  readonly proves_order_status: string | null;
}

async function proofs({ id }: ShopOrder): Promise<readonly string[]> {
  const { evidence } = await call<{ evidence: readonly Proof[] }>(`/v1/orders/${id}/evidence`);
  return evidence.filter((row) => row.proves_order_status === 'paid').map(({ kind }) => kind);
}

async function told({ id }: ShopOrder): Promise<readonly string[]> {
  const { events } = await call<{ events: readonly { kind: string }[] }>(`/v1/orders/${id}/events`);
  return events.map(({ kind }) => kind);
}

describe('an order that needs the customer to act', () => {
  test('C03: two tabs, whatever they pay with, get one and the same action, and the gateway was asked for one', async () => {
    const order = await createOrder();
    const tabs = await Promise.all(
      ['tok_action', 'tok_action', 'tok_ok_other_card'].map((paymentMethod) =>
        bench.shop().pay(order, { paymentMethod }),
      ),
    );
    const again = await bench.shop().pay(order, { paymentMethod: 'tok_action' });
    const urls = new Set([...tabs, again].map(({ body }) => body.action?.url ?? body.status));
    expect(urls.size).toBe(1);
    expect(await bench.requests(order.id)).toBe(1);
  });

  test('C03: both tabs confirm, and one charge comes of it', async () => {
    const order = await createOrder();
    const url = await payToAction(order);
    const links = await Promise.all([act(url), act(url)]);
    expect(links.filter((link) => link !== null)).toHaveLength(1);
    expect(await comeBack(links.find((link) => link !== null)!)).toBe(sentOn(order, 'paid'));
    expect(await bench.ledger().charges(order.id)).toBe(1);
  });

  test('is found paid by the return alone, when the webhook is lost and no inquiry is due', async () => {
    const order = await createOrder();
    const url = await payToAction(order);
    const match = { reference_prefix: merchantReference(order.id, 1).slice(0, 26) };
    await bench.simulator().addFault({ fault: { kind: 'webhook_lost' }, match });
    expect(await comeBack((await act(url))!)).toBe(sentOn(order, 'paid'));
    expect(await proofs(order)).toEqual(['inquiry']);
  });

  test('is found failed when the customer refuses, and can be paid anew', async () => {
    const order = await createOrder();
    const link = await act(await payToAction(order), 'fail');
    expect(await comeBack(link!)).toBe(sentOn(order, 'failed'));
    const { status, payment_token: token } = await bench.shop().read(order.id);
    expect([status, token?.attempt_number]).toEqual(['failed', 2]);
  });

  test('C41: is paid by the webhook when the customer never comes back', async () => {
    const order = await createOrder();
    await act(await payToAction(order));
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect(await proofs(order)).toEqual(['webhook']);
  });

  test('C19, C20, C23: 100 orders whose customers come back on two devices as the webhook comes: each effect once', async () => {
    const one = async (index: number): Promise<void> => {
      const order = await createOrder();
      const link = await act(await payToAction(order));
      // The webhook comes half a second after the charge; some are back before it, some after it.
      await later((index % 10) * 100);
      const places = await Promise.all([comeBack(link!), comeBack(link!)]);
      expect(places).toEqual([sentOn(order, 'paid'), sentOn(order, 'paid')]);
      expect(await proofs(order)).toHaveLength(1);
      expect((await told(order)).filter((kind) => kind === 'order.paid')).toHaveLength(1);
      expect(await bench.ledger().charges(order.id)).toBe(1);
      const found = await call<{ entitlements: readonly unknown[] }>(`/v1/orders/${order.id}/entitlements`);
      expect(found.entitlements).toHaveLength(1);
    };
    for (let wave = 0; wave < 100; wave += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, index) => one(wave + index)));
    }
  }, 120_000);

  test('C20: the link of an order that is long over sends on and changes nothing', async () => {
    const order = await createOrder();
    const link = await act(await payToAction(order));
    await comeBack(link!);
    const before = await call(`/v1/orders/${order.id}`);
    expect(await comeBack(link!)).toBe(sentOn(order, 'paid'));
    expect(await call(`/v1/orders/${order.id}`)).toEqual(before);
  });

  test('comes back while the application is killed, and again when it is there', async () => {
    const order = await createOrder();
    const link = await act(await payToAction(order));
    await bench.stack().killApplication();
    await expect(comeBack(link!)).rejects.toThrow();
    await bench.stack().startApplication();
    await waitUntil('the way back leads on', async () => (await comeBack(link!)) === sentOn(order, 'paid'));
    expect(await bench.ledger().charges(order.id)).toBe(1);
  });
});
