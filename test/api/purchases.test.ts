import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { createPurchaseStarter, type PurchaseStarter } from '../../api/purchases.ts';
import { findPrograms } from '../../cli/setup.mjs';
import { findOrder, type Order } from '../../store/orders/orders.ts';
import type { PurchaseInput } from '../../workflows/messages.ts';
import { GATEWAY, NEEDS_REVIEW, ORDER_STATUS } from '../../workflows/search-attributes.ts';
import { createTestDatabase } from '../support/database.ts';
import { NO_PURCHASES, startTestApi } from './support.ts';

/** What the API says to a real Temporal server. No worker runs: here it matters what is started and signalled, and how often. */
const testDatabase = await createTestDatabase();
const api = await startTestApi(testDatabase, { purchases: NO_PURCHASES });
const environment = await startTemporal();
afterAll(() => environment.teardown());
const { client } = environment;

const SETTINGS = { handoverAfterMs: 3_000, inquiryScheduleSeconds: [5, 15] };
const starter = createPurchaseStarter({ client, eager: false, settings: SETTINGS });

function startTemporal(): Promise<TestWorkflowEnvironment> {
  const { temporal, missing } = findPrograms();
  if (temporal === null) throw new Error(missing.join(' '));
  return TestWorkflowEnvironment.createLocal({
    server: {
      executable: { type: 'existing-path', path: temporal },
      searchAttributes: [ORDER_STATUS, GATEWAY, NEEDS_REVIEW],
      log: { format: 'json', level: 'error' },
    },
  });
}

async function newOrder(): Promise<Order> {
  const { id } = await api.createOrder();
  return (await findOrder(testDatabase.database, id))!;
}

const attempt = (attemptNumber: number) => ({ attemptNumber, paymentMethod: 'tok', returnUrl: null });

async function eventsOf(order: Order): Promise<string[]> {
  const { events = [] } = await client.workflow.getHandle(order.id).fetchHistory();
  return (events ?? []).map((event) =>
    event.workflowExecutionSignaledEventAttributes
      ? `signal ${event.workflowExecutionSignaledEventAttributes.signalName}`
      : '',
  );
}

describe('the first pay', () => {
  test("starts one workflow whose id is the order's, with what operators filter and read by", async () => {
    const order = await newOrder();
    expect(await starter.pay(order, attempt(1))).toBe('started');

    const described = await client.workflow.getHandle(order.id).describe();
    expect(described.type).toBe('purchase');
    expect(described.taskQueue).toBe('paidonce');
    expect(described.typedSearchAttributes.get(ORDER_STATUS)).toBe('processing');
    expect(described.typedSearchAttributes.get(GATEWAY)).toBe('simulator');
    expect(described.typedSearchAttributes.get(NEEDS_REVIEW)).toBe(false);
    expect(await described.staticSummary()).toBe(`19.99 EUR by simulator, order ${order.id}`);
    expect(await described.staticDetails()).toContain(order.expiresAt);
    expect(described.raw.executionConfig?.defaultWorkflowTaskTimeout?.seconds?.toString()).toBe('5');

    const { events } = await client.workflow.getHandle(order.id).fetchHistory();
    const payload = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data;
    const input = JSON.parse(Buffer.from(payload!).toString()) as PurchaseInput;
    expect(input).toEqual({
      orderId: order.id,
      gateway: 'simulator',
      expiresAt: order.expiresAt,
      attempt: attempt(1),
      settings: SETTINGS,
    });
  });

  test('a repeat attaches, signals nothing and starts nothing', async () => {
    const order = await newOrder();
    await starter.pay(order, attempt(1));
    const { runId } = (await client.workflow.getHandle(order.id).describe()) as { runId: string };
    expect(await starter.pay(order, { ...attempt(1), paymentMethod: 'tok_other' })).toBe('attached');
    expect((await client.workflow.getHandle(order.id).describe()).runId).toBe(runId);
    expect(await eventsOf(order)).not.toContain('signal pay');
  });

  test('of many processes at once exactly one starts', async () => {
    const order = await newOrder();
    const processes = Array.from({ length: 10 }, () =>
      createPurchaseStarter({ client, eager: false, settings: SETTINGS }),
    );
    const ways = await Promise.all(
      processes.flatMap((one) => [one.pay(order, attempt(1)), one.pay(order, attempt(1))]),
    );
    // The two calls of one process share one call to Temporal, and so its answer.
    expect(ways.filter((way) => way === 'started').length).toBe(2);
    expect(ways.filter((way) => way === 'attached').length).toBe(18);
  });

  test('starts the workflow again when somebody has ended it, and only then', async () => {
    const order = await newOrder();
    await starter.pay(order, attempt(1));
    await client.workflow.getHandle(order.id).terminate('by a test');
    expect(await starter.pay(order, attempt(1))).toBe('started');
    const { runId } = await client.workflow.getHandle(order.id).describe();
    expect(await starter.pay(order, attempt(1))).toBe('attached');
    expect(await client.workflow.getHandle(order.id).describe()).toMatchObject({ runId, status: { name: 'RUNNING' } });
  });
});

