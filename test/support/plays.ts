import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { afterAll, beforeAll } from 'vitest';
import type { Database } from '../../store/database.ts';
import type { PurchaseRow } from '../../store/orders/standing.ts';
import type { PurchaseResult } from '../../workflows/messages.ts';
import type { ScriptedGateway } from './scripted-gateway.ts';
import { type BuyOptions, createWorkbench, type Purchase, startTimeSkipping } from './workbench.ts';

export interface Stage {
  readonly database: Database;
  readonly environment: TestWorkflowEnvironment;
  readonly purchase: Purchase;
}

export interface PlayedOut {
  readonly purchase: Purchase;
  readonly result: PurchaseResult;
  readonly row: PurchaseRow;
  readonly virtualSeconds: number;
}

export interface PlayOptions extends BuyOptions {
  /** Workflow code other than the checkout's. */
  readonly bundle?: WorkflowBundleOption;
  /** How long the customer may take over an action. */
  readonly actionSeconds?: number;
}

export type PlayOut = (
  gateway: ScriptedGateway,
  options?: PlayOptions,
  meanwhile?: (stage: Stage) => Promise<void>,
) => Promise<PlayedOut>;

/**
 * For test files that play purchases in virtual time: one time-skipping server for the file. The returned function plays one
 * order from its start to the end of its workflow; `meanwhile` is what others do before the end is waited for.
 */
export function usePlays(database: Database): PlayOut {
  let environment: TestWorkflowEnvironment;
  beforeAll(async () => {
    environment = await startTimeSkipping();
  });
  afterAll(async () => {
    await environment.teardown();
  });
  return async (gateway, options = {}, meanwhile = async () => undefined) => {
    const bench = createWorkbench({ environment, database, gateway, actionSeconds: options.actionSeconds });
    const worker = await bench.startWorker(options.bundle);
    try {
      const purchase = await bench.buy(options);
      await meanwhile({ database, environment, purchase });
      const result = (await purchase.handle.result()) as PurchaseResult;
      // Not the clock of the server: once nothing is left to do, it runs on to the end of time.
      const { startTime, closeTime } = await purchase.handle.describe();
      const virtualSeconds = ((closeTime ?? startTime).getTime() - startTime.getTime()) / 1_000;
      return { purchase, result, row: await purchase.row(), virtualSeconds };
    } finally {
      await worker.stop();
    }
  };
}

const STEP_MINUTES = 30;

/**
 * Lets virtual time pass in steps until `check` holds. In one long step the server would run ahead of the worker, which
 * needs real time for each of the things that fall due on the way.
 */
export async function passTimeUntil(
  environment: TestWorkflowEnvironment,
  check: () => Promise<boolean>,
): Promise<void> {
  for (let minutes = 0; minutes < 60 * 24 * 10; minutes += STEP_MINUTES) {
    for (let look = 0; look < 5; look += 1) {
      if (await check()) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await environment.sleep(STEP_MINUTES * 60_000);
  }
  throw new Error('Ten days have passed and it did not happen');
}
