import { describe, expect, test } from 'vitest';
import { ATTEMPT_STATUSES, ATTEMPT_TRANSITIONS } from '../../domain/attempt.ts';
import { ORDER_STATUSES, ORDER_TRANSITIONS } from '../../domain/order.ts';
import { REFUND_TRANSITIONS } from '../../domain/refund.ts';
import { constraintOf } from '../../store/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { moveAttempt, moveOrder, storeAttempt, storeOrder } from '../support/rows.ts';

const { database } = await createTestDatabase();

async function refusedBy(attempt: Promise<unknown>): Promise<string | undefined> {
  try {
    await attempt;
    return undefined;
  } catch (error) {
    const constraint = constraintOf(error);
    if (constraint === undefined) throw error;
    return constraint;
  }
}

async function readMoves(table: string): Promise<Record<string, string[]>> {
  const { rows } = await database.query<{ from_status: string; to_status: string }>(
    `select from_status, to_status from ${table} order by 1, 2`,
  );
  const moves: Record<string, string[]> = {};
  for (const { from_status, to_status } of rows) moves[from_status] = [...(moves[from_status] ?? []), to_status];
  return moves;
}

/** Without the ends, which have no row. */
function movesOf(table: Readonly<Record<string, readonly string[]>>): Record<string, string[]> {
  const starts = Object.entries(table).filter(([, ends]) => ends.length > 0);
  return Object.fromEntries(starts.map(([start, ends]) => [start, [...ends].sort()]));
}

test('the database holds the same moves of an order as domain/order.ts', async () => {
  expect(await readMoves('order_status_transitions')).toEqual(movesOf(ORDER_TRANSITIONS));
});

test('the database holds the same moves of an attempt as domain/attempt.ts', async () => {
  expect(await readMoves('attempt_status_transitions')).toEqual(movesOf(ATTEMPT_TRANSITIONS));
});

test('the database holds the same moves of a refund as domain/refund.ts', async () => {
  expect(await readMoves('refund_status_transitions')).toEqual(movesOf(REFUND_TRANSITIONS));
});

describe('an order moves only along the table', () => {
  for (const from of ORDER_STATUSES) {
    test(`from ${from}`, async () => {
      const allowed = [];
      for (const to of ORDER_STATUSES.filter((status) => status !== from)) {
        const orderId = await storeOrder(database, from);
        const constraint = await refusedBy(moveOrder(database, orderId, to));
        if (constraint === undefined) allowed.push(to);
        else expect([to, constraint]).toEqual([to, 'orders_transition_allowed']);
      }
      expect(allowed.sort()).toEqual([...ORDER_TRANSITIONS[from]].sort());
    });
  }
});

describe('an attempt moves only along the table', () => {
  for (const from of ATTEMPT_STATUSES) {
    test(`from ${from}`, async () => {
      const allowed = [];
      for (const to of ATTEMPT_STATUSES.filter((status) => status !== from)) {
        const orderId = await storeAttempt(database, from);
        const constraint = await refusedBy(moveAttempt(database, orderId, to));
        if (constraint === undefined) allowed.push(to);
        else expect([to, constraint]).toEqual([to, 'payment_attempts_transition_allowed']);
      }
      expect(allowed.sort()).toEqual([...ATTEMPT_TRANSITIONS[from]].sort());
    });
  }
});
