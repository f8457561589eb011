import { type Database, inTransaction, type Queryable } from '../../../store/database.ts';

/** By the constraint that must refuse it, and then by what is wrong about it: something that must not be written. */
export type Refusals = Readonly<Record<string, Readonly<Record<string, () => Promise<unknown>>>>>;

/** Tries something with triggers and foreign keys off, to see the CHECK that stands behind a trigger. Needs a superuser. */
export function unguarded(database: Database, work: (transaction: Queryable) => Promise<unknown>): Promise<unknown> {
  return inTransaction(database, async (transaction) => {
    await transaction.query('set local session_replication_role = replica');
    return work(transaction);
  });
}
