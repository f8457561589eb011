import { announcementOf } from './announcement.ts';
import { type Books, type Charge, createBooks } from './books.ts';
import type { Entry, NewEntry } from './entries.ts';
import { endProcess } from './fatal.ts';
import { createFaultBook, type FaultBook } from './faults.ts';
import { type LedgerFile, openLedgerFile } from './ledger-file.ts';
import { createLedgerView, type LedgerView } from './ledger-view.ts';
import { createSwitchBoard, type SwitchBoard } from './switches.ts';
import { createWebhookSender, type WebhookSender } from './webhooks.ts';

/** The gateway behind its HTTP face: what it remembers, what it can do, and what is to go wrong. */
export interface Simulator {
  readonly books: Books;
  readonly view: LedgerView;
  readonly ledger: LedgerFile;
  readonly switchBoard: SwitchBoard;
  readonly faultBook: FaultBook;
  readonly webhooks: WebhookSender;
  /** References whose token has already had its effect on the way; see charge-route.ts. */
  readonly disturbed: Set<string>;
}

/** Opens the ledger, remembers everything in it, and goes on waiting for the charges that were pending. */
export async function openSimulator(ledgerPath: string): Promise<Simulator> {
  const { file, entries } = await openLedgerFile(ledgerPath);
  const faultBook = createFaultBook();
  const simulator: Simulator = {
    books: createBooks(entries),
    view: createLedgerView(entries),
    ledger: file,
    switchBoard: createSwitchBoard(),
    faultBook,
    webhooks: createWebhookSender(faultBook),
    disturbed: new Set(),
  };
  for (const charge of simulator.books.waitingForTime()) {
    settleInTime(simulator, charge);
    lapseInTime(simulator, charge.id);
  }
  return simulator;
}

/**
 * Writes one row. The books know it at once, so that a second request in the same instant meets the first one's charge;
 * nobody is told of it before `durable`.
 */
export function record(
  simulator: Simulator,
  row: NewEntry,
): { readonly entry: Entry; readonly durable: Promise<void> } {
  const appended = simulator.ledger.append(row);
  simulator.books.apply(appended.entry);
  simulator.view.apply(appended.entry);
  const news = announcementOf(simulator.books, appended.entry);
  if (news !== undefined) void appended.durable.then(() => simulator.webhooks.announce(news));
  return appended;
}

/** Moves the money of an open charge, or declines it; undefined when it is not open any more. */
export function settle(
  simulator: Simulator,
  id: string,
  settlesAs: 'approved' | 'declined',
): Promise<void> | undefined {
  const charge = simulator.books.charge(id);
  if (charge?.status !== 'pending' && charge?.status !== 'requires_action') return undefined;
  const { account, reference, amount } = charge;
  const row = { account, reference, gateway_reference: id, amount, request: null };
  const settled: NewEntry =
    settlesAs === 'declined'
      ? { kind: 'charge_declined', code: charge.declineCode ?? 'card_declined', ...row }
      : charge.isHeldFirst
        ? { kind: 'charge_authorized', lapses_at: lapseOf(simulator, account), ...row }
        : { kind: 'money_moved', ...row };
  const { durable } = record(simulator, settled);
  lapseInTime(simulator, id);
  return durable;
}

/** When money that is held from now on is released by itself. */
export function lapseOf({ switchBoard }: Simulator, account: string): string | null {
  const { lapses_after_seconds: seconds } = switchBoard.get(account).authorization;
  return seconds === null ? null : new Date(Date.now() + seconds * 1_000).toISOString();
}

/** Releases what the charge holds when its time is over, unless it was captured or voided before. */
export function lapseInTime(simulator: Simulator, id: string): void {
  const lapsesAt = simulator.books.charge(id)?.held?.lapsesAt ?? null;
  if (lapsesAt === null) return;
  later(Date.parse(lapsesAt) - Date.now(), async () => {
    const charge = simulator.books.charge(id);
    if (charge?.status !== 'authorized') return;
    const { account, reference, amount } = charge;
    const row = { account, reference, gateway_reference: id, amount };
    await record(simulator, { kind: 'authorization_lapsed', ...row }).durable;
  });
}

/** Settles a pending charge when its time has come, whether or not this process made it. */
export function settleInTime(simulator: Simulator, { id, settlesAt, settlesAs }: Charge): void {
  if (settlesAt === null || settlesAs === null) return;
  later(Date.parse(settlesAt) - Date.now(), async () => {
    await settle(simulator, id, settlesAs);
  });
}

/** Does something after a while, without keeping the process alive for it. */
export function later(milliseconds: number, act: () => Promise<void>): void {
  const timer = setTimeout(
    () => {
      act().catch(endProcess);
    },
    Math.max(0, milliseconds),
  );
  timer.unref();
}
