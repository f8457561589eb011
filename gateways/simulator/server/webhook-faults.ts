import { z } from 'zod';

/** What goes wrong with the webhook about a charge. One of these at most applies to an event. */
export const WEBHOOK_FAULTS = [
  /** The event is delivered, and answered, before the charge itself is answered. */
  z.strictObject({ kind: z.literal('webhook_first') }),
  z.strictObject({ kind: z.literal('webhook_late'), seconds: z.number().min(0).max(3_600) }),
  /** Delivered twice at once: the same event, or the same news as another event. */
  z.strictObject({ kind: z.literal('webhook_twice'), as: z.enum(['same_event', 'other_event']).default('same_event') }),
  /** Held back until the next event about the same charge was delivered. */
  z.strictObject({ kind: z.literal('webhook_out_of_order') }),
  z.strictObject({ kind: z.literal('webhook_lost') }),
  /** Well signed, and about something else: another amount (the true one plus `by`), currency or account. */
  z.strictObject({
    kind: z.literal('webhook_wrong'),
    by: z.number().int().default(0),
    currency: z.string().length(3).optional(),
    account: z.string().min(1).max(64).optional(),
  }),
  /** An event of a kind that nobody has heard of. */
  z.strictObject({ kind: z.literal('webhook_unknown_kind') }),
  /** Signed with a secret that is not the account's. */
  z.strictObject({ kind: z.literal('webhook_forged') }),
] as const;

export const webhookFault = z.discriminatedUnion('kind', WEBHOOK_FAULTS);
export type WebhookFault = z.infer<typeof webhookFault>;
