import { defaultDataFolder, type Stack, type StackOptions, startStack } from '../embedded/stack.ts';
import { createLog } from '../process/log.ts';
import { SEARCH_ATTRIBUTES } from '../workflows/search-attributes.ts';
import { findPrograms } from './setup.mjs';
import { IMPATIENT_SCHEDULE, switchTourAccounts, tourGateways } from './tour/gateways.ts';

export interface EmbeddedOptions {
  readonly dataFolder?: string | undefined;
  readonly ports?: StackOptions['ports'];
  readonly onProgress?: StackOptions['onProgress'];
  readonly overrides?: Readonly<Record<string, string>>;
}

/** Starts the stack as `npm start`, the tour and the end-to-end tests use it: two simulated gateways that differ. */
export async function startEmbeddedStack(options: EmbeddedOptions = {}): Promise<Stack> {
  const stack = await startStack({
    dataFolder: options.dataFolder ?? defaultDataFolder(),
    temporalProgram: findPrograms().temporal,
    searchAttributes: SEARCH_ATTRIBUTES,
    log: createLog('warn', 'paidonce-stack'),
    gateways: tourGateways,
    overrides: { INQUIRY_SCHEDULE_SECONDS: IMPATIENT_SCHEDULE, ...options.overrides },
    ...(options.ports !== undefined && { ports: options.ports }),
    ...(options.onProgress !== undefined && { onProgress: options.onProgress }),
  });
  await switchTourAccounts(stack.addresses.simulator);
  return stack;
}
