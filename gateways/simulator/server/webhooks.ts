import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Announcement } from './announcement.ts';
import type { FaultBook } from './faults.ts';
import { type WebhookFault, webhookFault } from './webhook-faults.ts';
import { eventBody, signedHeaders, strangersSecret } from './webhook-message.ts';

/** Where an account's events go to, as it is set by the control face. */
export const webhookTarget = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  /** Each signs every event; two while a secret is changed. */
  secrets: z
    .array(z.string().regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/))
    .min(1)
    .max(4),
  /** How long after what it tells of an event leaves. */
  delay_ms: z.number().int().min(0).max(60_000).default(0),
});

export type WebhookTarget = z.infer<typeof webhookTarget>;

export interface WebhookTry {
  readonly at: string;
  /** The HTTP status of the answer; null when none came. */
  readonly status: number | null;
}

/** One event and what became of it. */
export interface WebhookRecord {
  readonly id: string;
  readonly account: string;
  /** The merchant's reference of the charge. */
  readonly reference: string;
  /** The gateway's number for what it tells of. */
  readonly gateway_reference: string;
  readonly type: string;
  readonly body: string;
  readonly fault: WebhookFault['kind'] | null;
  readonly tries: readonly WebhookTry[];
  readonly delivered: boolean;
}

type Draft = { -readonly [Key in keyof WebhookRecord]: WebhookRecord[Key] } & { tries: WebhookTry[] };

const PAUSES_MS = [200, 500, 1_000, 2_000, 5_000, 10_000, 30_000];
const PAUSE_MS_MAX = 60_000;
const TRY_TIMEOUT_MS = 10_000;
/** No answer waits longer for its event than this, however the receiver fares. */
const FIRST_MS_MAX = 10_000;

/**
 * Tells of charges, refunds and disputes by webhook, each event again and again until it is answered 2xx. Targets and events stand in memory: a
 * restarted simulator has forgotten what it had not delivered, as if those events were lost.
 */
export interface WebhookSender {
  aim(account: string, target: (WebhookTarget & { readonly origin: string }) | null): void;
  /** Called when its row is on the disk. */
  announce(news: Announcement): void;
  /** Resolves when the charge or refund may be answered: at once, unless its event is to come first. */
  mayAnswer(id: string): Promise<void>;
  records(): readonly WebhookRecord[];
  close(): void;
}

export function createWebhookSender(faultBook: Pick<FaultBook, 'take'>): WebhookSender {
  const desk: Desk = { targets: new Map(), records: [], held: new Map(), ended: new AbortController() };
  const first = new Map<string, Promise<void>>();
  return {
    aim(account, target) {
      if (target === null) desk.targets.delete(account);
      else desk.targets.set(account, target);
    },
    announce(news) {
      const target = desk.targets.get(news.account);
      if (target === undefined) return;
      const { id, account, reference, subject: request } = news;
      const fault = faultBook.take(webhookFault, { account, reference, paymentMethod: null, request });
      const waiting = desk.held.get(id) ?? [];
      desk.held.delete(id);
      const sent = send(desk, { news, target, fault });
      void sent.then(() => Promise.all(waiting.map((record) => deliver(desk, record, 0))));
      if (fault?.kind !== 'webhook_first') return;
      first.set(id, Promise.race([sent, sleep(FIRST_MS_MAX, undefined, { ref: false })]));
    },
    mayAnswer: async (id) => {
      await first.get(id);
      first.delete(id);
    },
    records: () => desk.records,
    close: () => desk.ended.abort(),
  };
}

type Target = WebhookTarget & { readonly origin: string };

interface Desk {
  readonly targets: Map<string, Target>;
  readonly records: Draft[];
  /** Events that wait for the next one about the same charge, refund or dispute. */
  readonly held: Map<string, Draft[]>;
  readonly ended: AbortController;
}

interface Sending {
  readonly news: Announcement;
  readonly target: Target;
  readonly fault: WebhookFault | undefined;
}

/** Resolves when the event is delivered, or at once when it is not to be. */
async function send(desk: Desk, sending: Sending): Promise<void> {
  const { news, target, fault } = sending;
  const record = write(desk, sending);
  switch (fault?.kind) {
    case 'webhook_lost':
      return;
    case 'webhook_late':
      return deliver(desk, record, fault.seconds * 1_000);
    case 'webhook_out_of_order':
      desk.held.set(news.id, [...(desk.held.get(news.id) ?? []), record]);
      return;
    case 'webhook_first':
      return deliver(desk, record, 0);
    case 'webhook_twice': {
      const again = fault.as === 'same_event' ? { ...record } : write(desk, sending);
      await Promise.all([record, again].map((one) => deliver(desk, one, target.delay_ms)));
      return;
    }
    default:
      return deliver(desk, record, target.delay_ms);
  }
}

function write({ records }: Desk, { news, target, fault }: Sending): Draft {
  const body = eventBody(news, target.origin, fault);
  const { type } = JSON.parse(body) as { readonly type: string };
  const { account, reference, id } = news;
  const record: Draft = {
    id: `evt_${randomUUID().replaceAll('-', '')}`,
    account,
    reference,
    gateway_reference: id,
    type,
    body,
    fault: fault?.kind ?? null,
    tries: [],
    delivered: false,
  };
  records.push(record);
  return record;
}

/** Again and again, until it is answered 2xx or nobody wants the account's events any more. */
async function deliver(desk: Desk, record: Draft, afterMs: number): Promise<void> {
  let pauseMs = afterMs;
  while (!record.delivered) {
    if (pauseMs > 0) await sleep(pauseMs, undefined, { ref: false });
    const target = desk.targets.get(record.account);
    if (target === undefined || desk.ended.signal.aborted) return;
    await tryOnce(record, target);
    // What is forged is refused for ever; once is enough to see that.
    if (record.fault === 'webhook_forged') return;
    pauseMs = PAUSES_MS[record.tries.length - 1] ?? PAUSE_MS_MAX;
  }
}

async function tryOnce(record: Draft, { url, secrets }: Target): Promise<void> {
  const known = record.fault === 'webhook_forged' ? [strangersSecret()] : secrets;
  const at = new Date().toISOString();
  const status = await post(url, signedHeaders(record.id, record.body, known), record.body);
  record.tries.push({ at, status });
  record.delivered ||= status !== null && status >= 200 && status < 300;
}

/** @returns the status of the answer, or null when there was none in time */
async function post(url: string, headers: Record<string, string>, body: string): Promise<number | null> {
  try {
    const signal = AbortSignal.timeout(TRY_TIMEOUT_MS);
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return null;
  }
}
