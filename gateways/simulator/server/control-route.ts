import { z } from 'zod';
import { type Exchange, originOf, Refusal, readJson, send } from './exchange.ts';
import { faultScript } from './faults.ts';
import type { Simulator } from './simulator.ts';
import { switches } from './switches.ts';
import { webhookTarget } from './webhooks.ts';

/** What happens to connections before any request is read; carried out at once, by the listener. */
export const outage = z.discriminatedUnion('kind', [
  /** Nobody listens for so long: new connections are refused. */
  z.strictObject({ kind: z.literal('refuse'), for_ms: z.number().int().min(1).max(600_000) }),
  /** Connections are accepted and reset before anything is read. */
  z.strictObject({ kind: z.literal('reset_on_connect'), for_ms: z.number().int().min(1).max(600_000) }),
]);

export type Outage = z.infer<typeof outage>;

const faultRequest = z.union([z.strictObject({ outage }), faultScript]);

/** `PUT /control/accounts/{account}`: the switches that are not named go back to their defaults. */
export function putAccount(simulator: Simulator, account: string, exchange: Exchange): void {
  const value = parse(switches, exchange);
  simulator.switchBoard.put(account, value);
  send(exchange.response, { status: 200, body: value });
}

/** `PUT /control/accounts/{account}/webhooks`: from now on the account's events go there. */
export function putWebhooks(simulator: Simulator, account: string, exchange: Exchange): void {
  simulator.webhooks.aim(account, { ...parse(webhookTarget, exchange), origin: originOf(exchange) });
  send(exchange.response, { status: 200, body: { account } });
}

/** `DELETE /control/accounts/{account}/webhooks`: what was not delivered yet never is. */
export function deleteWebhooks(simulator: Simulator, account: string, { response }: Exchange): void {
  simulator.webhooks.aim(account, null);
  send(response, { status: 200, body: { account } });
}

/** `GET /control/webhooks?account=&prefix=`: every event with its tries, oldest first. Secrets are not among it. */
export function getWebhooks(simulator: Simulator, { url, response }: Exchange): void {
  const [account, prefix] = [url.searchParams.get('account'), url.searchParams.get('prefix')];
  const webhooks = simulator.webhooks
    .records()
    .filter((record) => (account ?? record.account) === record.account && record.reference.startsWith(prefix ?? ''));
  send(response, { status: 200, body: { webhooks } });
}

/** `POST /control/faults`: a script for requests to come, or `{"outage": …}`, which begins at once. */
export function postFault(simulator: Simulator, exchange: Exchange, beginOutage: (outage: Outage) => void): void {
  const request = parse(faultRequest, exchange);
  if ('outage' in request) {
    // Begun before it is answered, so that whoever has read the answer meets the outage.
    beginOutage(request.outage);
    exchange.response.setHeader('connection', 'close');
    send(exchange.response, { status: 202, body: request });
    return;
  }
  send(exchange.response, { status: 201, body: { id: simulator.faultBook.add(request) } });
}

export function getFaults(simulator: Simulator, { response }: Exchange): void {
  send(response, { status: 200, body: { faults: simulator.faultBook.list() } });
}

export function deleteFaults(simulator: Simulator, { response }: Exchange): void {
  simulator.faultBook.clear();
  send(response, { status: 200, body: { faults: [] } });
}

/** `GET /ledger?account=&reference=&prefix=`: the oracle's view. Waits for the disk, so that it never tells of more than survives. */
export async function getLedger(simulator: Simulator, { url, response }: Exchange): Promise<void> {
  const word = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  const rows = simulator.view.rows({ account: word('account'), reference: word('reference'), prefix: word('prefix') });
  await simulator.ledger.settled();
  send(response, { status: 200, body: { rows } });
}

/** `GET /ledger/entries?after=`: the rows themselves, those with a higher number than `after`. */
export async function getEntries(simulator: Simulator, { url, response }: Exchange): Promise<void> {
  const after = z.coerce
    .number()
    .int()
    .min(0)
    .safeParse(url.searchParams.get('after') ?? 0);
  if (!after.success)
    throw new Refusal(400, 'field_invalid', { message: 'after must be a whole number.', field: 'after' });
  const entries = simulator.books.entries().slice(after.data);
  await simulator.ledger.settled();
  send(response, { status: 200, body: { entries } });
}

function parse<T>(shape: z.ZodType<T>, exchange: Exchange): T {
  const parsed = shape.safeParse(readJson(exchange));
  if (parsed.success) return parsed.data;
  throw new Refusal(400, 'field_invalid', { message: z.prettifyError(parsed.error) });
}
