import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { CURRENCY_DECIMALS, type Currency } from '../domain/currencies.ts';
import { CodedError } from '../domain/errors.ts';
import { INQUIRY_SCHEDULE_SECONDS } from '../domain/inquiry-schedule.ts';

/** One configured account at a gateway. `settings` is what the gateway's own folder understands; it is checked there. */
const gatewayAccount = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, 'must be lower-case letters, digits and hyphens'),
  kind: z.enum(['simulator']),
  settings: z.record(z.string(), z.unknown()).default({}),
});

const milliseconds = z.coerce.number().int().min(1);

const databaseAccess = {
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, 'must start with postgres:// or postgresql://'),
  /** For those who are handed the password apart from the rest, as containers are. Goes into DATABASE_URL. */
  DATABASE_PASSWORD: z.string().min(1).optional(),
};

const environment = z.object({
  ...databaseAccess,
  DATABASE_POOL_SIZE: z.coerce.number().int().min(1).max(500).default(20),
  API_HOST: z.string().default('127.0.0.1'),
  API_PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  /** Where customers' browsers reach the API: gateways send them back there, and it sends them on to the shop. */
  PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'must be a web address' })
    .refine((address) => !/[?#@]/.test(address), 'must have no query and no credentials')
    .transform((address) => address.replace(/\/+$/, ''))
    .optional(),
  PAYMENT_TOKEN_SECRET: z.string().min(32, 'must have at least 32 characters'),
  /** Tokens signed with this one are still believed: set it while the secret is changed, for as long as tokens live. */
  PAYMENT_TOKEN_SECRET_PREVIOUS: z.string().min(32, 'must have at least 32 characters').optional(),
  PAYMENT_TOKEN_SECONDS: z.coerce
    .number()
    .int()
    .min(60)
    .default(24 * 3600),
  ORDER_EXPIRY_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .default(24 * 3600),
  /** How long a customer may take to confirm at the gateway; without it, until the order expires. */
  ACTION_TIMEOUT_SECONDS: z.coerce.number().int().min(60).optional(),
  /** JSON such as {"EUR": 10000}: refunds above so many minor units need the approval of a second API key. */
  REFUND_APPROVAL_LIMITS: z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue({ code: 'custom', message: 'must be JSON, such as {"EUR": 10000}' });
        return z.NEVER;
      }
    })
    .pipe(z.partialRecord(z.enum(Object.keys(CURRENCY_DECIMALS) as [Currency, ...Currency[]]), z.number().int().min(0)))
    .optional(),
  PAY_WAIT_SECONDS: z.coerce.number().min(0).max(60).default(25),
  HANDOVER_AFTER_MS: milliseconds.default(3_000),
  INQUIRY_SCHEDULE_SECONDS: z
    .string()
    .transform((text) => text.split(',').map(Number))
    .pipe(z.array(z.number().positive()).min(1))
    .refine(
      (offsets) => offsets.every((offset, index) => index === 0 || offset > (offsets[index - 1] ?? 0)),
      'must rise',
    )
    .default([...INQUIRY_SCHEDULE_SECONDS]),
  GATEWAYS: z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue({ code: 'custom', message: 'must be a JSON list of gateway accounts' });
        return z.NEVER;
      }
    })
    .pipe(z.array(gatewayAccount).min(1)),
  ALLOW_AT_MOST_ONCE_SENT: z.stringbool().default(false),
  /** Whether workers open a gateway's breaker when it answers nothing; see domain/breaker.ts. */
  GATEWAY_BREAKER: z.stringbool().default(true),
  /** What the secrets of all webhook endpoints are computed from. */
  WEBHOOK_MASTER_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
  /** How long the secret before still signs after it was changed. */
  WEBHOOK_SECRET_OVERLAP_SECONDS: z.coerce
    .number()
    .int()
    .min(0)
    .default(24 * 3600),
  ALLOW_INTERNAL_WEBHOOKS: z.stringbool().default(false),
  /** Where a worker answers GET /healthz, /readyz and /metrics; without a port it does not listen at all. */
  WORKER_HEALTH_HOST: z.string().default('127.0.0.1'),
  WORKER_HEALTH_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  /** Where things that can be made again are kept, such as the workflows' bundle. */
  CACHE_FOLDER: z.string().default('.paidonce/cache'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

export type Config = Omit<z.infer<typeof environment>, 'DATABASE_PASSWORD'>;

/** Every variable that `readConfig` looks at; the ones that name the Temporal server are read by its own library. */
export const CONFIG_VARIABLES = Object.keys(environment.shape) as readonly (keyof typeof environment.shape)[];

/**
 * Reads the whole configuration from environment variables, once per process. A variable `X` may instead be given as
 * `X_FILE`, the path of a file that holds the value, which is how containers hand over secrets. All mistakes are reported
 * together, by variable and without their values: a value may be a secret.
 * @throws CodedError `configuration_invalid`
 */
export function readConfig(variables: NodeJS.ProcessEnv): Config {
  const { DATABASE_PASSWORD, ...config } = parse(environment, variables);
  return { ...config, DATABASE_URL: withPassword(config.DATABASE_URL, DATABASE_PASSWORD) };
}

/** What a worker is told: everything but what signs payment tokens, which only the API does. */
export type WorkerConfig = Omit<Config, 'PAYMENT_TOKEN_SECRET' | 'PAYMENT_TOKEN_SECRET_PREVIOUS'>;

/** The same for a worker, which needs no secret of the API's. @throws CodedError `configuration_invalid` */
export function readWorkerConfig(variables: NodeJS.ProcessEnv): WorkerConfig {
  const shape = environment.omit({ PAYMENT_TOKEN_SECRET: true, PAYMENT_TOKEN_SECRET_PREVIOUS: true });
  const { DATABASE_PASSWORD, ...config } = parse(shape, variables);
  return { ...config, DATABASE_URL: withPassword(config.DATABASE_URL, DATABASE_PASSWORD) };
}

/** What a purchase's workflow is told at its start, by whoever starts it. */
export function purchaseSettings({
  HANDOVER_AFTER_MS: handoverAfterMs,
  INQUIRY_SCHEDULE_SECONDS: inquiryScheduleSeconds,
}: Pick<Config, 'HANDOVER_AFTER_MS' | 'INQUIRY_SCHEDULE_SECONDS'>) {
  return { handoverAfterMs, inquiryScheduleSeconds };
}

/** The variables behind `purchaseSettings`, for commands that start workflows and need nothing else. */
export function readPurchaseConfig(
  variables: NodeJS.ProcessEnv,
): Pick<Config, 'HANDOVER_AFTER_MS' | 'INQUIRY_SCHEDULE_SECONDS'> {
  return parse(environment.pick({ HANDOVER_AFTER_MS: true, INQUIRY_SCHEDULE_SECONDS: true }), variables);
}

/** Only where the database is, for commands that need nothing else. @throws CodedError `configuration_invalid` */
export function readDatabaseUrl(variables: NodeJS.ProcessEnv): string {
  const { DATABASE_URL, DATABASE_PASSWORD } = parse(z.object(databaseAccess), variables);
  return withPassword(DATABASE_URL, DATABASE_PASSWORD);
}

/**
 * The variables with each `X` that is given as `X_FILE` read from that file, for the `names` X.
 * @throws CodedError `configuration_invalid` when a file cannot be read
 */
export function withFiles(variables: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv {
  const resolved: NodeJS.ProcessEnv = { ...variables };
  for (const name of names) {
    const path = variables[`${name}_FILE`];
    if (path === undefined || variables[name] !== undefined) continue;
    try {
      resolved[name] = readFileSync(path, 'utf8').trim();
    } catch (cause) {
      throw new CodedError('configuration_invalid', `The file named by ${name}_FILE cannot be read.`, { cause });
    }
  }
  return resolved;
}

function parse<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  variables: NodeJS.ProcessEnv,
): z.infer<z.ZodObject<Shape>> {
  const result = schema.safeParse(withFiles(variables, Object.keys(schema.shape)));
  if (result.success) return result.data;
  const mistakes = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new CodedError('configuration_invalid', `Set these environment variables right: ${mistakes.join('; ')}.`);
}

function withPassword(databaseUrl: string, password: string | undefined): string {
  if (password === undefined) return databaseUrl;
  const url = new URL(databaseUrl);
  // Encoded first: a URL takes what looks encoded for encoded, so that a password with %41 in it would be another one.
  url.password = encodeURIComponent(password);
  if (url.password !== '') return url.href;
  throw new CodedError(
    'configuration_invalid',
    'DATABASE_PASSWORD needs a DATABASE_URL with a host: it is put into it.',
  );
}
