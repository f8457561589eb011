import { z } from 'zod';
import { isCurrency } from '../../../domain/currencies.ts';

/** What asks for a part of a charge's money: to give it back, to take it, to release it. */
export const shareOfCharge = z.strictObject({
  reference: z.string().regex(/^[0-9A-Za-z]{1,40}$/),
  /** The gateway's id of the charge, or else the merchant's reference of it. */
  charge: z.string().nullable(),
  charge_reference: z.string(),
  amount: z.strictObject({
    minor_units: z.number().int().positive().max(Number.MAX_SAFE_INTEGER),
    currency: z.string().refine(isCurrency),
  }),
});

export type ShareOfCharge = z.infer<typeof shareOfCharge>;
