import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Exchange, Refusal, readJson, send } from './exchange.ts';
import { record, type Simulator } from './simulator.ts';

const disputeCommand = z.strictObject({
  /** The gateway's id of the charge. */
  charge: z.string(),
  status: z.enum(['opened', 'won', 'lost']),
  /** That of the dispute, to go on with one; a new one if left out. */
  dispute: z.string().optional(),
  /** In minor units of the charge's currency; all of it if left out. */
  minor_units: z.number().int().positive().optional(),
});

/** `POST /control/disputes`: the customer's bank opens, loses or wins a dispute about a charge. */
export async function postDispute(simulator: Simulator, exchange: Exchange): Promise<void> {
  const parsed = disputeCommand.safeParse(readJson(exchange));
  if (!parsed.success) throw new Refusal(400, 'field_invalid', { message: z.prettifyError(parsed.error) });
  const { status, dispute, minor_units: minorUnits } = parsed.data;
  const charge = simulator.books.charge(parsed.data.charge);
  if (charge?.status !== 'approved')
    throw new Refusal(404, 'charge_not_found', { message: 'There is no such payment.' });
  const id = dispute ?? `dp_${randomUUID().replaceAll('-', '')}`;
  const amount = { ...charge.amount, minor_units: minorUnits ?? charge.amount.minor_units };
  const { account, reference } = charge;
  const row = { account, reference, gateway_reference: charge.id, amount, dispute_id: id, request: null };
  await record(simulator, { kind: `dispute_${status}`, ...row }).durable;
  send(exchange.response, { status: 201, body: { id, charge: charge.id, status, amount } });
}
