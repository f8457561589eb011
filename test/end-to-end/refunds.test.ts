import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { merchantReference } from '../../domain/merchant-reference.ts';
import type { FaultInput } from '../../gateways/simulator/control.ts';
import { useStack, waitUntil } from '../support/stack.ts';

const bench = useStack(
  { INQUIRY_SCHEDULE_SECONDS: '1,2,4,300', HANDOVER_AFTER_MS: '1000', REFUND_APPROVAL_LIMITS: '{"EUR": 5000}' },
  true,
);
const COMMAND = join(import.meta.dirname, '..', '..', 'cli', 'paidonce.mjs');

interface Refund {
  readonly id: string;
  readonly status: string;
  readonly over_payment_id: string | null;
  readonly failure_code: string | null;
}

interface Said {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function call(path: string, body?: object, headers: Readonly<Record<string, string>> = {}): Promise<Said> {
  const { addresses, developmentKey } = bench.stack();
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(new URL(path, addresses.api), {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${developmentKey}`, ...json, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const matchOf = (orderId: string, request: 'charge' | 'refund') => ({
  reference_prefix: merchantReference(orderId, 1).slice(0, 26),
  request,
});
const addFault = (orderId: string, fault: FaultInput['fault']) =>
  bench.simulator().addFault({ fault, match: matchOf(orderId, 'refund') });

/** An order, paid. */
async function paidOrder(minorUnits = 1_000): Promise<string> {
  const { body } = await call('/v1/orders', { amount: { minor_units: minorUnits, currency: 'EUR' } });
  const order = body as unknown as Parameters<ReturnType<typeof bench.shop>['pay']>[0];
  expect((await bench.shop().pay(order)).body.status).toBe('paid');
  return order.id;
}

const askBack = (orderId: string, minorUnits: number, headers?: Readonly<Record<string, string>>) =>
  call(`/v1/orders/${orderId}/refunds`, { amount: { minor_units: minorUnits, currency: 'EUR' } }, headers);
const refundsOf = async (orderId: string) => (await call(`/v1/orders/${orderId}/refunds`)).body.refunds as Refund[];
const statuses = async (orderId: string) => (await refundsOf(orderId)).map(({ status }) => status).sort();
const orderOf = async (orderId: string) => (await call(`/v1/orders/${orderId}`)).body;
const toldOf = async (orderId: string) =>
  ((await call(`/v1/orders/${orderId}/events`)).body.events as { kind: string }[]).map(({ kind }) => kind);

/** What the gateway itself has moved for all attempts of the order. */
async function moved(orderId: string) {
  const rows = await bench.simulator().ledger({ prefix: matchOf(orderId, 'charge').reference_prefix });
  const sum = (number: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + number(row), 0);
  const money = { refunds: sum(({ refunds }) => refunds), refunded: sum(({ refunded }) => refunded?.minor_units ?? 0) };
  return { charges: sum(({ charges }) => charges), ...money };
}

const allSettled = (orderId: string, count: number) =>
  waitUntil(`${count} refunds have ended`, async () => {
    const ended = (await statuses(orderId)).filter((status) => status === 'succeeded' || status === 'failed');
    return ended.length === count;
  });

describe('a refund', () => {
  test.for([
    ['found out by asking', [{ kind: 'webhook_lost' }]],
    ['told by a webhook', [{ kind: 'inquiry_not_found' }]],
  ] as const)('whose answer is lost is made once, %s', async ([, faults]) => {
    const orderId = await paidOrder();
    for (const fault of [{ kind: 'lost_answer' } as const, ...faults]) await addFault(orderId, fault);
    expect((await askBack(orderId, 400)).status).toBe(201);
    await allSettled(orderId, 1);
    expect(await statuses(orderId)).toEqual(['succeeded']);
    expect(await orderOf(orderId)).toMatchObject({ status: 'paid', refund_status: 'partial' });
    expect(await moved(orderId)).toEqual({ charges: 1, refunds: 1, refunded: 400 });
  });

  test('C72: whose event comes before its answer is one refund', async () => {
    const orderId = await paidOrder();
    await addFault(orderId, { kind: 'webhook_first' });
    await addFault(orderId, { kind: 'slow', seconds: 3 });
    await askBack(orderId, 1_000);
    await allSettled(orderId, 1);
    expect(await orderOf(orderId)).toMatchObject({ status: 'paid', refund_status: 'full' });
    expect(await refundsOf(orderId)).toHaveLength(1);
    expect(await moved(orderId)).toEqual({ charges: 1, refunds: 1, refunded: 1_000 });
    expect((await toldOf(orderId)).filter((kind) => kind === 'refund.succeeded')).toHaveLength(1);
  });

  test('C73: clicked twice with one key is made once', async () => {
    const orderId = await paidOrder();
    const headers = { 'idempotency-key': randomUUID() };
    const clicks = await Promise.all([askBack(orderId, 392, headers), askBack(orderId, 392, headers)]);
    expect(clicks.some(({ status }) => status === 201)).toBe(true);
    await allSettled(orderId, 1);
    expect(await refundsOf(orderId)).toHaveLength(1);
    expect(await moved(orderId)).toEqual({ charges: 1, refunds: 1, refunded: 392 });
  });

  test('C74: of 4.00, three at once of 10.00: two are made', async () => {
    const orderId = await paidOrder();
    const answers = await Promise.all([1, 2, 3].map(() => askBack(orderId, 400)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409]);
    await allSettled(orderId, 2);
    expect(await moved(orderId)).toEqual({ charges: 1, refunds: 2, refunded: 800 });
  });

  test('C77: that fails the next day can be made again, the merchant is told, and the order stays paid', async () => {
    const orderId = await paidOrder();
    await addFault(orderId, { kind: 'fails_later', seconds: 2 });
    await askBack(orderId, 1_000);
    await waitUntil('it came back', async () => (await refundsOf(orderId))[0]?.failure_code === 'returned_by_bank');
    expect(await orderOf(orderId)).toMatchObject({ status: 'paid', refund_status: 'none' });
    expect(await toldOf(orderId)).toEqual(expect.arrayContaining(['refund.succeeded', 'refund.failed']));
    expect(await moved(orderId)).toEqual({ charges: 1, refunds: 0, refunded: 0 });
    expect((await askBack(orderId, 1_000)).status).toBe(201);
    await allSettled(orderId, 2);
    expect(await moved(orderId)).toEqual({ charges: 1, refunds: 1, refunded: 1_000 });
  });
});

test('C80: after a lost dispute nothing is refunded, and a refund that waited for a won one goes out', async () => {
  const [lost, won] = [await paidOrder(), await paidOrder()];
  const dispute = async (orderId: string, status: 'opened' | 'won' | 'lost', id?: string) => {
    const charge = await bench.gatewayReference(orderId);
    return bench.simulator().dispute({ charge, status, ...(id !== undefined && { dispute: id }) });
  };
  const told = (orderId: string, kind: string) =>
    waitUntil(`${kind} is told`, async () => (await toldOf(orderId)).includes(kind));
  const ofLost = await dispute(lost, 'opened');
  await told(lost, 'dispute.opened');
  expect((await askBack(lost, 100)).body).toMatchObject({ code: 'order_disputed' });
  await dispute(lost, 'lost', ofLost);
  await told(lost, 'dispute.lost');
  expect((await askBack(lost, 100)).body).toMatchObject({ code: 'refund_exceeds_captured' });
  expect(await moved(lost)).toEqual({ charges: 1, refunds: 0, refunded: 0 });

  await addFault(won, { kind: 'not_accepted', status: 503 });
  await askBack(won, 100);
  const ofWon = await dispute(won, 'opened');
  await dispute(won, 'won', ofWon);
  await allSettled(won, 1);
  expect(await moved(won)).toEqual({ charges: 1, refunds: 1, refunded: 100 });
});

test('an over-payment: a late approval of a dead attempt is refunded once, and the order can still be paid', async () => {
  const shop = bench.shop();
  const order = await shop.createOrder();
  const refused = await shop.pay(order, { paymentMethod: 'tok_declined' });
  expect(refused.body.status).toBe('failed');
  // A copy of the request was stuck on its way, and this gateway takes it for a new one.
  await bench
    .simulator()
    .addFault({ fault: { kind: 'webhook_twice', as: 'other_event' }, match: matchOf(order.id, 'charge') });
  const late = await fetch(`${bench.stack().addresses.simulator}/simulator/v1/charges`, {
    method: 'POST',
    headers: { authorization: 'Bearer key', 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify({
      reference: merchantReference(order.id, 1),
      amount: { minor_units: 1_999, currency: 'EUR' },
      payment_method: 'tok_ok',
    }),
  });
  expect(late.status).toBe(201);
  await allSettled(order.id, 1);
  expect(await refundsOf(order.id)).toMatchObject([{ status: 'succeeded', over_payment_id: expect.any(String) }]);
  expect(await moved(order.id)).toEqual({ charges: 1, refunds: 1, refunded: 1_999 });
  expect((await toldOf(order.id)).filter((kind) => kind === 'order.over_paid')).toHaveLength(1);

  expect((await shop.pay(refused.body)).body.status).toBe('paid');
  expect(await orderOf(order.id)).toMatchObject({ status: 'paid', refund_status: 'none' });
  expect(await moved(order.id)).toEqual({ charges: 2, refunds: 1, refunded: 1_999 });
});

/** As a person types it. */
async function command<Answer>(apiKey: string, ...words: readonly string[]): Promise<Answer> {
  const { addresses, databaseUrl } = bench.stack();
  const access = { PAIDONCE_API_URL: addresses.api, PAIDONCE_API_KEY: apiKey, DATABASE_URL: databaseUrl };
  const env = { ...process.env, ...access };
  const { stdout } = await promisify(execFile)(process.execPath, [COMMAND, ...words, '--json'], { env });
  return JSON.parse(stdout) as Answer;
}

test('an operator makes a refund from the command line, and a second one above the limit lets it go', async () => {
  const { developmentKey } = bench.stack();
  const orderId = await paidOrder(9_000);
  const refunds = async (...words: readonly string[]) =>
    (await command<{ refunds: Refund[] }>(developmentKey, 'refunds', ...words)).refunds;
  const [made] = await refunds('create', orderId, '--minor-units', '6000', '--reason', 'The parcel was lost.');
  expect(made).toMatchObject({ status: 'awaiting_approval' });
  expect((await refunds('list', '--status', 'awaiting_approval')).map(({ id }) => id)).toEqual([made?.id]);
  await expect(refunds('approve', made?.id ?? '')).rejects.toThrow(/refund_approver_is_requester/);
  const second = ['api-keys', 'create', '--role', 'operate', '--name', 'second'] as const;
  const { key } = await command<{ key: string }>(developmentKey, ...second);
  await command(key, 'refunds', 'approve', made?.id ?? '');
  await allSettled(orderId, 1);
  expect(await refunds('show', made?.id ?? '')).toMatchObject([{ status: 'succeeded' }]);
  expect(await moved(orderId)).toEqual({ charges: 1, refunds: 1, refunded: 6_000 });
});
