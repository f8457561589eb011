import { z } from 'zod';
import type { GatewayCapabilities, RepeatProtection } from '../../domain/capabilities.ts';
import { CURRENCY_DECIMALS, type Currency } from '../../domain/currencies.ts';
import { CodedError } from '../../domain/errors.ts';

const seconds = z.number().positive();

const repeat = z.discriminatedUnion('by', [
  z.strictObject({ by: z.literal('key'), window_seconds: seconds.default(24 * 3_600) }),
  z.strictObject({
    by: z.literal('reference'),
    on_repeat: z.enum(['refused', 'returns_original']).default('refused'),
  }),
  z.strictObject({ by: z.literal('nothing') }),
]);

/**
 * What is declared of the account. It has to say what the simulator's switches say (docs/gateways/simulator.md): as with a
 * real gateway, a capability that is declared and not there is a double charge waiting to happen.
 */
const capabilities = z.strictObject({
  repeat: repeat.default({ by: 'key', window_seconds: 24 * 3_600 }),
  inquire_by: z.array(z.enum(['merchant_reference', 'gateway_reference'])).default(['merchant_reference']),
  /** The longest that a request may be on its way after its sender gave up; null: absence proves nothing. */
  absent_conclusive_after_seconds: z.number().min(0).nullable().default(60),
  /** A reference can be closed, so that nothing can come of it any more. */
  close: z.boolean().default(false),
  call_timeout_seconds: seconds.max(300).default(30),
  /** Currencies that this account counts in other decimals than ISO 4217, such as {"HUF": 0}. */
  currency_decimals: z
    .partialRecord(z.enum(Object.keys(CURRENCY_DECIMALS) as [Currency, ...Currency[]]), z.number().int().min(0).max(4))
    .default({}),
  /** Null: money is taken at once or not at all. */
  authorize: z
    .strictObject({
      partial_capture: z.boolean().default(true),
      lapses_after_seconds: seconds.nullable().default(null),
    })
    .nullable()
    .default(null),
  /** Null: the account cannot be told to refund. */
  refund: z
    .strictObject({
      partial: z.boolean().default(true),
      repeat: repeat.default({ by: 'key', window_seconds: 24 * 3_600 }),
    })
    .nullable()
    .prefault({}),
});

const settings = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  /** The account's name at the gateway, where it differs from ours. */
  account: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,63}$/)
    .optional(),
  /** The environment variable that holds the key. The simulator takes any key, so it may be unset. */
  api_key_env: z.string().default('SIMULATOR_API_KEY'),
  /** The environment variables with the secrets that its webhooks may be signed with; left out: it sends none. */
  webhook_secret_envs: z
    .array(z.string().regex(/^[A-Z][A-Z0-9_]*$/))
    .min(1)
    .max(4)
    .optional(),
  capabilities: capabilities.prefault({}),
});

export interface SimulatorSettings {
  /** Everything before `/v1/…`. */
  readonly baseUrl: string;
  readonly apiKeyVariable: string;
  /** Empty when the account sends no webhooks. */
  readonly webhookSecretVariables: readonly string[];
  /** The account's name at the gateway. */
  readonly account: string;
  readonly capabilities: GatewayCapabilities;
}

/** Reads the `settings` of a configured account. @throws CodedError `configuration_invalid`, naming the account and each mistake */
export function readSimulatorSettings(accountName: string, value: unknown): SimulatorSettings {
  const parsed = settings.safeParse(value);
  if (!parsed.success) {
    const mistakes = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
    throw new CodedError('configuration_invalid', `The settings of gateway ${accountName} have mistakes: ${mistakes}.`);
  }
  const { url, account = accountName, api_key_env: apiKeyVariable, capabilities: declared } = parsed.data;
  const webhookSecretVariables = parsed.data.webhook_secret_envs ?? [];
  return {
    baseUrl: `${url.replace(/\/+$/, '')}/${account}`,
    apiKeyVariable,
    webhookSecretVariables,
    account,
    capabilities: { ...capabilitiesOf(declared), webhooks: webhookSecretVariables.length > 0 ? 'signed' : 'none' },
  };
}

function capabilitiesOf(declared: z.infer<typeof capabilities>): GatewayCapabilities {
  return {
    repeat: repeatOf(declared.repeat),
    inquiry: { by: declared.inquire_by, absentConclusiveAfterSeconds: declared.absent_conclusive_after_seconds },
    savesGatewayReferenceFirst: false,
    webhooks: 'none',
    statements: false,
    closing: { by: declared.close ? ['merchant_reference'] : [] },
    authorize:
      declared.authorize === null
        ? null
        : {
            partialCapture: declared.authorize.partial_capture,
            lapsesAfterSeconds: declared.authorize.lapses_after_seconds,
          },
    refund:
      declared.refund === null ? null : { partial: declared.refund.partial, repeat: repeatOf(declared.refund.repeat) },
    callTimeoutSeconds: declared.call_timeout_seconds,
    reference: { lengthMax: 40, pattern: '^[0-9A-Za-z]{1,40}$' },
    currencyDecimals: declared.currency_decimals,
    timeZone: 'UTC',
  };
}

function repeatOf(declared: z.infer<typeof capabilities>['repeat']): RepeatProtection {
  switch (declared.by) {
    case 'key':
      return { by: 'key', windowSeconds: declared.window_seconds };
    case 'reference':
      return { by: 'reference', onRepeat: declared.on_repeat };
    case 'nothing':
      return { by: 'nothing' };
  }
}
