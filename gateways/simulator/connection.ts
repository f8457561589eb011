import type { GatewayCapabilities } from '../../domain/capabilities.ts';
import type { HttpClient } from '../http.ts';
import { rawAnswer, readJsonAnswer } from '../raw-answer.ts';

/** How one account at the simulator is reached. */
export interface Connection {
  readonly http: HttpClient;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly capabilities: GatewayCapabilities;
}

export interface Question<Item extends { readonly status: string }> {
  /** Such as `/v1/refunds`. */
  readonly path: string;
  readonly reference: string;
  /** Undefined when the answer cannot be read. */
  readonly read: (json: unknown) => readonly Item[] | undefined;
  /** Where several stand under one reference, the one with the lowest rank counts. */
  readonly rank: Readonly<Record<Item['status'], number>>;
}

export type Told<Item> =
  | { readonly kind: 'found'; readonly item: Item; readonly raw: string }
  | { readonly kind: 'absent'; readonly raw: string }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** Asks what the gateway has under one of our references. A good answer that lists nothing is absence; any other is none. */
export async function askByReference<Item extends { readonly status: string }>(
  { http, baseUrl, apiKey }: Connection,
  { path, reference, read, rank }: Question<Item>,
  timeoutMs: number,
): Promise<Told<Item>> {
  const url = `${baseUrl}${path}?reference=${encodeURIComponent(reference)}`;
  const result = await http.call({ method: 'GET', url, headers: { authorization: `Bearer ${apiKey}` }, timeoutMs });
  if (result.kind === 'failed') return { kind: 'unavailable', reason: `${result.code}: ${result.reason}` };
  const raw = rawAnswer(result);
  const items = read(readJsonAnswer(result.body));
  if (result.status !== 200 || items === undefined)
    return { kind: 'unavailable', reason: `HTTP ${result.status} with no readable answer` };
  const rankOf = ({ status }: Item): number => rank[status as Item['status']];
  const [item] = [...items].sort((left, right) => rankOf(left) - rankOf(right));
  return item === undefined ? { kind: 'absent', raw } : { kind: 'found', item, raw };
}
