import { Agent, request } from 'undici';
import { v7 as newId } from 'uuid';
import { type Timed, timeAll } from './load.ts';
import type { BenchGateway } from './stack.ts';

/** What the references of these charges begin with: they belong to no order. */
export const REFERENCE_OF_PLAIN_CALLS = 'BENCH';

/**
 * Times the gateway's own call without paidonce, one after the other: what a purchase cannot be faster than, so that only
 * what is on top counts as added.
 */
export async function timeGatewayCalls(simulatorAddress: string, gateway: BenchGateway, count: number): Promise<Timed> {
  const dispatcher = new Agent();
  const url = `${simulatorAddress}/${gateway}/v1/charges`;
  const references = Array.from(
    { length: count },
    () => `${REFERENCE_OF_PLAIN_CALLS}${newId().replaceAll('-', '').toUpperCase()}`,
  );
  const timed = await timeAll(references, 1, async (reference) => {
    const amount = { minor_units: 1_999, currency: 'EUR' };
    const response = await request(url, {
      method: 'POST',
      dispatcher,
      headers: { authorization: 'Bearer bench', 'content-type': 'application/json', 'idempotency-key': reference },
      body: JSON.stringify({ reference, amount, payment_method: 'tok_ok', description: null, return_url: null }),
    });
    await response.body.dump();
    if (response.statusCode !== 201) throw new Error(`The simulator answered ${response.statusCode} to a plain charge`);
  });
  await dispatcher.close();
  return timed;
}
