import { describe, expect, test } from 'vitest';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { refundWorkflowId } from '../../workflows/ids.ts';
import { useStack, waitUntil } from '../support/stack.ts';

/** Inquiries that come too late to help: what is settled here, a webhook has settled. */
const bench = useStack({ INQUIRY_SCHEDULE_SECONDS: '300,600', HANDOVER_AFTER_MS: '1000' }, true);
const SETTLED = ['paid', 'failed'];
const WITHIN_MS = 60_000;

interface Listed {
  readonly id: string;
  readonly state: string;
  readonly type: string;
  readonly remark: string | null;
}

async function call(path: string, method = 'GET'): Promise<Record<string, unknown>> {
  const { addresses, developmentKey } = bench.stack();
  const headers = { authorization: `Bearer ${developmentKey}` };
  return (await (await fetch(new URL(path, addresses.api), { method, headers })).json()) as Record<string, unknown>;
}

const inbox = async (orderId: string) =>
  (await call(`/v1/inbox-events?order_id=${orderId}`)).inbox_events as readonly Listed[];
const states = async (orderId: string) => (await inbox(orderId)).map(({ state }) => state);

async function proofs(orderId: string): Promise<readonly string[]> {
  const { evidence } = await call(`/v1/orders/${orderId}/evidence`);
  return (evidence as { kind: string; proves_order_status: string | null }[])
    .filter(({ proves_order_status: proves }) => proves === 'paid')
    .map(({ kind }) => kind);
}

type Fault = Parameters<ReturnType<typeof bench.simulator>['addFault']>[0]['fault'];

async function orderWith(...faults: readonly Fault[]) {
  const order = await bench.shop().createOrder();
  const match = { reference_prefix: merchantReference(order.id, 1).slice(0, 26) };
  for (const fault of faults) await bench.simulator().addFault({ fault, match });
  return order;
}

const events = (orderId: string) => bench.simulator().webhooks(merchantReference(orderId, 1).slice(0, 26));
const delivered = (orderId: string, count = 1) =>
  waitUntil('the webhook is taken', async () => (await events(orderId)).filter((one) => one.delivered).length >= count);

