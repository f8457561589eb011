import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPrograms } from '../cli/setup.mjs';
import { type Stack, startStack } from '../embedded/stack.ts';
import { createSimulatorControl } from '../gateways/simulator/control.ts';
import { createLog } from '../process/log.ts';
import { SEARCH_ATTRIBUTES } from '../workflows/search-attributes.ts';
import type { Parts } from './meter.ts';

/** The accounts at the simulator, and how long each keeps a caller waiting. */
export const GATEWAY_DELAY_SECONDS = { 'at-once': 0, 'fifty-ms': 0.05, 'twenty-seconds': 20 } as const;

export type BenchGateway = keyof typeof GATEWAY_DELAY_SECONDS;

const GATEWAYS = Object.keys(GATEWAY_DELAY_SECONDS) as BenchGateway[];

export interface BenchStack {
  readonly stack: Stack;
  readonly parts: Parts;
  stop(): Promise<void>;
}

/**
 * Starts the embedded stack on an empty folder inside the project: a folder for temporary files may be in memory, where a
 * commit costs nothing. All settings are those of production.
 */
export async function startBenchStack(): Promise<BenchStack> {
  const parent = fileURLToPath(new URL('../.paidonce', import.meta.url));
  mkdirSync(parent, { recursive: true });
  const dataFolder = mkdtempSync(join(parent, 'bench-'));
  const stack = await startStack({
    dataFolder,
    temporalProgram: findPrograms().temporal,
    searchAttributes: SEARCH_ATTRIBUTES,
    log: createLog('warn', 'paidonce-bench'),
    gateways: (url) => GATEWAYS.map((name) => ({ name, kind: 'simulator', settings: { url } })),
  });
  await slowDown(stack.addresses.simulator);
  return {
    stack,
    parts: partsOf(stack),
    async stop() {
      await stack.stop();
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
}

/** @throws Error when a part is somebody else's: what it costs cannot be read here */
function partsOf(stack: Stack): Parts {
  const { application, temporal, database, simulator } = stack.processIds();
  if (application === undefined || temporal === undefined || database === undefined || simulator === undefined) {
    throw new Error('The bench measures a stack of its own; unset DATABASE_URL and TEMPORAL_ADDRESS.');
  }
  return { node: application, temporal, postgres: database, simulator };
}

/** A slow gateway charges when it answers, so that nobody can find the charge out by inquiry before. */
async function slowDown(simulatorAddress: string): Promise<void> {
  const control = createSimulatorControl(simulatorAddress);
  for (const account of GATEWAYS) {
    const seconds = GATEWAY_DELAY_SECONDS[account];
    if (seconds === 0) continue;
    await control.addFault({
      fault: { kind: 'slow', seconds, charge: 'at_the_end' },
      match: { account },
      times: null,
    });
  }
}
