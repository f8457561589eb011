import { setTimeout as sleep } from 'node:timers/promises';
import type { Charge } from './books.ts';
import { chargeOnTheWire } from './charge-on-the-wire.ts';
import { type Exchange, originOf, Refusal, type Reply, reset, send, sendText } from './exchange.ts';
import { type InquiryFault, inquiryFault } from './faults.ts';
import type { Simulator } from './simulator.ts';

const MAINTENANCE = '<html><body>Scheduled maintenance.</body></html>';

/** What is asked: a reference of the merchant's, or an id of the gateway's. */
type Question = { readonly reference: string } | { readonly id: string };

/** `GET /{account}/v1/charges?reference=`: every charge under the reference, oldest first; an empty list for an unknown one. */
export function getCharges(simulator: Simulator, account: string, exchange: Exchange): Promise<void> {
  const reference = exchange.url.searchParams.get('reference');
  if (reference === null)
    throw new Refusal(400, 'reference_invalid', { message: 'Ask with ?reference=.', field: 'reference' });
  return inquire(simulator, { account, question: { reference }, exchange });
}

/** `GET /{account}/v1/charges/{id}`: the charge, or 404 `charge_not_found`. */
export function getCharge(
  simulator: Simulator,
  account: string,
  [exchange, id]: readonly [Exchange, string],
): Promise<void> {
  return inquire(simulator, { account, question: { id }, exchange });
}

interface Inquiry {
  readonly account: string;
  readonly question: Question;
  readonly exchange: Exchange;
}

async function inquire(simulator: Simulator, inquiry: Inquiry): Promise<void> {
  const { account, question, exchange } = inquiry;
  if (simulator.switchBoard.get(account).inquiry.mode === 'absent')
    throw new Refusal(404, 'route_not_found', { message: 'There is no such route.' });
  const reference =
    'reference' in question ? question.reference : (simulator.books.charge(question.id)?.reference ?? '');
  const fault = simulator.faultBook.take(inquiryFault, { account, reference, paymentMethod: null });
  const answer = async (): Promise<Reply> => {
    const charges = findCharges(simulator, inquiry, fault).map((charge) => chargeOnTheWire(charge, originOf(exchange)));
    await simulator.ledger.settled();
    if ('reference' in question) return { status: 200, body: { charges } };
    const [charge] = charges;
    if (charge === undefined) throw new Refusal(404, 'charge_not_found', { message: 'There is no such charge.' });
    return { status: 200, body: charge };
  };
  await deliverInquiry(exchange, fault, answer);
}

/** Answers a question as the fault has it. */
export async function deliverInquiry(
  { response }: Exchange,
  fault: InquiryFault | undefined,
  answer: () => Promise<Reply>,
): Promise<void> {
  switch (fault?.kind) {
    case 'inquiry_unavailable':
      return send(response, {
        status: fault.status,
        body: { error: { code: 'unavailable', message: 'Try again later.' } },
      });
    case 'inquiry_lost':
      return reset(response);
    case 'inquiry_unreadable':
      return sendText(response, { status: 200, headers: { 'content-type': 'text/html' }, text: MAINTENANCE });
    case 'inquiry_slow':
      await sleep(fault.seconds * 1_000, undefined, { ref: false });
      return send(response, await answer());
    case 'inquiry_not_found':
    case 'inquiry_stale_pending':
    case undefined:
      return send(response, await answer());
  }
}

function findCharges(
  { books, switchBoard }: Simulator,
  { account, question }: Inquiry,
  fault: InquiryFault | undefined,
): Charge[] {
  const { inquiry } = switchBoard.get(account);
  if (fault?.kind === 'inquiry_not_found' || inquiry.mode === 'not_found_for_all') return [];
  const found = 'reference' in question ? books.chargesOf(account, question.reference) : [books.charge(question.id)];
  const lagMs = inquiry.mode === 'lagging' ? inquiry.seconds * 1_000 : 0;
  return found
    .filter((charge) => charge !== undefined)
    .filter((charge) => charge.account === account && Date.now() - Date.parse(charge.createdAt) >= lagMs)
    .map((charge) => (fault?.kind === 'inquiry_stale_pending' ? { ...charge, status: 'pending' } : charge));
}
