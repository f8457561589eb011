import { setTimeout as pause } from 'node:timers/promises';
import { reach } from '../process/points.ts';
import type { Database, Queryable } from './queryable.ts';
import { isTransactionConflict } from './sql-states.ts';

const TRIES_MAX = 6;
const RETRY_PAUSE_MS = 10;

/**
 * Runs `work` in one transaction: committed when it resolves, rolled back when it throws. When Postgres undoes the
 * transaction for the sake of another (serialization failure, deadlock), the whole of `work` is done again, a bounded
 * number of times. Therefore `work` may do nothing but send statements: a call to a gateway inside it would be repeated
 * too and charge twice (case C27). A connection lost during the commit leaves open whether it took hold, and is not
 * repeated here; callers must recognise their own commit when they try again.
 */
export async function inTransaction<Result>(
  database: Database,
  work: (transaction: Queryable) => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await database.withConnection((connection) => commitAfter(connection, work));
    } catch (error) {
      if (!isTransactionConflict(error) || tries >= TRIES_MAX) throw error;
      await pause(RETRY_PAUSE_MS * 2 ** tries * Math.random());
    }
  }
}

async function commitAfter<Result>(
  connection: Queryable,
  work: (transaction: Queryable) => Promise<Result>,
): Promise<Result> {
  await connection.query('begin');
  let result: Result;
  try {
    result = await work(connection);
    await reach('commit_due');
  } catch (error) {
    // Should this fail, the connection is gone and the server rolls back by itself; the first error is the one to tell.
    await connection.query('rollback').catch(() => undefined);
    throw error;
  }
  const { command } = await connection.query('commit');
  // Postgres answers the commit of a failed transaction with a rollback and no error, so a caught error would pass as success.
  if (command !== 'COMMIT')
    throw new Error('A statement of this transaction failed and was ignored; nothing was committed');
  await reach('committed');
  return result;
}
