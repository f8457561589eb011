import { type Logger, pino } from 'pino';
import { maskCardNumbers } from '../domain/card-number.ts';

export type { Logger } from 'pino';

/** Names whose values never reach a log, at the depths where requests and gateway calls carry them. */
const SECRET_NAMES = [
  'authorization',
  'payment_token',
  'paymentToken',
  'payment_method',
  'paymentMethod',
  'password',
  'secret',
  'cookie',
];

/**
 * The one log of a process: JSON lines on standard error, so that standard output stays for results. Every finished
 * line passes the card-number mask, because a redaction by names cannot see into messages and error texts.
 */
export function createLog(level: string, name: string): Logger {
  return pino(
    {
      name,
      level,
      redact: {
        paths: SECRET_NAMES.flatMap((secret) => [secret, `*.${secret}`, `*.*.${secret}`]),
        censor: '[removed]',
      },
      hooks: { streamWrite: maskCardNumbers },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
