import { expect, test } from 'vitest';
import { useStack } from '../support/stack.ts';
import { runStorm } from '../support/storm.ts';

const bench = useStack();
const ORDERS = 100;
const PAYS = 50;

test(`C14: ${ORDERS} orders, ${PAYS} simultaneous pays each: one charge an order in the gateway's ledger`, async () => {
  const { addresses, developmentKey } = bench.stack();
  const { api, simulator } = addresses;
  const plan = { api, apiKey: developmentKey, simulator, orders: ORDERS, paysPerOrder: PAYS, ordersAtOnce: 10 };
  const report = await runStorm(plan);
  expect(report.wrong).toEqual([]);
  expect(report.charges).toBe(ORDERS);
  for (const orderId of report.orderIds) expect(await bench.requests(orderId)).toBe(1);
  expect(Object.values(report.answers).reduce((sum, count) => sum + count, 0)).toBe(ORDERS * PAYS);
});
