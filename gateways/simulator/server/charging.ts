import { randomUUID } from 'node:crypto';
import type { Charge, KeyUse } from './books.ts';
import { chargeOnTheWire } from './charge-on-the-wire.ts';
import type { NewEntry, WireMoney } from './entries.ts';
import type { Reply } from './exchange.ts';
import type { RulingFault } from './faults.ts';
import { lapseInTime, lapseOf, record, type Simulator, settleInTime } from './simulator.ts';

/** A request for a charge that has the right form. */
export interface ChargeRequest {
  readonly account: string;
  readonly reference: string;
  readonly amount: WireMoney;
  readonly paymentMethod: string;
  readonly returnUrl: string | null;
  /** False: the money is held, and taken by a capture only. */
  readonly capture: boolean;
  readonly idempotencyKey: string | null;
  readonly fingerprint: string;
  /** The address under which the caller sees this gateway; the page for the customer is under it too. */
  readonly origin: string;
}

/**
 * One arrival of a request. The decision and its row are made without waiting in between, so that of two arrivals in the
 * same instant the second meets the first one's charge; the answer waits until the row is on the disk.
 */
export async function processCharge(
  simulator: Simulator,
  request: ChargeRequest,
  ruling: RulingFault | undefined,
): Promise<Reply> {
  if (simulator.books.isClosed(request.account, request.reference)) return refuseClosed(simulator, request);
  const known = findKnown(simulator, request);
  if (known !== undefined) {
    await record(simulator, repeatEntry(request, known)).durable;
    return replyTo(known, request.origin);
  }
  const { entry, durable } = record(simulator, chargeEntry(simulator, request, ruling));
  const charge = simulator.books.charge(entry.gateway_reference ?? '');
  if (charge === undefined) throw new Error(`The books do not hold the charge of row ${entry.sequence}`);
  await durable;
  settleInTime(simulator, charge);
  lapseInTime(simulator, charge.id);
  await simulator.webhooks.mayAnswer(charge.id);
  return { status: 201, body: chargeOnTheWire(charge, request.origin) };
}

async function refuseClosed(simulator: Simulator, request: ChargeRequest): Promise<Reply> {
  await record(simulator, { kind: 'request_repeated', treated_as: 'reference_refused', ...rowOf(request, null) })
    .durable;
  return refused(409, 'reference_closed', 'This reference was closed; nothing was charged.');
}

interface Known {
  readonly treatedAs: 'replayed' | 'original_returned' | 'reference_refused' | 'key_reuse_refused';
  readonly charge: Charge;
}

/** Does this account's gateway know the request? The key is looked at first, as the gateways that have both do. */
function findKnown({ books, switchBoard }: Simulator, request: ChargeRequest): Known | undefined {
  const { account, reference, idempotencyKey, fingerprint } = request;
  const { idempotency_key: keyMode, unique_reference: referenceMode } = switchBoard.get(account);
  const use = idempotencyKey === null || keyMode.mode === 'ignored' ? undefined : books.keyUse(account, idempotencyKey);
  if (use !== undefined && !(keyMode.mode === 'forgotten' && isForgotten(use, keyMode.after_seconds))) {
    const charge = books.charge(use.chargeId);
    if (charge !== undefined)
      return { treatedAs: use.fingerprint === fingerprint ? 'replayed' : 'key_reuse_refused', charge };
  }
  const [original] = referenceMode === 'ignored' ? [] : books.chargesOf(account, reference);
  if (original === undefined) return undefined;
  const isSame = sameAmount(original.held?.amount ?? original.amount, request.amount);
  return {
    treatedAs: referenceMode === 'returns_original' && isSame ? 'original_returned' : 'reference_refused',
    charge: original,
  };
}

function isForgotten({ usedAt }: KeyUse, afterSeconds: number): boolean {
  return Date.now() - Date.parse(usedAt) >= afterSeconds * 1_000;
}

function sameAmount(left: WireMoney, right: WireMoney): boolean {
  return left.minor_units === right.minor_units && left.currency === right.currency;
}

function rowOf(request: ChargeRequest, gatewayReference: string | null) {
  const { account, reference, amount, idempotencyKey, fingerprint, paymentMethod, returnUrl, capture } = request;
  const mark = {
    ...{ idempotency_key: idempotencyKey, fingerprint, payment_method: paymentMethod, return_url: returnUrl },
    ...(capture ? {} : { capture: false as const }),
  };
  return { account, reference, gateway_reference: gatewayReference, amount, request: mark };
}

function repeatEntry(request: ChargeRequest, { treatedAs, charge }: Known): NewEntry {
  return { kind: 'request_repeated', treated_as: treatedAs, ...rowOf(request, charge.id) };
}

function chargeEntry(simulator: Simulator, request: ChargeRequest, ruling: RulingFault | undefined): NewEntry {
  const row = rowOf(request, `ch_${randomUUID().replaceAll('-', '')}`);
  switch (ruling?.kind) {
    case undefined:
    case 'fails_later':
      return request.capture
        ? { kind: 'money_moved', ...row }
        : { kind: 'charge_authorized', lapses_at: lapseOf(simulator, request.account), ...row };
    case 'decline':
      return { kind: 'charge_declined', code: ruling.code, ...row };
    case 'pending': {
      const settlesAt = new Date(Date.now() + ruling.seconds * 1_000).toISOString();
      return { kind: 'charge_opened', settles_at: settlesAt, settles_as: ruling.settles_as, code: ruling.code, ...row };
    }
    case 'requires_action':
      return { kind: 'charge_opened', settles_at: null, settles_as: null, code: null, ...row };
  }
}

function replyTo({ treatedAs, charge }: Known, origin: string): Reply {
  switch (treatedAs) {
    case 'replayed':
    case 'original_returned':
      return { status: 200, body: chargeOnTheWire(charge, origin), headers: { 'idempotent-replayed': 'true' } };
    case 'reference_refused':
      return refused(409, 'reference_used', 'This reference was already used for another request.');
    case 'key_reuse_refused':
      return refused(422, 'idempotency_key_reused', 'This Idempotency-Key was used with another body.');
  }
}

function refused(status: number, code: string, message: string): Reply {
  return { status, body: { error: { code, message } } };
}
