import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { nodeProgram } from '../embedded/processes.ts';
import { entryFile } from '../embedded/project-layout.ts';
import { defaultDataFolder, type Stack, type StackOptions, startStack } from '../embedded/stack.ts';
import { createLog } from '../process/log.ts';
import { bundlePath } from '../worker/bundle-path.ts';
import { SEARCH_ATTRIBUTES } from '../workflows/search-attributes.ts';
import { findPrograms } from './setup.mjs';
import { aimTourWebhooks, IMPATIENT_SCHEDULE, switchTourAccounts, tourGateways } from './tour/gateways.ts';

const CACHE_FOLDER = join(dirname(defaultDataFolder()), 'cache');

const WEBHOOK_SECRET_VARIABLE = 'SIMULATOR_WEBHOOK_SECRET';

export interface EmbeddedOptions {
  readonly dataFolder?: string | undefined;
  readonly ports?: StackOptions['ports'];
  readonly onProgress?: StackOptions['onProgress'];
  readonly overrides?: Readonly<Record<string, string>>;
  /** The simulator tells the API of its charges; without it the gateway has to be asked, as most tests want to see. */
  readonly webhooks?: boolean;
}

/** Starts the stack as `npm start`, the tour and the end-to-end tests use it: two simulated gateways that differ. */
export async function startEmbeddedStack(options: EmbeddedOptions = {}): Promise<Stack> {
  const { webhooks = false } = options;
  // A new one for each start, because the simulator is told anew each time.
  const webhookSecret = `whsec_${randomBytes(32).toString('base64')}`;
  const stack = await startStack({
    dataFolder: options.dataFolder ?? defaultDataFolder(),
    temporalProgram: findPrograms().temporal,
    searchAttributes: SEARCH_ATTRIBUTES,
    log: createLog('warn', 'paidonce-stack'),
    gateways: (simulator) => tourGateways(simulator, webhooks ? [WEBHOOK_SECRET_VARIABLE] : null),
    prepareApplication: buildBundle,
    overrides: {
      CACHE_FOLDER,
      INQUIRY_SCHEDULE_SECONDS: IMPATIENT_SCHEDULE,
      [WEBHOOK_SECRET_VARIABLE]: webhookSecret,
      ...options.overrides,
    },
    ...(options.ports !== undefined && { ports: options.ports }),
    ...(options.onProgress !== undefined && { onProgress: options.onProgress }),
  });
  const { api, simulator } = stack.addresses;
  await switchTourAccounts(simulator);
  if (webhooks) await aimTourWebhooks(simulator, api, webhookSecret);
  return stack;
}

/** Beside the start of the databases and not after it, and in a process that gives its 150 MB back. */
async function buildBundle(): Promise<void> {
  if (existsSync(bundlePath(CACHE_FOLDER))) return;
  const { command, parameters } = nodeProgram(entryFile('worker/build-bundle'));
  await promisify(execFile)(command, [...parameters, CACHE_FOLDER]);
}
