import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { WEBHOOK_FAULTS } from './webhook-faults.ts';

const seconds = z.number().min(0).max(3_600);
const declineCode = z.string().regex(/^[a-z_]{1,64}$/);

/** What the gateway decides about a charge. One of these at most applies to a request. */
const ruling = [
  z.strictObject({ kind: z.literal('decline'), code: declineCode.default('card_declined') }),
  z.strictObject({
    kind: z.literal('pending'),
    seconds,
    settles_as: z.enum(['approved', 'declined']).default('approved'),
    code: declineCode.default('card_declined'),
  }),
  z.strictObject({ kind: z.literal('requires_action') }),
  /** A refund moves and comes back so much later; a charge is not changed by it. */
  z.strictObject({ kind: z.literal('fails_later'), seconds, code: declineCode.default('account_closed') }),
] as const;

/** What happens to the request or its answer on the way. One of these at most applies, beside a ruling. */
const delivery = [
  /** Charged; then the connection is reset. */
  z.strictObject({ kind: z.literal('lost_answer') }),
  /** Charged; then an error page with this status. */
  z.strictObject({ kind: z.literal('error_after'), status: z.number().int().min(500).max(599).default(500) }),
  /** The request was read, but nothing was done; the connection is reset. */
  z.strictObject({ kind: z.literal('never_arrives') }),
  /** Nothing was done, and the answer says so by the documented code of the gateway's limiter or maintenance. */
  z.strictObject({ kind: z.literal('not_accepted'), status: z.union([z.literal(429), z.literal(503)]).default(429) }),
  /** The answer comes so much later; the charge is made at once or only then. */
  z.strictObject({ kind: z.literal('slow'), seconds, charge: z.enum(['at_once', 'at_the_end']).default('at_once') }),
  /** The connection is reset now, and the charge is made so much later: a request that was stuck somewhere on the way. */
  z.strictObject({ kind: z.literal('late'), seconds }),
  /** As if a proxy had sent the request twice: it is processed twice at once, and one answer goes back. */
  z.strictObject({ kind: z.literal('duplicated') }),
  /** The charge is right, its answer names another amount (the true one plus `by`) or another currency. */
  z.strictObject({
    kind: z.literal('wrong_amount'),
    by: z.number().int().default(-1),
    currency: z.string().length(3).optional(),
  }),
  /** The charge is right, its answer carries another order's reference. */
  z.strictObject({ kind: z.literal('wrong_reference') }),
  /** The charge is right, and its answer is something that no client can read. */
  z.strictObject({
    kind: z.literal('unreadable'),
    as: z.enum(['html', 'empty', 'truncated', 'cut_off', 'huge', 'not_http']),
  }),
] as const;

/** What goes wrong when the gateway is asked about a charge. */
const inquiry = [
  z.strictObject({ kind: z.literal('inquiry_unavailable'), status: z.number().int().min(500).max(599).default(503) }),
  z.strictObject({ kind: z.literal('inquiry_lost') }),
  z.strictObject({ kind: z.literal('inquiry_slow'), seconds }),
  z.strictObject({ kind: z.literal('inquiry_not_found') }),
  /** Answers "pending", whatever has become of the charge. */
  z.strictObject({ kind: z.literal('inquiry_stale_pending') }),
  z.strictObject({ kind: z.literal('inquiry_unreadable') }),
] as const;

export const rulingFault = z.discriminatedUnion('kind', ruling);
export const deliveryFault = z.discriminatedUnion('kind', delivery);
export const inquiryFault = z.discriminatedUnion('kind', inquiry);
export type RulingFault = z.infer<typeof rulingFault>;
export type DeliveryFault = z.infer<typeof deliveryFault>;
export type InquiryFault = z.infer<typeof inquiryFault>;

/** A script: which fault, for which requests, how often. */
export const faultScript = z.strictObject({
  fault: z.discriminatedUnion('kind', [...ruling, ...delivery, ...inquiry, ...WEBHOOK_FAULTS]),
  /** All that is given must fit; nothing given fits every request. */
  match: z
    .strictObject({
      account: z.string().optional(),
      reference: z.string().optional(),
      /** The 26 characters of an order fit all its attempts, also those that are not made yet. */
      reference_prefix: z.string().min(1).optional(),
      payment_method: z.string().optional(),
      /** Which kind of request, of inquiry about one, or of event. Refunds, disputes, captures and voids (`follow_up`) are known by the reference of their charge. */
      request: z.enum(['charge', 'refund', 'dispute', 'follow_up']).default('charge'),
    })
    .prefault({}),
  /** For the next so many requests that fit; null: until cleared. Without it: 1, or null where `chance` is given. */
  times: z.number().int().positive().nullable().optional(),
  /** Each request that fits is hit with this probability, decided by seed and reference alone, not by the order of arrival. */
  chance: z.strictObject({ seed: z.number().int(), probability: z.number().min(0).max(1) }).optional(),
});

export type FaultScript = z.infer<typeof faultScript>;

export interface FaultState extends FaultScript {
  readonly id: string;
  /** How many requests it has hit. */
  readonly used: number;
}

/** What is known about a request when its faults are looked up; an inquiry by id has no payment method. */
export interface Subject {
  readonly account: string;
  readonly reference: string;
  readonly paymentMethod: string | null;
  /** Left out: a charge. */
  readonly request?: 'charge' | 'refund' | 'dispute' | 'follow_up';
}

type Family<T> = { safeParse(value: unknown): { success: true; data: T } | { success: false } };

/** The scripts that wait for their requests, in the order in which they were added. */
export interface FaultBook {
  add(script: FaultScript): string;
  /** Takes the first script of this family that fits, and counts it. */
  take<T>(family: Family<T>, subject: Subject): T | undefined;
  list(): readonly FaultState[];
  clear(): void;
}

export function createFaultBook(): FaultBook {
  let book: { -readonly [K in keyof FaultState]: FaultState[K] }[] = [];
  const timesSeen = new Map<string, number>();

  const isHit = ({ id, chance }: FaultState, { reference }: Subject): boolean => {
    if (chance === undefined) return true;
    const place = `${id}:${reference}`;
    const seen = (timesSeen.get(place) ?? 0) + 1;
    timesSeen.set(place, seen);
    return draw(`${chance.seed}:${reference}:${seen}`) < chance.probability;
  };

  return {
    add(script) {
      const id = randomUUID();
      book.push({
        ...script,
        times: script.times === undefined ? (script.chance === undefined ? 1 : null) : script.times,
        id,
        used: 0,
      });
      return id;
    },
    take(family, subject) {
      for (const script of book) {
        const fault = family.safeParse(script.fault);
        if (!fault.success || isUsedUp(script) || !fits(script, subject) || !isHit(script, subject)) continue;
        script.used += 1;
        return fault.data;
      }
      return undefined;
    },
    list: () => book,
    clear: () => {
      book = [];
      timesSeen.clear();
    },
  };
}

function isUsedUp({ times, used }: FaultState): boolean {
  return times != null && used >= times;
}

function fits({ match }: FaultScript, { account, reference, paymentMethod, request = 'charge' }: Subject): boolean {
  return (
    match.request === request &&
    (match.account === undefined || match.account === account) &&
    (match.reference === undefined || match.reference === reference) &&
    (match.reference_prefix === undefined || reference.startsWith(match.reference_prefix)) &&
    (match.payment_method === undefined || match.payment_method === paymentMethod)
  );
}

/** A number in [0, 1) that follows from the text alone. */
function draw(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
}
