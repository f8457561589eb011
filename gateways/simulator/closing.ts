import { z } from 'zod';
import { toGatewayUnits } from '../../domain/currency-units.ts';
import type { CallScope, InquiryCommand } from '../../domain/gateway.ts';
import type { CloseAnswer } from '../../domain/outcome.ts';
import { rawAnswer, readJsonAnswer } from '../raw-answer.ts';
import { outcomeOfCharge, wireCharge } from './answers.ts';
import type { Connection } from './connection.ts';

const wireClosed = z.object({ closed: z.literal(true), charges: z.array(wireCharge) });

/** Closes a reference. What was charged under it before is told, and counts. */
export async function closeReference(
  { http, baseUrl, apiKey, capabilities }: Connection,
  { merchantReference, amount }: InquiryCommand,
  { timeoutMs }: CallScope,
): Promise<CloseAnswer> {
  const { currencyDecimals: decimals } = capabilities;
  const body = JSON.stringify({
    reference: merchantReference,
    amount: { minor_units: toGatewayUnits(amount, decimals), currency: amount.currency },
  });
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const result = await http.call({ method: 'POST', url: `${baseUrl}/v1/charges/close`, headers, body, timeoutMs });
  if (result.kind === 'failed') return { kind: 'unavailable', reason: `${result.code}: ${result.reason}` };
  const answer = wireClosed.safeParse(readJsonAnswer(result.body));
  if (result.status !== 200 || !answer.success) {
    return { kind: 'unavailable', reason: `HTTP ${result.status} with no readable answer` };
  }
  const raw = rawAnswer(result);
  const approved = answer.data.charges.find(({ status }) => status === 'approved');
  if (approved !== undefined) {
    const outcome = outcomeOfCharge(approved, { merchantReference, currency: amount.currency, decimals }, raw);
    return { kind: 'found', outcome };
  }
  const isOver = answer.data.charges.every(
    ({ status, reference }) => status === 'declined' && reference === merchantReference,
  );
  return isOver
    ? { kind: 'closed', raw }
    : { kind: 'unavailable', reason: 'a charge under the reference is still open' };
}
