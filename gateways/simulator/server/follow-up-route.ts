import type { Charge, FollowUpKind } from './books.ts';
import { chargeOnTheWire } from './charge-on-the-wire.ts';
import { deliver } from './delivery.ts';
import type { WireMoney } from './entries.ts';
import { type Exchange, originOf, Refusal, type Reply, readJson } from './exchange.ts';
import { deliveryFault, rulingFault } from './faults.ts';
import { type ShareOfCharge, shareOfCharge } from './share-of-charge.ts';
import { record, type Simulator } from './simulator.ts';

interface FollowUp {
  readonly kind: FollowUpKind;
  readonly reference: string;
  readonly chargeId: string;
  readonly amount: WireMoney;
  readonly origin: string;
}

/** `POST /{account}/v1/captures` and `…/voids`: takes or releases what a charge holds. */
export async function postFollowUp(
  simulator: Simulator,
  account: string,
  [exchange, kind]: readonly [Exchange, FollowUpKind],
): Promise<void> {
  if (simulator.switchBoard.get(account).authorization.mode === 'absent')
    throw new Refusal(404, 'route_not_found', { message: 'There is no such route.' });
  const parsed = shareOfCharge.safeParse(readJson(exchange));
  if (!parsed.success) throw new Refusal(400, 'field_invalid', { message: 'Send reference, charge and amount.' });
  const { reference, amount } = parsed.data;
  const charge = findCharge(simulator, account, parsed.data);
  refuseWrongAmount(simulator, charge, { kind, amount });
  const subject = { account, reference: charge.reference, paymentMethod: null, request: 'follow_up' } as const;
  const ruling = simulator.faultBook.take(rulingFault, subject);
  const delivery = simulator.faultBook.take(deliveryFault, subject);
  const followUp = { kind, reference, chargeId: charge.id, amount, origin: originOf(exchange) };
  await deliver({ exchange, delivery, process: () => follow(simulator, followUp, ruling?.kind === 'decline') });
}

function findCharge(
  { books }: Simulator,
  account: string,
  { charge: id, charge_reference: reference }: ShareOfCharge,
): Charge {
  const named = id === null ? books.chargesOf(account, reference).find(({ held }) => held !== null) : books.charge(id);
  if (named === undefined || named.account !== account || named.held === null)
    throw new Refusal(404, 'authorization_not_found', { message: 'There is no such authorization.', field: 'charge' });
  return named;
}

function refuseWrongAmount(
  { switchBoard }: Simulator,
  { account, held }: Charge,
  { kind, amount }: Pick<FollowUp, 'kind' | 'amount'>,
): void {
  const all = held?.amount;
  const isAll = all?.minor_units === amount.minor_units && all.currency === amount.currency;
  const isPart = all?.currency === amount.currency && amount.minor_units < all.minor_units;
  const mayBePart = kind === 'capture' && switchBoard.get(account).authorization.partial_capture;
  if (isAll || (isPart && mayBePart)) return;
  throw new Refusal(422, 'amount_not_held', { message: 'This amount cannot be taken of what is held.' });
}

const DONE = { capture: 'authorization_captured', void: 'authorization_voided' } as const;

/**
 * One arrival. The charge is read again and the row is written without waiting in between: of a capture and a void in one
 * instant the second finds the authorization ended.
 */
async function follow(simulator: Simulator, followUp: FollowUp, declines: boolean): Promise<Reply> {
  const { kind, reference, chargeId, amount, origin } = followUp;
  const charge = chargeIn(simulator, chargeId);
  const row = { account: charge.account, reference: charge.reference, gateway_reference: charge.id, amount };
  const because = charge.status === 'authorized' && !declines ? undefined : reasonToKeep(charge, followUp);
  const ending = { ...row, follow_up_reference: reference };
  await record(
    simulator,
    because === undefined ? { kind: DONE[kind], ...ending } : { kind: 'authorization_kept', because, ...ending },
  ).durable;
  if (because !== undefined && because !== 'replayed') return REFUSALS[because];
  return { status: because === undefined ? 201 : 200, body: chargeOnTheWire(chargeIn(simulator, chargeId), origin) };
}

function chargeIn({ books }: Simulator, id: string): Charge {
  const charge = books.charge(id);
  if (charge === undefined) throw new Error(`The books do not hold the charge ${id}`);
  return charge;
}

function reasonToKeep({ status, endedBy, amount }: Charge, followUp: FollowUp) {
  if (status === 'authorized') return 'declined';
  if (endedBy?.reference !== followUp.reference) return 'authorization_over';
  return endedBy.kind === followUp.kind && amount.minor_units === followUp.amount.minor_units
    ? 'replayed'
    : 'reference_reused';
}

const REFUSALS: Readonly<Record<'authorization_over' | 'reference_reused' | 'declined', Reply>> = {
  authorization_over: refused(409, 'authorization_over', 'It was captured, voided or has lapsed before.'),
  reference_reused: refused(422, 'follow_up_reference_reused', 'This reference was used for another request.'),
  declined: refused(402, 'follow_up_declined', 'The bank refuses, and nothing was changed.'),
};

function refused(status: number, code: string, message: string): Reply {
  return { status, body: { error: { code, message } } };
}
