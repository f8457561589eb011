import { z } from 'zod';
import { isCurrency } from '../../../domain/currencies.ts';
import { chargeOnTheWire } from './charge-on-the-wire.ts';
import type { WireMoney } from './entries.ts';
import { type Exchange, originOf, Refusal, type Reply, readJson } from './exchange.ts';
import { inquiryFault } from './faults.ts';
import { deliverInquiry } from './inquiry-route.ts';
import { record, type Simulator } from './simulator.ts';

const closeBody = z.strictObject({
  reference: z.string().regex(/^[0-9A-Za-z]{1,40}$/),
  amount: z.strictObject({
    minor_units: z.number().int().positive().max(Number.MAX_SAFE_INTEGER),
    currency: z.string().refine(isCurrency),
  }),
});

/**
 * `POST /{account}/v1/charges/close`: from now on every request under the reference is refused, whether or not one was there
 * before, and open charges under it are declined. Money that has moved stays. Goes wrong by the faults of inquiries.
 */
export async function postClose(simulator: Simulator, account: string, exchange: Exchange): Promise<void> {
  if (simulator.switchBoard.get(account).close === 'absent')
    throw new Refusal(404, 'route_not_found', { message: 'There is no such route.' });
  const parsed = closeBody.safeParse(readJson(exchange));
  if (!parsed.success) throw new Refusal(400, 'field_invalid', { message: 'Send reference and amount.' });
  const { reference, amount } = parsed.data;
  const fault = simulator.faultBook.take(inquiryFault, { account, reference, paymentMethod: null });
  await deliverInquiry(exchange, fault, async (): Promise<Reply> => {
    await close(simulator, { account, reference, amount });
    const charges = simulator.books.chargesOf(account, reference);
    return {
      status: 200,
      body: { closed: true, charges: charges.map((charge) => chargeOnTheWire(charge, originOf(exchange))) },
    };
  });
}

interface Closing {
  readonly account: string;
  readonly reference: string;
  readonly amount: WireMoney;
}

/** All rows are made in one instant: a request that arrives in between would find the reference half closed. */
async function close(simulator: Simulator, { account, reference, amount }: Closing): Promise<void> {
  const open = simulator.books
    .chargesOf(account, reference)
    .filter(({ status }) => status === 'pending' || status === 'requires_action');
  const rows = open.map((charge) =>
    record(simulator, {
      ...{ kind: 'charge_declined', code: 'closed', account, reference, request: null },
      ...{ gateway_reference: charge.id, amount: charge.amount },
    } as const),
  );
  if (!simulator.books.isClosed(account, reference)) {
    rows.push(
      record(simulator, {
        kind: 'reference_closed',
        account,
        reference,
        gateway_reference: null,
        amount,
        request: null,
      }),
    );
  }
  await Promise.all(rows.map(({ durable }) => durable));
  await simulator.ledger.settled();
}