describe('a further attempt', () => {
  test('reaches the running workflow as a signal', async () => {
    const order = await newOrder();
    await starter.pay(order, attempt(1));
    expect(await starter.pay(order, attempt(2))).toBe('attached');
    expect((await eventsOf(order)).filter((event) => event === 'signal pay').length).toBe(1);
  });

  test('starts the workflow when Temporal has lost it', async () => {
    const order = await newOrder();
    expect(await starter.pay(order, attempt(2))).toBe('started');
    expect(await eventsOf(order)).not.toContain('signal pay');
  });

  test('starts the workflow again when somebody has ended it', async () => {
    const order = await newOrder();
    await starter.pay(order, attempt(1));
    await client.workflow.getHandle(order.id).terminate('by a test');
    expect(await starter.pay(order, attempt(2))).toBe('started');
    expect(await starter.pay(order, attempt(2))).toBe('attached');
  });
});

describe('an order that was left alone', () => {
  test('gets its workflow back, once, whoever asks and how often', async () => {
    const order = await newOrder();
    const resume = () => starter.resume(order, attempt(1));
    expect(await resume()).toBe('resumed');
    expect(await resume()).toBe('running');
    await client.workflow.getHandle(order.id).terminate('by a test');
    const others = Array.from({ length: 5 }, () => createPurchaseStarter({ client, eager: false, settings: SETTINGS }));
    const ways = await Promise.all(others.map((other) => other.resume(order, attempt(1))));
    expect(ways.filter((way) => way === 'resumed')).toHaveLength(1);
  });
});

describe('a decision', () => {
  const decision = { outcome: 'paid', operator: 'Ada', reason: 'seen on the bank statement' } as const;

  test('is refused when there is no workflow to take it', async () => {
    expect(await starter.settle(randomUUID(), decision)).toBe('refused');
  });

  test('answers temporal_unavailable in time when no worker runs', async () => {
    const order = await newOrder();
    await starter.pay(order, attempt(1));
    const began = Date.now();
    await expect(starter.settle(order.id, decision)).rejects.toMatchObject({ code: 'temporal_unavailable' });
    expect(Date.now() - began).toBeLessThan(20_000);
    await starter.ended();
  });
});

test('an eager start on the connection of a worker is taken as well', async () => {
  const { nativeConnection, namespace } = environment;
  const beside = new Client({ connection: nativeConnection, ...(namespace !== undefined && { namespace }) });
  const eager: PurchaseStarter = createPurchaseStarter({ client: beside, eager: true, settings: SETTINGS });
  const order = await newOrder();
  expect(await eager.isReachable()).toBe(true);
  expect(await eager.pay(order, attempt(1))).toBe('started');
  expect(await eager.pay(order, attempt(1))).toBe('attached');
  expect(await eager.pay(order, attempt(2))).toBe('attached');
});
