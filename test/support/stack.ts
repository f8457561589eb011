import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll } from 'vitest';
import { startEmbeddedStack } from '../../cli/embedded-stack.ts';
import { createTourLedger } from '../../cli/tour/ledger.ts';
import { createShop, type Shop } from '../../cli/tour/shop.ts';
import type { Ledger } from '../../cli/tour/steps.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import type { Stack } from '../../embedded/stack.ts';
import { createSimulatorControl, type SimulatorControl } from '../../gateways/simulator/control.ts';

/** The whole product as real processes, for one test file: started before its tests, stopped and removed after them. */
export interface StackUnderTest {
  stack(): Stack;
  shop(): Shop;
  /** The gateway's own books: the judge. */
  ledger(): Ledger;
  simulator(): SimulatorControl;
  temporal(): Client;
  dataFolder(): string;
  /** Requests that reached the gateway for any attempt of the order. */
  requests(orderId: string): Promise<number>;
  /** The gateway's own number for the order's one charge. */
  gatewayReference(orderId: string): Promise<string>;
}

/** @param webhooks see EmbeddedOptions */
export function useStack(overrides: Readonly<Record<string, string>> = {}, webhooks = false): StackUnderTest {
  let parts: { stack: Stack; shop: Shop; connection: Connection; folder: string } | undefined;
  const need = (): NonNullable<typeof parts> => {
    if (parts === undefined) throw new Error('The stack is started before the tests and stopped after them');
    return parts;
  };

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'paidonce-stack-'));
    // These tests break the gateway on purpose, again and again; its breaker has tests of its own.
    const settings = { GATEWAY_BREAKER: 'false', ...overrides };
    const stack = await startEmbeddedStack({ dataFolder: folder, overrides: settings, webhooks });
    const connection = await Connection.connect({ address: stack.addresses.temporal });
    parts = { stack, shop: createShop(stack.addresses.api, stack.developmentKey), connection, folder };
  }, 120_000);

  afterAll(async () => {
    const { stack, shop, connection, folder } = need();
    await shop.close();
    await connection.close();
    await stack.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  const simulator = (): SimulatorControl => createSimulatorControl(need().stack.addresses.simulator);
  const rowsOf = (orderId: string) => simulator().ledger({ prefix: merchantReference(orderId, 1).slice(0, 26) });
  return {
    stack: () => need().stack,
    shop: () => need().shop,
    ledger: () => createTourLedger(need().stack.addresses.simulator),
    simulator,
    temporal: () => new Client({ connection: need().connection, namespace: need().stack.temporalNamespace }),
    dataFolder: () => need().folder,
    requests: async (orderId) => (await rowsOf(orderId)).reduce((sum, row) => sum + row.requests, 0),
    async gatewayReference(orderId) {
      const [reference] = (await rowsOf(orderId)).flatMap((row) => row.gateway_references);
      if (reference === undefined) throw new Error('The gateway knows no charge for this order');
      return reference;
    },
  };
}

/** Looks until `check` holds. The deadline only ends a test that has failed; no success hangs on a time. */
export async function waitUntil(what: string, check: () => Promise<boolean>, withinMs = 60_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`It did not happen within ${withinMs / 1_000} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