describe('with real processes', () => {
  test('the webhook that comes after the answer is nothing new', async () => {
    const order = await orderWith();
    await bench.shop().pay(order);
    await delivered(order.id);
    await waitUntil('it is applied', async () => (await states(order.id)).join() === 'nothing_new');
    expect(await proofs(order.id)).toEqual(['gateway_response']);
    expect(await bench.ledger().charges(order.id)).toBe(1);
  });

  test('C41: it comes before the answer, while the charge is on its way, and the order is paid by it', async () => {
    const order = await orderWith({ kind: 'webhook_first' }, { kind: 'slow', seconds: 6, charge: 'at_once' });
    const began = Date.now();
    await bench.shop().pay(order, { waitSeconds: 0 });
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect(Date.now() - began).toBeLessThan(5_900);
    expect(await proofs(order.id)).toEqual(['webhook']);
    await waitUntil('the slow answer has come as well', async () => Date.now() > began + 7_000);
    expect((await bench.shop().read(order.id)).status).toBe('paid');
    expect(await bench.ledger().charges(order.id)).toBe(1);
  });

  test('the answer is lost, and the webhook tells', async () => {
    const order = await orderWith({ kind: 'lost_answer' });
    await bench.shop().pay(order, { waitSeconds: 0 });
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect(await proofs(order.id)).toEqual(['webhook']);
    expect(await bench.requests(order.id)).toBe(1);
  });

  test('C28: it comes twice at once, and under two ids: one effect', async () => {
    for (const as of ['same_event', 'other_event'] as const) {
      const order = await orderWith({ kind: 'lost_answer' }, { kind: 'webhook_twice', as });
      await bench.shop().pay(order, { waitSeconds: 0 });
      expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
      const [one, two] = [['applied'], ['applied', 'nothing_new']];
      const expected = as === 'same_event' ? one : two;
      await waitUntil('all is applied', async () => (await states(order.id)).sort().join() === expected.join());
      expect(await proofs(order.id)).toEqual(['webhook']);
    }
  });

  test('C36: they come out of order, "pending" after "approved"', async () => {
    const pending = { kind: 'pending', seconds: 1, settles_as: 'approved' } as const;
    const order = await orderWith(pending, { kind: 'webhook_out_of_order' });
    await bench.shop().pay(order, { waitSeconds: 0 });
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    await delivered(order.id, 2);
    await waitUntil('both are applied', async () => (await states(order.id)).sort().join() === 'applied,nothing_new');
    expect((await bench.shop().read(order.id)).status).toBe('paid');
  });

  test('it names another amount: not applied, a person looks', async () => {
    const order = await orderWith({ kind: 'lost_answer' }, { kind: 'webhook_wrong', by: -1 });
    await bench.shop().pay(order, { waitSeconds: 0 });
    await waitUntil('it is doubted', async () => (await states(order.id)).join() === 'doubted');
    const row = await call(`/v1/orders/${order.id}`);
    expect(row).toMatchObject({ status: 'unknown', needs_review: true });
  });

  test('it is forged: refused, and nothing is stored', async () => {
    const order = await orderWith({ kind: 'webhook_forged' });
    await bench.shop().pay(order);
    await waitUntil('it was tried', async () => ((await events(order.id))[0]?.tries.length ?? 0) > 0);
    expect((await events(order.id))[0]?.tries.map(({ status }) => status)).toEqual([400]);
    expect(await inbox(order.id)).toEqual([]);
  });

  test('the API is killed while it comes: the gateway tries again until it is taken', async () => {
    const order = await orderWith({ kind: 'lost_answer' }, { kind: 'webhook_late', seconds: 2 });
    await bench.shop().pay(order, { waitSeconds: 0 });
    await waitUntil('the money has moved', async () => (await bench.ledger().charges(order.id)) === 1);
    await bench.stack().killApplication();
    await waitUntil('it was tried in vain', async () => ((await events(order.id))[0]?.tries.length ?? 0) > 0);
    await bench.stack().startApplication();
    expect((await bench.shop().waitFor(order.id, SETTLED, WITHIN_MS)).status).toBe('paid');
    expect(await proofs(order.id)).toEqual(['webhook']);
    expect(await bench.ledger().charges(order.id)).toBe(1);
  });

  test('a refund whose answer was lost is told by its webhook, and its workflow does not wait for the next inquiry', async () => {
    const order = await orderWith();
    await bench.shop().pay(order);
    const match = { reference_prefix: merchantReference(order.id, 1).slice(0, 26), request: 'refund' } as const;
    await bench.simulator().addFault({ fault: { kind: 'lost_answer' }, match });
    await bench.simulator().addFault({ fault: { kind: 'webhook_late', seconds: 2 }, match });
    const { addresses, developmentKey } = bench.stack();
    const headers = { authorization: `Bearer ${developmentKey}`, 'content-type': 'application/json' };
    const url = new URL(`/v1/orders/${order.id}/refunds`, addresses.api);
    const { id } = (await (await fetch(url, { method: 'POST', headers, body: '{}' })).json()) as { id: string };
    const workflow = bench.temporal().workflow.getHandle(refundWorkflowId(id));
    await waitUntil('its workflow ends', async () => (await workflow.describe()).status.name === 'COMPLETED');
    expect(await call(`/v1/refunds/${id}`)).toMatchObject({ status: 'succeeded', sends: 1 });
    expect(await bench.simulator().ledger({ prefix: match.reference_prefix })).toMatchObject([{ refunds: 1 }]);
  });

  test('replaying what was applied changes nothing', async () => {
    const order = await orderWith();
    await bench.shop().pay(order);
    await waitUntil('it is applied', async () => (await states(order.id)).join() === 'nothing_new');
    const [event] = await inbox(order.id);
    expect(await call(`/v1/inbox-events/${event!.id}/replay`, 'POST')).toMatchObject({ state: 'nothing_new' });
  });
});
