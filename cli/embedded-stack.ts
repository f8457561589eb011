import { defaultDataFolder, type Stack, type StackOptions, startStack } from '../embedded/stack.ts';
import { createSimulatorControl } from '../gateways/simulator/control.ts';
import { createLog } from '../process/log.ts';
import { SEARCH_ATTRIBUTES } from '../workflows/search-attributes.ts';
import { findPrograms } from './setup.mjs';
import { GATEWAY_WITHOUT_KEYS } from './tour/steps.ts';

/**
 * The embedded stack asks sooner than production does and trusts an absence sooner, because its gateway is a process on the
 * same machine that a person is watching: the same rules, in seconds instead of minutes.
 */
const IMPATIENT_SCHEDULE = '1,2,3,5,8,10.5,12,15,20,30,60,180,600,1800,3600,10800,43200,86400';
const CALL_TIMEOUT_SECONDS = 8;
const ABSENT_CONCLUSIVE_AFTER_SECONDS = 2;

const NO_REPEAT_PROTECTION = { idempotency_key: { mode: 'ignored' }, unique_reference: 'ignored' } as const;

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
    gateways: gatewayAccounts,
    overrides: { INQUIRY_SCHEDULE_SECONDS: IMPATIENT_SCHEDULE, ...options.overrides },
    ...(options.ports !== undefined && { ports: options.ports }),
    ...(options.onProgress !== undefined && { onProgress: options.onProgress }),
  });
  // The simulator forgets its switches with its process; what is declared above must be true again before anybody pays.
  await createSimulatorControl(stack.addresses.simulator).putAccount(GATEWAY_WITHOUT_KEYS, NO_REPEAT_PROTECTION);
  return stack;
}

function gatewayAccounts(url: string): readonly unknown[] {
  const common = {
    call_timeout_seconds: CALL_TIMEOUT_SECONDS,
    absent_conclusive_after_seconds: ABSENT_CONCLUSIVE_AFTER_SECONDS,
  };
  return [
    { name: 'simulator', kind: 'simulator', settings: { url, capabilities: { repeat: { by: 'key' }, ...common } } },
    {
      name: GATEWAY_WITHOUT_KEYS,
      kind: 'simulator',
      settings: { url, capabilities: { repeat: { by: 'nothing' }, ...common } },
    },
  ];
}
