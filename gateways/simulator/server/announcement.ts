import type { Books, Charge } from './books.ts';
import { chargeOnTheWire } from './charge-on-the-wire.ts';
import type { Entry, WireMoney } from './entries.ts';
import { isMoneyBack, type MoneyBackEntry } from './money-back-entries.ts';
import type { Refund } from './refund-books.ts';
import { refundOnTheWire } from './refund-on-the-wire.ts';

/** News for the merchant, as one webhook tells it. */
export interface Announcement {
  readonly subject: 'charge' | 'refund' | 'dispute';
  /** The gateway's number for it. */
  readonly id: string;
  readonly account: string;
  /** The merchant's reference of the charge that it is about. */
  readonly reference: string;
  readonly type: string;
  readonly amount: WireMoney;
  /** What the event holds, with the amount that it is to name. @param origin the address under which the merchant sees this gateway */
  data(amount: WireMoney, origin: string): object;
}

/** Rows after which a charge has a status that its merchant was not told by webhook. */
const CHARGE_HAS_CHANGED: ReadonlySet<Entry['kind']> = new Set(['money_moved', 'charge_declined', 'charge_opened']);

/** What the merchant is told after a row was written; undefined where it changes nothing for him. */
export function announcementOf(books: Books, entry: Entry): Announcement | undefined {
  if (isMoneyBack(entry)) return ofMoneyBack(books, entry);
  const { kind, gateway_reference: id } = entry;
  const charge = id === null || !CHARGE_HAS_CHANGED.has(kind) ? undefined : books.charge(id);
  return charge && ofCharge(charge);
}

function ofCharge(charge: Charge): Announcement {
  const { id, account, reference, status, amount } = charge;
  const data: Announcement['data'] = (told, origin) => chargeOnTheWire({ ...charge, amount: told }, origin);
  return { subject: 'charge', id, account, reference, type: `charge.${status}`, amount, data };
}

function ofMoneyBack(books: Books, entry: MoneyBackEntry): Announcement | undefined {
  if (!('refund_id' in entry)) return ofDispute(entry);
  const refund = entry.kind === 'refund_repeated' ? undefined : books.refunds.refund(entry.refund_id);
  return refund && ofRefund(refund);
}

function ofRefund(refund: Refund): Announcement {
  const { id, account, chargeReference: reference, status, amount } = refund;
  const data: Announcement['data'] = (told) => ({
    ...refundOnTheWire({ ...refund, amount: told }),
    charge_reference: reference,
  });
  return { subject: 'refund', id, account, reference, type: `refund.${status}`, amount, data };
}

function ofDispute(entry: Extract<MoneyBackEntry, { readonly dispute_id: string }>): Announcement {
  const { dispute_id: id, account, reference, gateway_reference: charge, amount } = entry;
  const status = entry.kind.replace('dispute_', '');
  const data: Announcement['data'] = (told) => ({ id, charge, charge_reference: reference, status, amount: told });
  return { subject: 'dispute', id, account, reference, type: `dispute.${status}`, amount, data };
}
