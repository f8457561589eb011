import { describe, expect, test } from 'vitest';
import { useStack, waitUntil } from '../support/stack.ts';

/** Published double charges, each provoked on our own product; the gateway's ledger is the judge. */
const bench = useStack();
const SETTLED = ['paid', 'failed'];
const WITHIN_MS = 60_000;

describe('one order, one charge', () => {
  test('C01: a double click with two different idempotency keys', async () => {
    const order = await bench.shop().createOrder();
    const answers = await Promise.all([
      bench.shop().pay(order, { idempotencyKey: 'click-1' }),
      bench.shop().pay(order, { idempotencyKey: 'click-2' }),
    ]);
    for (const { status, body } of answers) expect([status, body.status]).toEqual([200, 'paid']);
    expect(await bench.ledger().charges(order.id)).toBe(1);
    expect(await bench.requests(order.id)).toBe(1);
  });

  test('C05: the same submit again while the first is still being charged', async () => {
    const order = await bench.shop().createOrder();
    await bench.ledger().fault(order.id, { kind: 'slow', seconds: 3 });
    const first = bench.shop().pay(order);
    await bench.ledger().waitForCharge(order.id);
    const second = await bench.shop().pay(order);
    expect([(await first).body.status, second.body.status]).toEqual(['paid', 'paid']);
    expect(await bench.requests(order.id)).toBe(1);
  });

  test('C06: the process halts after the gateway charged; the shopper sees an error and clicks again', async () => {
    const order = await bench.shop().createOrder();
    await bench.ledger().fault(order.id, { kind: 'slow', seconds: 4 });
    const lost = bench
      .shop()
      .pay(order, { idempotencyKey: 'first' })
      .catch(() => undefined);
    await bench.ledger().waitForCharge(order.id);
    await bench.stack().killApplication();
    await lost;
    await bench.stack().startApplication();
    await bench.shop().pay(order, { idempotencyKey: 'second' });
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect(await bench.ledger().charges(order.id)).toBe(1);
    expect(await bench.requests(order.id)).toBe(1);
  });

  test('C07: a proxy sends the request twice; both copies carry one key and one reference', async () => {
    const order = await bench.shop().createOrder();
    const { body } = await bench.shop().pay(order, { paymentMethod: 'tok_duplicated' });
    expect(body.status).toBe('paid');
    expect(await bench.requests(order.id)).toBe(2);
    expect(await bench.ledger().charges(order.id)).toBe(1);
  });

  test('C08: a slow success; the client times out and asks again, and again', async () => {
    const order = await bench.shop().createOrder();
    await bench.ledger().fault(order.id, { kind: 'slow', seconds: 20 });
    const impatient = [];
    for (let click = 0; click < 3; click += 1) {
      impatient.push(await bench.shop().pay(order, { idempotencyKey: `click-${click}`, waitSeconds: 0 }));
    }
    for (const { status } of impatient) expect([200, 202]).toContain(status);
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect(await bench.requests(order.id)).toBe(1);
  });

  test('C09: a client that makes a fresh key for every retry', async () => {
    const order = await bench.shop().createOrder();
    for (let retry = 0; retry < 5; retry += 1) {
      const { body } = await bench.shop().pay(order, { idempotencyKey: `retry-${retry}` });
      expect(body.status).toBe('paid');
    }
    expect(await bench.requests(order.id)).toBe(1);
  });

  test('C11: a 500 after the charge is "we do not know", not "failed"', async () => {
    const order = await bench.shop().createOrder();
    await bench.shop().pay(order, { paymentMethod: 'tok_error_after', waitSeconds: 0 });
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect(await bench.ledger().charges(order.id)).toBe(1);
  });

  test('C12: an empty answer to a charge that was made; the shopper submits three times', async () => {
    const order = await bench.shop().createOrder();
    await bench.ledger().fault(order.id, { kind: 'unreadable', as: 'empty' });
    for (let submit = 0; submit < 3; submit += 1) {
      const { status } = await bench.shop().pay(order, { idempotencyKey: `submit-${submit}`, waitSeconds: 0 });
      expect([200, 202]).toContain(status);
    }
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect(await bench.ledger().charges(order.id)).toBe(1);
    expect(await bench.requests(order.id)).toBe(1);
  });

  test('C66, C68: after a decline a new attempt has a new number, token and key; the old token charges nothing', async () => {
    const order = await bench.shop().createOrder();
    const declined = (await bench.shop().pay(order, { paymentMethod: 'tok_declined' })).body;
    expect(declined).toMatchObject({ status: 'failed', decline: { code: 'card_declined' } });
    expect(declined.payment_token?.attempt_number).toBe(2);
    const stale = (await bench.shop().pay(order, { paymentMethod: 'tok_ok' })).body;
    expect(stale.status).toBe('failed');
    expect(await bench.requests(order.id)).toBe(1);
    expect((await bench.shop().pay(declined)).body.status).toBe('paid');
    expect((await bench.shop().pay(order)).body.status).toBe('paid');
    expect(await bench.ledger().charges(order.id)).toBe(1);
    expect(await bench.requests(order.id)).toBe(2);
  });

  test('C71: a gateway that takes a second order for a duplicate declines it by name; the first one does not pay for it', async () => {
    const [first, second] = [await bench.shop().createOrder(), await bench.shop().createOrder()];
    await bench.ledger().fault(second.id, { kind: 'decline', code: 'possible_duplicate' });
    expect((await bench.shop().pay(first)).body.status).toBe('paid');
    const refused = (await bench.shop().pay(second)).body;
    expect(refused).toMatchObject({ status: 'failed', decline: { code: 'possible_duplicate' } });
    expect(await bench.ledger().charges(second.id)).toBe(0);
  });

  test('C83: the worker dies while it holds the claim, before anything was sent', async () => {
    const order = await bench.shop().createOrder();
    await bench.ledger().fault(order.id, { kind: 'never_arrives' });
    const click = bench
      .shop()
      .pay(order, { waitSeconds: 0 })
      .catch(() => undefined);
    await waitUntil('the attempt is claimed', async () => (await bench.shop().read(order.id)).attempt_number === 1);
    await bench.stack().killApplication();
    await click;
    await bench.stack().startApplication();
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect(await bench.ledger().charges(order.id)).toBe(1);
  });

  test('C84: an order that was never paid does not stand in the way of the next one', async () => {
    const abandoned = await bench.shop().createOrder();
    const next = await bench.shop().createOrder();
    expect((await bench.shop().pay(next)).body.status).toBe('paid');
    expect((await bench.shop().read(abandoned.id)).status).toBe('created');
  });

  test('a late request that arrives after its sender gave up is found, not repeated', async () => {
    const order = await bench.shop().createOrder();
    await bench.ledger().fault(order.id, { kind: 'late', seconds: 4 });
    await bench.shop().pay(order, { waitSeconds: 0 });
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect(await bench.ledger().charges(order.id)).toBe(1);
  });

  test('an answer with another amount, and one with another reference, are never applied as they stand', async () => {
    for (const kind of ['wrong_amount', 'wrong_reference']) {
      const order = await bench.shop().createOrder();
      await bench.ledger().fault(order.id, { kind });
      await bench.shop().pay(order, { waitSeconds: 0 });
      expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
      expect(await bench.ledger().charges(order.id)).toBe(1);
    }
  });

  test('a charge that the gateway first calls pending, then approves or declines', async () => {
    const expected = { tok_pending_approved: 'paid', tok_pending_declined: 'failed' };
    for (const [paymentMethod, status] of Object.entries(expected)) {
      const order = await bench.shop().createOrder();
      await bench.shop().pay(order, { paymentMethod, waitSeconds: 0 });
      expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe(status);
      expect(await bench.ledger().charges(order.id)).toBe(status === 'paid' ? 1 : 0);
    }
  });

  test('C15: the customer confirms at the gateway while the shop pays for the same order again', async () => {
    const order = await bench.shop().createOrder();
    await bench.shop().pay(order, { paymentMethod: 'tok_action' });
    const confirmed = bench.simulator().act(await bench.gatewayReference(order.id), 'complete');
    await Promise.all([confirmed, ...[1, 2, 3].map(() => bench.shop().pay(order, { waitSeconds: 0 }))]);
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect(await bench.ledger().charges(order.id)).toBe(1);
    expect(await bench.requests(order.id)).toBe(1);
  });

  test('C03: two tabs get the one action of the one attempt; its confirmation pays once', async () => {
    const order = await bench.shop().createOrder();
    const tabs = await Promise.all([1, 2].map(() => bench.shop().pay(order, { paymentMethod: 'tok_action' })));
    const [first, second] = tabs.map(({ body }) => body);
    expect(first).toMatchObject({ status: 'requires_action' });
    expect(second?.action).toEqual(first?.action);
    expect(await bench.requests(order.id)).toBe(1);
    await bench.simulator().act(await bench.gatewayReference(order.id), 'complete');
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect(await bench.ledger().charges(order.id)).toBe(1);
  });
});
