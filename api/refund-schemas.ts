import { z } from 'zod';
import { REFUND_FAILURE_CODES, REFUND_STATUSES } from '../domain/refund.ts';
import { amount, text } from './schemas.ts';

/** What crosses the API about refunds, as it stands in the OpenAPI document. */
const refundId = z
  .string({ error: 'Must be the id of a refund.' })
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'Must be the id of a refund: a lower-case UUID.');

export const refundPath = z.strictObject({ id: refundId });

export const newRefund = z
  .strictObject({
    amount: amount.optional().meta({ description: 'All that is left, when left out.' }),
    reason: text(500).optional(),
  })
  .meta({ id: 'NewRefund' });

const time = z.iso.datetime();

export const refund = z
  .object({
    id: refundId,
    order_id: z.string(),
    status: z.enum(REFUND_STATUSES),
    amount,
    reason: z.string().nullable(),
    waits_for: z
      .enum(['approval', 'dispute', 'another_refund', 'person'])
      .nullable()
      .meta({ description: 'Why it is not sent, or not settled by itself.' }),
    over_payment_id: z.string().nullable().meta({
      description: 'Set when it returns money that the order did not need; such a refund is made automatically.',
    }),
    attempt_number: z.int(),
    refund_reference: z.string().meta({ description: 'Our number for it at the gateway.' }),
    gateway: z.string(),
    gateway_reference: z.string().nullable(),
    sends: z.int(),
    failure_code: z.enum(REFUND_FAILURE_CODES).nullable(),
    review_reason: z.string().nullable(),
    requested_by: z.string(),
    approved_by: z.string().nullable(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Refund' });

export const refundList = z.object({ refunds: z.array(refund) }).meta({ id: 'RefundList' });

export const refundQuery = z.strictObject({
  status: z.enum(REFUND_STATUSES, { error: `Must be one of ${REFUND_STATUSES.join(', ')}.` }).optional(),
  limit: z
    .string()
    .regex(/^([1-9]\d?|100)$/, 'Must be a whole number from 1 to 100.')
    .default('20'),
  cursor: refundId.optional().meta({ description: 'The id of the last refund of the page before.' }),
});
