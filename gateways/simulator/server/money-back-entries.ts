import { z } from 'zod';

/**
 * The rows of money that goes back. `reference` and `gateway_reference` are those of the charge, so that one look at a
 * reference shows what came in and what went out.
 */
const row = {
  account: z.string(),
  reference: z.string(),
  gateway_reference: z.string(),
  amount: z.strictObject({ minor_units: z.number().int(), currency: z.string() }),
};

const refundRow = {
  ...row,
  refund_id: z.string(),
  refund_reference: z.string(),
  /** The request that caused the row; null where time did. */
  request: z.strictObject({ idempotency_key: z.string().nullable(), fingerprint: z.string() }).nullable(),
};

const disputeRow = { ...row, dispute_id: z.string(), request: z.null() };

export const MONEY_BACK_SHAPES = [
  /** Money has gone back to the customer; with `comes_back` his bank will return it. */
  z.strictObject({
    kind: z.literal('refund_moved'),
    comes_back: z.strictObject({ at: z.iso.datetime(), code: z.string() }).optional(),
    ...refundRow,
  }),
  z.strictObject({ kind: z.literal('refund_declined'), code: z.string(), ...refundRow }),
  /** A refund that waits for a time, then is as `settles_as` says. */
  z.strictObject({
    kind: z.literal('refund_opened'),
    settles_at: z.iso.datetime(),
    settles_as: z.enum(['approved', 'declined']),
    code: z.string(),
    ...refundRow,
  }),
  /** A refund that had moved came back: the customer's bank did not take it. */
  z.strictObject({ kind: z.literal('refund_returned'), code: z.string(), ...refundRow }),
  /** A request that made no refund, because the gateway knew its key or its reference. */
  z.strictObject({
    kind: z.literal('refund_repeated'),
    treated_as: z.enum(['replayed', 'original_returned', 'reference_refused', 'key_reuse_refused']),
    ...refundRow,
  }),
  z.strictObject({ kind: z.literal('dispute_opened'), ...disputeRow }),
  z.strictObject({ kind: z.literal('dispute_won'), ...disputeRow }),
  z.strictObject({ kind: z.literal('dispute_lost'), ...disputeRow }),
] as const;

type MoneyBackShape = z.infer<(typeof MONEY_BACK_SHAPES)[number]>;

/** A row about money that goes back, with its place and time. */
export type MoneyBackEntry = MoneyBackShape & { readonly sequence: number; readonly at: string };
export type RefundEntry = Extract<MoneyBackEntry, { readonly refund_id: string }>;

export function isMoneyBack<Row extends { readonly kind: string }>(
  entry: Row,
): entry is Extract<Row, { readonly kind: MoneyBackShape['kind'] }> {
  return entry.kind.startsWith('refund_') || entry.kind.startsWith('dispute_');
}
