import { z } from 'zod';

/** The rows about money that is held: what becomes of it. `reference` and `gateway_reference` are those of the charge. */
const row = {
  account: z.string(),
  reference: z.string(),
  gateway_reference: z.string(),
  amount: z.strictObject({ minor_units: z.number().int(), currency: z.string() }),
};

const followUpRow = { ...row, follow_up_reference: z.string() };

export const AUTHORIZATION_SHAPES = [
  /** Money has moved: so much of what was held. The rest is released. */
  z.strictObject({ kind: z.literal('authorization_captured'), ...followUpRow }),
  /** All that was held is released, and nothing has moved. */
  z.strictObject({ kind: z.literal('authorization_voided'), ...followUpRow }),
  z.strictObject({ kind: z.literal('authorization_lapsed'), ...row }),
  /** A request that changed nothing: a repeat, one that came too late, or one that was declined. */
  z.strictObject({
    kind: z.literal('authorization_kept'),
    because: z.enum(['replayed', 'reference_reused', 'authorization_over', 'declined']),
    ...followUpRow,
  }),
] as const;

type AuthorizationShape = z.infer<(typeof AUTHORIZATION_SHAPES)[number]>;

/** A row about held money, with its place and time. */
export type AuthorizationEntry = AuthorizationShape & { readonly sequence: number; readonly at: string };

export function isAboutAuthorization<Row extends { readonly kind: string }>(
  entry: Row,
): entry is Extract<Row, { readonly kind: AuthorizationShape['kind'] }> {
  return entry.kind.startsWith('authorization_');
}
