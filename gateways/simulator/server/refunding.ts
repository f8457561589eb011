import { randomUUID } from 'node:crypto';
import type { Charge } from './books.ts';
import type { WireMoney } from './entries.ts';
import { Refusal, type Reply } from './exchange.ts';
import type { RulingFault } from './faults.ts';
import type { Refund } from './refund-books.ts';
import { refundOnTheWire } from './refund-on-the-wire.ts';
import { later, record, type Simulator } from './simulator.ts';

/** A request for a refund that has the right form. */
export interface RefundRequest {
  readonly account: string;
  readonly reference: string;
  readonly charge: Charge;
  readonly amount: WireMoney;
  readonly idempotencyKey: string | null;
  readonly fingerprint: string;
}

/** One arrival of a request; decided and written without waiting in between, as a charge is. */
export async function processRefund(
  simulator: Simulator,
  request: RefundRequest,
  ruling: RulingFault | undefined,
): Promise<Reply> {
  const known = findKnown(simulator, request);
  if (known !== undefined) {
    const { treatedAs, refund } = known;
    await record(simulator, { kind: 'refund_repeated', treated_as: treatedAs, ...rowOf(request, refund.id) }).durable;
    return replyTo(known);
  }
  refuseTooMuch(simulator, request);
  const id = `re_${randomUUID().replaceAll('-', '')}`;
  const { durable } = record(simulator, refundEntry(rowOf(request, id), ruling));
  const refund = simulator.books.refunds.refund(id);
  if (refund === undefined) throw new Error(`The books do not hold the refund ${id}`);
  await durable;
  settleRefundInTime(simulator, refund);
  await simulator.webhooks.mayAnswer(id);
  return { status: 201, body: refundOnTheWire(refund) };
}

interface Known {
  readonly treatedAs: 'replayed' | 'original_returned' | 'reference_refused' | 'key_reuse_refused';
  readonly refund: Refund;
}

function findKnown({ books: { refunds }, switchBoard }: Simulator, request: RefundRequest): Known | undefined {
  const { account, reference, idempotencyKey, fingerprint } = request;
  const { refund_idempotency_key: keyMode, unique_refund_reference: referenceMode } = switchBoard.get(account);
  const use =
    idempotencyKey === null || keyMode.mode === 'ignored' ? undefined : refunds.keyUse(account, idempotencyKey);
  const isForgotten =
    keyMode.mode === 'forgotten' && Date.now() - Date.parse(use?.usedAt ?? '') >= keyMode.after_seconds * 1_000;
  const used = use === undefined || isForgotten ? undefined : refunds.refund(use.refundId);
  if (used !== undefined)
    return { treatedAs: use?.fingerprint === fingerprint ? 'replayed' : 'key_reuse_refused', refund: used };
  const [original] = referenceMode === 'ignored' ? [] : refunds.refundsOf(account, reference);
  if (original === undefined) return undefined;
  const isSame = original.amount.minor_units === request.amount.minor_units && original.chargeId === request.charge.id;
  const returns = referenceMode === 'returns_original' && isSame;
  return { treatedAs: returns ? 'original_returned' : 'reference_refused', refund: original };
}

/** No gateway gives back more than it took. */
function refuseTooMuch({ books }: Simulator, { charge, amount }: RefundRequest): void {
  const left = charge.status === 'approved' ? charge.amount.minor_units - books.refunds.takenFrom(charge.id) : 0;
  if (amount.currency === charge.amount.currency && amount.minor_units <= left) return;
  throw new Refusal(422, 'refund_exceeds_charge', { message: `Only ${left} minor units of the charge are left.` });
}

function rowOf({ account, reference, charge, amount, idempotencyKey, fingerprint }: RefundRequest, refundId: string) {
  const ofCharge = { account, reference: charge.reference, gateway_reference: charge.id, amount };
  const request = { idempotency_key: idempotencyKey, fingerprint };
  return { ...ofCharge, refund_id: refundId, refund_reference: reference, request };
}

type RefundRow = ReturnType<typeof rowOf>;

function refundEntry(row: RefundRow, ruling: RulingFault | undefined) {
  switch (ruling?.kind) {
    case 'decline':
      return { kind: 'refund_declined', code: ruling.code, ...row } as const;
    case 'pending': {
      const settlesAt = new Date(Date.now() + ruling.seconds * 1_000).toISOString();
      const wait = { settles_at: settlesAt, settles_as: ruling.settles_as, code: ruling.code };
      return { kind: 'refund_opened', ...wait, ...row } as const;
    }
    case 'fails_later': {
      const comesBackAt = new Date(Date.now() + ruling.seconds * 1_000).toISOString();
      return { kind: 'refund_moved', comes_back: { at: comesBackAt, code: ruling.code }, ...row } as const;
    }
    default:
      return { kind: 'refund_moved', ...row } as const;
  }
}

/** Settles a pending refund, or returns one that is to come back, when its time has come, whether or not this process made it. */
export function settleRefundInTime(simulator: Simulator, refund: Refund): void {
  const { settlesAt, settlesAs, failureCode, comesBack } = refund;
  if (comesBack !== null)
    later(Date.parse(comesBack.at) - Date.now(), async () => returnRefund(simulator, refund.id, comesBack.code));
  if (settlesAt === null || settlesAs === null) return;
  later(Date.parse(settlesAt) - Date.now(), async () => {
    const row = lateRow(refund);
    const code = failureCode ?? 'bank_refused';
    await record(
      simulator,
      settlesAs === 'approved' ? { kind: 'refund_moved', ...row } : { kind: 'refund_declined', code, ...row },
    ).durable;
  });
}

/** The customer's bank sends a refund back, if it had reached it. */
async function returnRefund(simulator: Simulator, id: string, code: string): Promise<void> {
  const refund = simulator.books.refunds.refund(id);
  if (refund?.status !== 'succeeded') return;
  await record(simulator, { kind: 'refund_returned', code, ...lateRow(refund) }).durable;
}

function lateRow({ id, account, reference, chargeId, chargeReference, amount }: Refund) {
  const ofCharge = { account, reference: chargeReference, gateway_reference: chargeId, amount };
  return { ...ofCharge, refund_id: id, refund_reference: reference, request: null };
}

function replyTo({ treatedAs, refund }: Known): Reply {
  switch (treatedAs) {
    case 'replayed':
    case 'original_returned':
      return { status: 200, body: refundOnTheWire(refund), headers: { 'idempotent-replayed': 'true' } };
    case 'reference_refused':
      return refused(409, 'reference_used', 'This reference was already used for another refund.');
    case 'key_reuse_refused':
      return refused(422, 'idempotency_key_reused', 'This Idempotency-Key was used with another body.');
  }
}

function refused(status: number, code: string, message: string): Reply {
  return { status, body: { error: { code, message } } };
}
