import { createHmac, randomBytes } from 'node:crypto';
import type { Charge } from './books.ts';
import { chargeOnTheWire } from './charge-on-the-wire.ts';
import type { WebhookFault } from './webhook-faults.ts';

/** The body of an event about a charge, as it is at this moment and as the fault bends it. */
export function eventBody(charge: Charge, origin: string, fault: WebhookFault | undefined): string {
  const wrong = fault?.kind === 'webhook_wrong' ? fault : undefined;
  const { minor_units: minorUnits, currency } = charge.amount;
  const amount = { minor_units: minorUnits + (wrong?.by ?? 0), currency: wrong?.currency ?? currency };
  return JSON.stringify({
    type: fault?.kind === 'webhook_unknown_kind' ? 'charge.pondered' : `charge.${charge.status}`,
    // Whole seconds, as many gateways have them: two events of one charge often carry the same.
    timestamp: new Date(Math.floor(Date.now() / 1_000) * 1_000).toISOString(),
    account: wrong?.account ?? charge.account,
    data: chargeOnTheWire({ ...charge, amount }, origin),
  });
}

/** The headers of one try by Standard Webhooks 1.0.0: one signature for each secret. */
export function signedHeaders(id: string, body: string, secrets: readonly string[]): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const sign = (secret: string): string => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  };
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map(sign).join(' '),
  };
}

/** A secret that nobody was told. */
export function strangersSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
