import type { Money } from '../../domain/money.ts';
import type { Queryable } from '../database.ts';

/** Where money can be, from the shop's point of view. The database knows no other. */
export type JournalAccount = 'gateway' | 'sales' | 'refunds' | 'over_payments' | 'disputes_open' | 'disputes_lost';

export interface Movement {
  /** What moved, such as `refund:{id}:succeeded`. Written a second time it is refused: money moves once. */
  readonly movement: string;
  readonly orderId: string;
  readonly amount: Money;
  readonly from: JournalAccount;
  readonly to: JournalAccount;
  /** ISO time. */
  readonly now: string;
}

/** Writes both lines of a movement, in the transaction that makes it true. */
export async function insertMovement(transaction: Queryable, movement: Movement): Promise<void> {
  await transaction.query(
    `insert into journal_lines (movement, account, order_id, amount_minor_units, currency, recorded_at)
     values ($1, $2, $4, -$5::bigint, $6, $7), ($1, $3, $4, $5, $6, $7)`,
    [
      movement.movement,
      movement.from,
      movement.to,
      movement.orderId,
      movement.amount.minorUnits,
      movement.amount.currency,
      movement.now,
    ],
  );
}

/**
 * Writes down what was taken from the customer for an order, once in its life, in the transaction that makes it paid.
 * Less than the order's amount where only a part was captured; this is what refunds are counted against.
 */
export async function recordCapture(
  transaction: Queryable,
  capture: { readonly orderId: string; readonly amount: Money; readonly now: string },
): Promise<void> {
  const { orderId, amount, now } = capture;
  await transaction.query('update orders set captured_minor_units = $2 where id = $1 and captured_minor_units = 0', [
    orderId,
    amount.minorUnits,
  ]);
  await insertMovement(transaction, {
    movement: `charge:${orderId}`,
    orderId,
    amount,
    from: 'sales',
    to: 'gateway',
    now,
  });
}
