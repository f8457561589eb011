import { createHash } from 'node:crypto';
import type { Charge } from './books.ts';
import { deliver } from './delivery.ts';
import { type Exchange, Refusal, type Reply, readJson } from './exchange.ts';
import { deliveryFault, inquiryFault, rulingFault } from './faults.ts';
import { deliverInquiry } from './inquiry-route.ts';
import type { Refund } from './refund-books.ts';
import { refundOnTheWire } from './refund-on-the-wire.ts';
import { processRefund, type RefundRequest } from './refunding.ts';
import { shareOfCharge } from './share-of-charge.ts';
import type { Simulator } from './simulator.ts';

/** `POST /{account}/v1/refunds`: gives money of a charge back, and lets go wrong what a script says. */
export async function postRefund(simulator: Simulator, account: string, exchange: Exchange): Promise<void> {
  const request = readRefundRequest(simulator, account, exchange);
  const subject = { account, reference: request.charge.reference, paymentMethod: null, request: 'refund' } as const;
  const ruling = simulator.faultBook.take(rulingFault, subject);
  const delivery = simulator.faultBook.take(deliveryFault, subject);
  await deliver({ exchange, delivery, process: () => processRefund(simulator, request, ruling) });
}

function readRefundRequest(simulator: Simulator, account: string, exchange: Exchange): RefundRequest {
  const parsed = shareOfCharge.safeParse(readJson(exchange));
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path.join('.') ?? '';
    throw new Refusal(400, 'field_invalid', { message: `The field ${field || '(body)'} is missing or wrong.`, field });
  }
  const { reference, charge: chargeId, charge_reference: chargeReference, amount } = parsed.data;
  const charge = findCharge(simulator, account, { chargeId, chargeReference });
  const key = exchange.headers['idempotency-key'];
  const said = JSON.stringify([reference, charge.id, amount.minor_units, amount.currency]);
  const fingerprint = createHash('sha256').update(said).digest('hex');
  const idempotencyKey = typeof key === 'string' ? key : null;
  return { account, reference, charge, amount, idempotencyKey, fingerprint };
}

function findCharge(
  { books }: Simulator,
  account: string,
  { chargeId, chargeReference }: { readonly chargeId: string | null; readonly chargeReference: string },
): Charge {
  const named = chargeId === null ? undefined : books.charge(chargeId);
  const charges = chargeId === null ? books.chargesOf(account, chargeReference) : named === undefined ? [] : [named];
  const charge = charges.find(({ status }) => status === 'approved') ?? charges[0];
  if (charge === undefined || charge.account !== account)
    throw new Refusal(404, 'charge_not_found', { message: 'There is no such charge.', field: 'charge' });
  return charge;
}

/** `GET /{account}/v1/refunds?reference=`: every refund under the reference, oldest first. */
export async function getRefunds(simulator: Simulator, account: string, exchange: Exchange): Promise<void> {
  const reference = exchange.url.searchParams.get('reference');
  if (reference === null)
    throw new Refusal(400, 'reference_invalid', { message: 'Ask with ?reference=.', field: 'reference' });
  const { inquiry } = simulator.switchBoard.get(account);
  if (inquiry.mode === 'absent') throw new Refusal(404, 'route_not_found', { message: 'There is no such route.' });
  const known = simulator.books.refunds.refundsOf(account, reference);
  const subject = { account, reference: known[0]?.chargeReference ?? reference, paymentMethod: null };
  const fault = simulator.faultBook.take(inquiryFault, { ...subject, request: 'refund' });
  const lagMs = inquiry.mode === 'lagging' ? inquiry.seconds * 1_000 : 0;
  const isHidden = fault?.kind === 'inquiry_not_found' || inquiry.mode === 'not_found_for_all';
  const isStale = fault?.kind === 'inquiry_stale_pending';
  const answer = async (): Promise<Reply> => {
    const refunds = simulator.books.refunds
      .refundsOf(account, reference)
      .filter(({ createdAt }) => !isHidden && Date.now() - Date.parse(createdAt) >= lagMs)
      .map((refund): Refund => (isStale ? { ...refund, status: 'pending' } : refund));
    await simulator.ledger.settled();
    return { status: 200, body: { refunds: refunds.map(refundOnTheWire) } };
  };
  await deliverInquiry(exchange, fault, answer);
}
