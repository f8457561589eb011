import { createHmac, randomBytes } from 'node:crypto';
import type { Announcement } from './announcement.ts';
import type { WebhookFault } from './webhook-faults.ts';

/** The body of an event, as things are at this moment and as the fault bends it. */
export function eventBody(news: Announcement, origin: string, fault: WebhookFault | undefined): string {
  const wrong = fault?.kind === 'webhook_wrong' ? fault : undefined;
  const { minor_units: minorUnits, currency } = news.amount;
  const amount = { minor_units: minorUnits + (wrong?.by ?? 0), currency: wrong?.currency ?? currency };
  return JSON.stringify({
    type: fault?.kind === 'webhook_unknown_kind' ? `${news.subject}.pondered` : news.type,
    // Whole seconds, as many gateways have them: two events about one thing often carry the same.
    timestamp: new Date(Math.floor(Date.now() / 1_000) * 1_000).toISOString(),
    account: wrong?.account ?? news.account,
    data: news.data(amount, origin),
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
