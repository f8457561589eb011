import { ATTEMPT_TRANSITIONS } from '../../domain/attempt.ts';
import { ORDER_TRANSITIONS } from '../../domain/order.ts';
import { CHECK, refusal } from './constraints.ts';
import type { Run } from './run.ts';
import { type Row, rowsOf, type Table } from './tables.ts';

/** A row as it comes to a table: new, or in the place of another. */
export interface Passage {
  readonly before: Row | undefined;
  readonly after: Row;
}

type Guard = (run: Run, passage: Passage) => void;

/** The guards of the migrations again, in the words of this language: their own is not understood here. */
const GUARDS: Readonly<Record<string, readonly Guard[]>> = {
  orders: [guardOrder],
  payment_attempts: [guardAttempt],
  evidence: [guardEvidence],
};

export function fireTriggers(run: Run, { shape }: Table, passage: Passage): Row {
  for (const guard of GUARDS[shape.name] ?? []) guard(run, passage);
  return passage.after;
}

function demand(run: Run, holds: boolean, constraint: string): void {
  if (!holds && !run.dropped.has(constraint))
    throw refusal(CHECK, constraint, `a guard refuses the row: ${constraint}`);
}

type Moves = Readonly<Record<string, readonly string[]>>;

function mayMove(moves: Moves, before: Row, after: Row): boolean {
  return before.status === after.status || (moves[String(before.status)] ?? []).includes(String(after.status));
}

function same(before: Row, after: Row, columns: readonly string[]): boolean {
  return columns.every((column) => before[column] === after[column]);
}

function guardOrder(run: Run, { before, after }: Passage): void {
  if (before === undefined) {
    demand(run, after.status === 'created' && after.current_attempt === 0, 'orders_start_as_created');
    return;
  }
  demand(run, mayMove(ORDER_TRANSITIONS, before, after), 'orders_transition_allowed');
  demand(run, before.status !== after.status || same(before, after, ['evidence_id']), 'orders_evidence_fixed');
  demand(run, same(before, after, ['id', 'amount_minor_units', 'currency', 'gateway']), 'orders_amount_fixed');
  const step = Number(after.current_attempt) - Number(before.current_attempt);
  demand(run, step === 0 || step === 1, 'orders_attempts_count_up');
}

function guardAttempt(run: Run, { before, after }: Passage): void {
  if (before === undefined) {
    demand(run, after.status === 'claimed', 'payment_attempts_start_as_claimed');
    return;
  }
  demand(run, mayMove(ATTEMPT_TRANSITIONS, before, after), 'payment_attempts_transition_allowed');
  demand(
    run,
    before.status !== after.status || same(before, after, ['evidence_id']),
    'payment_attempts_evidence_fixed',
  );
  const references = ['order_id', 'attempt_number', 'gateway', 'merchant_reference'];
  const keepsTheirs = before.gateway_reference === null || same(before, after, ['gateway_reference']);
  demand(run, same(before, after, references) && keepsTheirs, 'payment_attempts_references_fixed');
  const sent = ['request_key', 'request_body', 'sent_at', 'claimed_by_run'];
  demand(run, before.sends === 0 || same(before, after, sent), 'payment_attempts_request_fixed');
  const step = Number(after.sends) - Number(before.sends);
  demand(run, step === 0 || step === 1, 'payment_attempts_sends_count_up');
}

function guardEvidence(run: Run, { before, after }: Passage): void {
  demand(run, before === undefined, 'evidence_append_only');
  if (after.kind !== 'never_sent') return;
  const attempts = run.tables.get('payment_attempts');
  if (attempts === undefined) return;
  for (const [, attempt] of rowsOf(attempts, 'order_id', after.order_id)) {
    const isMeant = after.attempt_number === null || after.attempt_number === attempt.attempt_number;
    demand(run, !isMeant || attempt.sends === 0, 'evidence_never_sent_is_true');
  }
}
