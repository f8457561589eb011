import { createSimulatorControl } from '../../gateways/simulator/control.ts';
import { GATEWAY_WITHOUT_KEYS } from './steps.ts';

/**
 * The tour asks sooner than production does and trusts an absence sooner, because its gateway is a process on the same
 * machine that a person is watching: the same rules, in seconds instead of minutes. The value of INQUIRY_SCHEDULE_SECONDS.
 */
export const IMPATIENT_SCHEDULE = '1,2,3,5,8,10.5,12,15,20,30,60,180,600,1800,3600,10800,43200,86400';
const CALL_TIMEOUT_SECONDS = 8;
const ABSENT_CONCLUSIVE_AFTER_SECONDS = 2;

const NO_REPEAT_PROTECTION = { idempotency_key: { mode: 'ignored' }, unique_reference: 'ignored' } as const;

/**
 * The value of GATEWAYS for the tour: two accounts at the simulator that differ in what protects from a repeat, and in whether
 * a reference can be closed: where it can, an order that is cancelled while its customer acts is soon over. Their
 * webhooks are believed when they are signed with the secret in one of the variables; without any they send none.
 */
export function tourGateways(
  simulatorAddress: string,
  webhookSecretVariables: readonly [string, ...string[]] | null = null,
): readonly unknown[] {
  const common = {
    call_timeout_seconds: CALL_TIMEOUT_SECONDS,
    absent_conclusive_after_seconds: ABSENT_CONCLUSIVE_AFTER_SECONDS,
  };
  const settings = (repeat: { readonly by: string }, close: boolean) => ({
    url: simulatorAddress,
    ...(webhookSecretVariables !== null && { webhook_secret_envs: webhookSecretVariables }),
    capabilities: { repeat, close, ...common },
  });
  return [
    { name: 'simulator', kind: 'simulator', settings: settings({ by: 'key' }, true) },
    { name: GATEWAY_WITHOUT_KEYS, kind: 'simulator', settings: settings({ by: 'nothing' }, false) },
  ];
}

/**
 * Makes the simulator behave as `tourGateways` declares. It forgets its switches with its process, so after each of its
 * starts this must be true again before anybody pays.
 */
export async function switchTourAccounts(simulatorAddress: string): Promise<void> {
  await createSimulatorControl(simulatorAddress).putAccount(GATEWAY_WITHOUT_KEYS, NO_REPEAT_PROTECTION);
}

/** As with a real gateway, the answer is mostly there before the event. */
const WEBHOOK_DELAY_MS = 500;

/** Has the simulator tell the API of its charges. Forgotten with its process, as the switches are. */
export async function aimTourWebhooks(simulatorAddress: string, apiAddress: string, secret: string): Promise<void> {
  const control = createSimulatorControl(simulatorAddress);
  for (const account of ['simulator', GATEWAY_WITHOUT_KEYS]) {
    const url = new URL(`/v1/webhooks/${account}`, apiAddress).href;
    await control.aimWebhooks(account, { url, secrets: [secret], delay_ms: WEBHOOK_DELAY_MS });
  }
}
