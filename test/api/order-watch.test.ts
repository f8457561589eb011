import { afterAll, describe, expect, test } from 'vitest';
import { createOrderWatch } from '../../api/order-watch.ts';
import type { Database } from '../../store/database.ts';
import { listenForOrderChanges } from '../../store/orders/order-changes.ts';
import { findOrder, type Order } from '../../store/orders/orders.ts';
import { createTestDatabase } from '../support/database.ts';
import { approvalOf, claimAndSend, NO_PURCHASES, record, startTestApi } from './support.ts';

const testDatabase = await createTestDatabase();
const { database } = testDatabase;
const api = await startTestApi(testDatabase, { purchases: NO_PURCHASES });
const orderChanges = listenForOrderChanges({ url: testDatabase.url, applicationName: 'paidonce-api' });
afterAll(() => orderChanges.close());
await orderChanges.listening;

/** The same database, counting the statements that are sent to it. */
function counted(): Database & { statements: () => number } {
  let statements = 0;
  return {
    ...database,
    query: (text, values) => {
      statements += 1;
      return database.query(text, values);
    },
    statements: () => statements,
  };
}

async function orderInFlight(): Promise<Order> {
  const { id } = await api.createOrder();
  await claimAndSend(database, { id }, { attemptNumber: 1, paymentMethod: 'tok', returnUrl: null });
  const order = await findOrder(database, id);
  return order!;
}

const isPaid = ({ status }: Order): boolean => status === 'paid';
/** Nobody tells of any change, as when the listening connection is down. */
const DEAF = {
  waitForChange: (_: string, timeoutMs: number) => new Promise<void>((wake) => setTimeout(wake, timeoutMs)),
};

describe('waiting for an order', () => {
  test('fifty who wait are answered by one change with few readings of the row', async () => {
    const order = await orderInFlight();
    const observed = counted();
    const watch = createOrderWatch(observed, orderChanges);
    const waiting = Array.from({ length: 50 }, () => watch.wait({ order, isReady: isPaid, timeoutMs: 20_000 }));
    await record(database, { ...order, attemptNumber: 1 }, approvalOf(order));
    for (const seen of await Promise.all(waiting)) expect(seen.status).toBe('paid');
    expect(observed.statements()).toBeLessThanOrEqual(5);
  });

  test('a lost notification costs a second and not the answer', async () => {
    const order = await orderInFlight();
    const watch = createOrderWatch(database, DEAF);
    const began = Date.now();
    const waiting = watch.wait({ order, isReady: isPaid, timeoutMs: 20_000 });
    await record(database, { ...order, attemptNumber: 1 }, approvalOf(order));
    expect((await waiting).status).toBe('paid');
    expect(Date.now() - began).toBeLessThan(10_000);
  });

  test('whoever comes while others wait is answered from a fresh reading, not from the next poll', async () => {
    const order = await orderInFlight();
    const watch = createOrderWatch(database, { waitForChange: () => new Promise(() => undefined) });
    const first = watch.wait({ order, isReady: isPaid, timeoutMs: 20_000 });
    await watch.wait({ order, isReady: () => false, timeoutMs: 50 });
    await record(database, { ...order, attemptNumber: 1 }, approvalOf(order));
    const second = watch.wait({ order, isReady: isPaid, timeoutMs: 20_000 });
    expect((await second).status).toBe('paid');
    expect((await first).status).toBe('paid');
  });

  test('the time runs out with the order as it was last seen', async () => {
    const order = await orderInFlight();
    const watch = createOrderWatch(database, orderChanges);
    const stale = { ...order, status: 'created' as const };
    expect((await watch.wait({ order: stale, isReady: isPaid, timeoutMs: 300 })).status).toBe('processing');
    expect((await watch.wait({ order: stale, isReady: isPaid, timeoutMs: 0 })).status).toBe('created');
  });

  test('nobody who has gone is followed any further', async () => {
    const order = await orderInFlight();
    const observed = counted();
    const watch = createOrderWatch(observed, orderChanges);
    await watch.wait({ order, isReady: isPaid, timeoutMs: 100 });
    const readings = observed.statements();
    await record(database, { ...order, attemptNumber: 1 }, approvalOf(order));
    await orderChanges.waitForChange(order.id, 1_500);
    expect(observed.statements()).toBe(readings);
  });

  test('a database that goes away is told to all who wait', async () => {
    const order = await orderInFlight();
    const broken: Database = { ...database, query: () => Promise.reject(new Error('gone')) };
    const watch = createOrderWatch(broken, orderChanges);
    const waiting = [1, 2].map(() => watch.wait({ order, isReady: isPaid, timeoutMs: 20_000 }));
    for (const wait of waiting) await expect(wait).rejects.toThrow('gone');
  });
});
