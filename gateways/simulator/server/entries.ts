import { z } from 'zod';
import { AUTHORIZATION_SHAPES } from './authorization-entries.ts';
import { MONEY_BACK_SHAPES } from './money-back-entries.ts';

/**
 * The rows of the simulator's ledger, as they stand in its file and in `GET /ledger/entries`. A charge and its first
 * status are one row, so that a crash can never leave a charge that was asked for and not decided.
 */
const wireMoney = z.strictObject({ minor_units: z.number().int(), currency: z.string() });

/** The request that caused a row; null where time or the customer did (an open charge that was settled later). */
const requestMark = z
  .strictObject({
    idempotency_key: z.string().nullable(),
    /** SHA-256 over the fields of the request: the same key with another body is refused by it. */
    fingerprint: z.string(),
    payment_method: z.string(),
    return_url: z.string().nullable(),
    /** There only where the money is to be held and not taken. */
    capture: z.literal(false).optional(),
  })
  .nullable();

const row = {
  account: z.string(),
  reference: z.string(),
  gateway_reference: z.string().nullable(),
  amount: wireMoney,
  request: requestMark,
};

const numbered = { sequence: z.number().int().positive(), at: z.iso.datetime() };

const ENTRY_SHAPES = [
  /** Money has moved: a charge approved at once, or an open one approved later. */
  z.strictObject({ kind: z.literal('money_moved'), ...row }),
  z.strictObject({ kind: z.literal('charge_declined'), code: z.string(), ...row }),
  /** A charge that waits: for a time (`settles_at`, then `settles_as`) or, with null, for the customer. */
  z.strictObject({
    kind: z.literal('charge_opened'),
    settles_at: z.iso.datetime().nullable(),
    settles_as: z.enum(['approved', 'declined']).nullable(),
    code: z.string().nullable(),
    ...row,
  }),
  /** A request that made no charge, because the gateway knew its key or its reference. */
  z.strictObject({
    kind: z.literal('request_repeated'),
    treated_as: z.enum(['replayed', 'original_returned', 'reference_refused', 'key_reuse_refused']),
    ...row,
  }),
  /** From here on every request under the reference is refused. */
  z.strictObject({ kind: z.literal('reference_closed'), ...row }),
  /** Money is held and none has moved; null: it is held until somebody ends it. */
  z.strictObject({ kind: z.literal('charge_authorized'), lapses_at: z.iso.datetime().nullable(), ...row }),
] as const;

export const newEntry = z.discriminatedUnion('kind', [...ENTRY_SHAPES, ...MONEY_BACK_SHAPES, ...AUTHORIZATION_SHAPES]);

export const entry = z.discriminatedUnion('kind', [
  ENTRY_SHAPES[0].extend(numbered),
  ENTRY_SHAPES[1].extend(numbered),
  ENTRY_SHAPES[2].extend(numbered),
  ENTRY_SHAPES[3].extend(numbered),
  ENTRY_SHAPES[4].extend(numbered),
  ENTRY_SHAPES[5].extend(numbered),
  MONEY_BACK_SHAPES[0].extend(numbered),
  MONEY_BACK_SHAPES[1].extend(numbered),
  MONEY_BACK_SHAPES[2].extend(numbered),
  MONEY_BACK_SHAPES[3].extend(numbered),
  MONEY_BACK_SHAPES[4].extend(numbered),
  MONEY_BACK_SHAPES[5].extend(numbered),
  MONEY_BACK_SHAPES[6].extend(numbered),
  MONEY_BACK_SHAPES[7].extend(numbered),
  AUTHORIZATION_SHAPES[0].extend(numbered),
  AUTHORIZATION_SHAPES[1].extend(numbered),
  AUTHORIZATION_SHAPES[2].extend(numbered),
  AUTHORIZATION_SHAPES[3].extend(numbered),
]);

export type WireMoney = z.infer<typeof wireMoney>;
export type NewEntry = z.infer<typeof newEntry>;
/** A row that stands in the ledger, with its place and time. */
export type Entry = z.infer<typeof entry>;
