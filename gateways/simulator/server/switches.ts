import { z } from 'zod';

const keyMode = z
  .discriminatedUnion('mode', [
    z.strictObject({ mode: z.literal('honoured') }),
    z.strictObject({ mode: z.literal('ignored') }),
    /** The key is honoured for so long after its first use; later the same key is a new charge. */
    z.strictObject({ mode: z.literal('forgotten'), after_seconds: z.number().min(0) }),
  ])
  .default({ mode: 'honoured' });

/**
 * What an account's gateway can do, as switched by the control face. The defaults are those of a good gateway: it honours
 * keys for ever and answers inquiries at once, but does not keep references unique.
 */
export const switches = z.strictObject({
  idempotency_key: keyMode,
  unique_reference: z.enum(['refused', 'ignored', 'returns_original']).default('ignored'),
  inquiry: z
    .discriminatedUnion('mode', [
      z.strictObject({ mode: z.literal('there') }),
      /** A charge is found only so long after it was made. */
      z.strictObject({ mode: z.literal('lagging'), seconds: z.number().min(0) }),
      /** The gateway has no such route. */
      z.strictObject({ mode: z.literal('absent') }),
      /** The gateway knows nothing of anything. */
      z.strictObject({ mode: z.literal('not_found_for_all') }),
    ])
    .default({ mode: 'there' }),
  /** Whether references can be closed. */
  close: z.enum(['there', 'absent']).default('there'),
  /** What can be done with money that is held: `{"mode": "absent"}` takes it at once or not at all. */
  authorization: z
    .strictObject({
      mode: z.enum(['there', 'absent']).default('there'),
      partial_capture: z.boolean().default(true),
      /** Null: held until somebody ends it. */
      lapses_after_seconds: z.number().min(0).nullable().default(null),
    })
    .prefault({}),
  /** The same two for refunds. */
  refund_idempotency_key: keyMode,
  unique_refund_reference: z.enum(['refused', 'ignored', 'returns_original']).default('ignored'),
});

export type Switches = z.infer<typeof switches>;

/** Switches stand in memory: a restarted simulator is a good gateway again, while its books are what they were. */
export interface SwitchBoard {
  get(account: string): Switches;
  put(account: string, value: Switches): void;
}

export function createSwitchBoard(): SwitchBoard {
  const byAccount = new Map<string, Switches>();
  const defaults = switches.parse({});
  return {
    get: (account) => byAccount.get(account) ?? defaults,
    put: (account, value) => byAccount.set(account, value),
  };
}
