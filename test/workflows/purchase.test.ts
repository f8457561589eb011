import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunningWorker } from '../../worker/run.ts';
import { createTestDatabase } from '../support/database.ts';
import {
  ANSWER_LOST,
  CHARGES,
  createScriptedGateway,
  DECLINES,
  NEVER_ARRIVES,
  type ScriptedGateway,
  UNREACHABLE,
} from '../support/scripted-gateway.ts';
import { type BuyOptions, createWorkbench, type Purchase, startTimeSkipping } from '../support/workbench.ts';

const { database } = await createTestDatabase();
let environment: TestWorkflowEnvironment;

beforeAll(async () => {
  environment = await startTimeSkipping();
});

afterAll(async () => {
  await environment.teardown();
});

/** One order from its start to the end of its workflow, in virtual time. */
async function playOut(
  gateway: ScriptedGateway,
  options: BuyOptions = {},
  meanwhile?: (purchase: Purchase) => Promise<void>,
) {
  const bench = createWorkbench({ environment, database, gateway });
  const worker: RunningWorker = await bench.startWorker();
  try {
    const began = await environment.currentTimeMs();
    const purchase = await bench.buy(options);
    await meanwhile?.(purchase);
    const result = await purchase.handle.result();
    const virtualSeconds = ((await environment.currentTimeMs()) - began) / 1_000;
    return { purchase, result, row: await purchase.row(), virtualSeconds };
  } finally {
    await worker.stop();
  }
}

describe('a purchase', () => {
  test('is charged once and ends paid', async () => {
    const gateway = createScriptedGateway({ charges: [CHARGES] });
    const { result, row, purchase } = await playOut(gateway);
    expect(result).toMatchObject({ status: 'paid', attempts: 1, provenBy: 'gateway_response' });
    expect(row).toMatchObject({ orderStatus: 'paid', provenBy: 'gateway_response' });
    expect([...gateway.ledger]).toEqual([[purchase.reference(), 1]]);
  });

  test('whose answer was lost is found out by inquiry, not by a second charge', async () => {
    const gateway = createScriptedGateway({ charges: [ANSWER_LOST] });
    const { row, purchase, virtualSeconds } = await playOut(gateway);
    expect(row).toMatchObject({ orderStatus: 'paid', provenBy: 'inquiry' });
    expect([...gateway.ledger]).toEqual([[purchase.reference(), 1]]);
    expect(gateway.requests).toHaveLength(1);
    expect(virtualSeconds).toBeLessThan(20);
  });

  test('that never arrived is proven absent and sent again under the same reference', async () => {
    const gateway = createScriptedGateway({ charges: [NEVER_ARRIVES, CHARGES] });
    const { row, purchase } = await playOut(gateway);
    expect(row).toMatchObject({ orderStatus: 'paid' });
    expect([...gateway.ledger]).toEqual([[purchase.reference(), 1]]);
    expect(gateway.requests.map(({ body }) => body)).toEqual([gateway.requests[0]?.body, gateway.requests[0]?.body]);
  });

  test('that nobody could reach is tried again without the customer', async () => {
    const gateway = createScriptedGateway({ charges: [UNREACHABLE, UNREACHABLE, CHARGES] });
    const { row, purchase } = await playOut(gateway);
    expect(row).toMatchObject({ orderStatus: 'paid', attemptNumber: 3 });
    expect([...gateway.ledger]).toEqual([[purchase.reference(3), 1]]);
  });

  test('that is declined waits for the customer, who pays with attempt 2', async () => {
    const gateway = createScriptedGateway({ charges: [DECLINES, CHARGES] });
    const { row, purchase } = await playOut(gateway, {}, async (begun) => {
      await expect.poll(async () => (await begun.row()).orderStatus).toBe('failed');
      await begun.payAgain(2);
    });
    expect(row).toMatchObject({ orderStatus: 'paid', attemptNumber: 2 });
    expect([...gateway.ledger]).toEqual([[purchase.reference(2), 1]]);
  });

  test('that is declined and left alone expires', async () => {
    const gateway = createScriptedGateway({ charges: [DECLINES] });
    const { row, virtualSeconds } = await playOut(gateway, { expiresInMs: 2 * 3_600_000 });
    expect(row).toMatchObject({ orderStatus: 'expired', provenBy: 'gateway_response' });
    expect(gateway.ledger.size).toBe(0);
    expect(virtualSeconds).toBeGreaterThan(7_000);
  });
});
