import { createHmac, timingSafeEqual } from 'node:crypto';
import { CodedError } from '../domain/errors.ts';

/**
 * Standard Webhooks 1.0.0: HMAC-SHA256 over `{id}.{timestamp}.{body}`, the body as the bytes that travel. Used both ways:
 * for what gateways send to us, and for what we send to merchants.
 */

/** A secret as bytes. Made by `readSigningSecret` alone, so that nobody signs with the text of one. */
export interface SigningSecret {
  readonly bytes: Buffer;
}

export interface StandardWebhook {
  /** The same over all tries of one event, without a dot. */
  readonly id: string;
  /** Seconds since 1970 of this try. */
  readonly timestampSeconds: number;
  readonly body: string | Uint8Array;
}

export type StandardWebhookHeaders = Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>>;

export type StandardWebhookVerdict =
  | { readonly kind: 'genuine'; readonly id: string; readonly timestampSeconds: number }
  | { readonly kind: 'rejected'; readonly reason: string };

/** A message that is older or newer than this is refused, so that a recorded one cannot be played again much later. */
const TOLERANCE_SECONDS = 300;
/** Two secrets are in use during a change; a header with hundreds would only make us compute. */
const SIGNATURES_MAX = 16;

const ID = /^[!-\-/-~]{1,255}$/;
const TIMESTAMP = /^[1-9]\d{0,11}$/;
const SECRET = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
const SECRET_BYTES_MIN = 24;
const SECRET_BYTES_MAX = 64;

/**
 * Reads a secret as it is written in an environment variable: `whsec_` and the base64 of 24 to 64 random bytes.
 * @param where names the variable; the text itself is never quoted
 * @throws CodedError `configuration_invalid`
 */
export function readSigningSecret(text: string, where: string): SigningSecret {
  const bytes = Buffer.from(SECRET.exec(text)?.[1] ?? '', 'base64');
  if (bytes.length < SECRET_BYTES_MIN || bytes.length > SECRET_BYTES_MAX) {
    throw new CodedError(
      'configuration_invalid',
      `${where} must be "whsec_" and the base64 of ${SECRET_BYTES_MIN} to ${SECRET_BYTES_MAX} random bytes.`,
    );
  }
  return { bytes };
}

/**
 * The headers of one try. With several secrets it carries a signature of each, so that a receiver that knows only the
 * older one goes on believing it while the secret is changed.
 */
export function signStandardWebhook(
  { id, timestampSeconds, body }: StandardWebhook,
  secrets: readonly [SigningSecret, ...SigningSecret[]],
): StandardWebhookHeaders {
  if (!ID.test(id)) throw new Error('A webhook id is 1 to 255 printable ASCII characters without a dot');
  const timestamp = String(timestampSeconds);
  if (!TIMESTAMP.test(timestamp)) throw new Error('A webhook timestamp is a whole number of seconds since 1970');
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => signature(secret, `${id}.${timestamp}.`, body)).join(' '),
  };
}

export interface VerifyOptions {
  /** Every secret that is believed now. */
  readonly secrets: readonly SigningSecret[];
  readonly now: Date;
}

/**
 * Says whether a message is genuine and fresh. Each header must be there exactly once: of two, one could be believed here
 * and the other by whoever reads next. The reason tells what is wrong and quotes nothing of the message.
 */
export function verifyStandardWebhook(
  headers: Readonly<Record<string, readonly string[]>>,
  body: Uint8Array,
  { secrets, now }: VerifyOptions,
): StandardWebhookVerdict {
  const id = only(headers, 'webhook-id');
  const timestamp = only(headers, 'webhook-timestamp');
  const signatures = only(headers, 'webhook-signature')?.split(' ');
  if (id === undefined || !ID.test(id)) return rejected('webhook-id is missing, doubled or not an id');
  if (timestamp === undefined || !TIMESTAMP.test(timestamp)) {
    return rejected('webhook-timestamp is missing, doubled or not a time');
  }
  if (signatures === undefined || signatures.length > SIGNATURES_MAX) {
    return rejected('webhook-signature is missing, doubled or too long');
  }
  const timestampSeconds = Number(timestamp);
  if (Math.abs(now.getTime() / 1_000 - timestampSeconds) > TOLERANCE_SECONDS) {
    return rejected(`webhook-timestamp is more than ${TOLERANCE_SECONDS} s away from now`);
  }
  const expected = secrets.map((secret) => signature(secret, `${id}.${timestamp}.`, body));
  const matches = expected.some((wanted) => signatures.some((given) => isSame(wanted, given)));
  return matches ? { kind: 'genuine', id, timestampSeconds } : rejected('no signature fits the message');
}

function only(headers: Readonly<Record<string, readonly string[]>>, name: string): string | undefined {
  const values = headers[name];
  return values?.length === 1 ? values[0] : undefined;
}

function signature({ bytes }: SigningSecret, prefix: string, body: string | Uint8Array): string {
  return `v1,${createHmac('sha256', bytes).update(prefix, 'utf8').update(body).digest('base64')}`;
}

/** Compared as text, so that only the one true spelling of a signature passes, and in constant time. */
function isSame(wanted: string, given: string): boolean {
  const [left, right] = [Buffer.from(wanted, 'utf8'), Buffer.from(given, 'utf8')];
  return left.length === right.length && timingSafeEqual(left, right);
}

function rejected(reason: string): StandardWebhookVerdict {
  return { kind: 'rejected', reason };
}
