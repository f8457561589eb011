import { join } from 'node:path';
import { keptSecret } from './files.ts';
import type { Backing } from './stack-backing.ts';
import { type PartSettings, type ReadyProcess, startApplication, withProgress } from './stack-parts.ts';

/** What an API key of the highest role begins with (store/api-keys.ts); the rest is 43 characters of base64url. */
const DEVELOPMENT_KEY_PREFIX = 'paidonce_operate_';

export interface ApplicationPlan {
  readonly entry: URL;
  /** The value of GATEWAYS. */
  readonly gateways: readonly unknown[];
  readonly overrides: Readonly<Record<string, string>>;
}

export interface ApplicationControl {
  readonly developmentKey: string;
  /** Resolves when the application ended without being asked to. */
  readonly lost: Promise<'application'>;
  address(): string;
  current(): ReadyProcess | null;
  start(overrides?: Readonly<Record<string, string>>): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/** The application as something that can be stopped, killed and started again while everything below it runs on. */
export function controlApplication(
  settings: PartSettings,
  backing: Backing,
  plan: ApplicationPlan,
): ApplicationControl {
  const developmentKey = keptSecret(join(settings.dataFolder, 'development-key'), DEVELOPMENT_KEY_PREFIX);
  let reportLoss = (): void => undefined;
  const lost = new Promise<'application'>((resolve) => {
    reportLoss = () => resolve('application');
  });
  let current: ReadyProcess | null = null;
  let lastAddress = '';
  const take = (): ReadyProcess | null => {
    const taken = current;
    current = null;
    return taken;
  };
  return {
    developmentKey,
    lost,
    address: () => lastAddress,
    current: () => current,
    start: async (overrides = {}) => {
      if (current !== null) throw new Error('The application runs already; stop or kill it first.');
      const variables = { ...variablesFor(settings, backing, plan), DEVELOPMENT_API_KEY: developmentKey, ...overrides };
      const started = await withProgress(settings, 'application', () =>
        startApplication(settings, plan.entry, variables),
      );
      current = started;
      lastAddress = started.address;
      void started.process.ended.then(() => {
        if (current === started) reportLoss();
      });
    },
    stop: async () => take()?.process.stop(),
    kill: async () => take()?.process.kill(),
  };
}

function variablesFor(
  settings: PartSettings,
  { database, temporal }: Backing,
  plan: ApplicationPlan,
): Record<string, string> {
  return {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    PAYMENT_TOKEN_SECRET: keptSecret(join(settings.dataFolder, 'payment-token-secret')),
    WEBHOOK_MASTER_SECRET: keptSecret(join(settings.dataFolder, 'webhook-master-secret')),
    ALLOW_INTERNAL_WEBHOOKS: 'true',
    GATEWAYS: JSON.stringify(plan.gateways),
    ...plan.overrides,
  };
}
