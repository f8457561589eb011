import type { Database, QueryAnswer, Queryable } from '../../store/queryable.ts';
import type { Engine } from '../memory/engine.ts';
import type { Journal } from '../memory/tables.ts';
import { after, between, chance, now, pause, type SimulatedProcess, seam } from './runtime/virtual.ts';

/** How often something goes wrong with a statement or a commit. */
export interface DatabaseFaults {
  /** The connection is lost before the statement arrives. */
  readonly lostBefore: number;
  /** The statement, or the commit, took hold, and its answer is lost. */
  readonly lostAfter: number;
  /** The server undoes the transaction for the sake of another. */
  readonly conflict: number;
  readonly slow: number;
}

/** The one database server, which all simulated processes share. */
export interface SharedDatabase {
  readonly engine: Engine;
  faults: DatabaseFaults;
  awayUntil: number;
  /** Who has a transaction open; others wait. */
  holder: Transaction | null;
  readonly waiting: (() => void)[];
  /** Told after each change that has become true. */
  readonly onCommit: () => void;
}

interface Transaction {
  readonly process: SimulatedProcess;
  readonly journal: Journal;
  over: boolean;
}

/** After so long the server ends a transaction whose process stands still. */
const IDLE_IN_TRANSACTION_MS = 10_000;
const WORDS = ['begin', 'commit', 'rollback'];

export const QUIET: DatabaseFaults = { lostBefore: 0, lostAfter: 0, conflict: 0, slow: 0 };

/** The process died: what it had not committed is gone. */
export function dropTransactions(shared: SharedDatabase, process: SimulatedProcess): void {
  if (shared.holder?.process === process) end(shared, shared.holder, 'undo');
}

/** A connection pool of one process. */
export function connect(shared: SharedDatabase, process: SimulatedProcess): Database {
  return {
    query: (text, values) => alone(shared, process, { text, values: values ?? [] }) as never,
    withConnection: (work) => withTransaction(shared, process, work),
    connections: () => ({ open: 0, busy: 0, waiting: 0 }),
    close: () => Promise.resolve(),
  };
}

interface Sent {
  readonly text: string;
  readonly values: readonly unknown[];
}

function lost(): Error {
  return Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
}

async function travel(shared: SharedDatabase, process: SimulatedProcess): Promise<void> {
  await seam(process, 'statement');
  const { faults } = shared;
  await pause(faults.slow > 0 && chance(faults.slow) ? between(5, 3_000) : between(0, 3));
  await seam(process, 'statement_arrives');
  if (now() < shared.awayUntil || (faults.lostBefore > 0 && chance(faults.lostBefore))) throw lost();
}

async function alone(shared: SharedDatabase, process: SimulatedProcess, sent: Sent): Promise<QueryAnswer<object>> {
  await travel(shared, process);
  while (shared.holder !== null) {
    await new Promise<void>((resolve) => shared.waiting.push(resolve));
    await seam(process, 'statement_waited');
  }
  const answer = shared.engine.run(sent.text, sent.values, []);
  shared.onCommit();
  await seam(process, 'statement_done');
  if (shared.faults.lostAfter > 0 && chance(shared.faults.lostAfter)) throw lost();
  return answer;
}

async function withTransaction<Result>(
  shared: SharedDatabase,
  process: SimulatedProcess,
  work: (connection: Queryable) => Promise<Result>,
): Promise<Result> {
  let transaction: Transaction | null = null;
  const query = async (text: string, values: readonly unknown[] = []): Promise<QueryAnswer<object>> => {
    await travel(shared, process).catch((error: unknown) => {
      if (transaction !== null) end(shared, transaction, 'undo');
      throw error;
    });
    if (text === 'begin') {
      transaction = await begin(shared, process);
      return { rows: [], rowCount: null, command: 'BEGIN' };
    }
    if (transaction === null) return alone(shared, process, { text, values });
    if (transaction.over) throw lost();
    if (WORDS.includes(text)) return finish(shared, transaction, text);
    return shared.engine.run(text, values, transaction.journal);
  };
  try {
    return await work({ query: query as Queryable['query'] });
  } finally {
    if (transaction !== null) end(shared, transaction, 'undo');
  }
}

async function begin(shared: SharedDatabase, process: SimulatedProcess): Promise<Transaction> {
  while (shared.holder !== null) {
    await new Promise<void>((resolve) => shared.waiting.push(resolve));
    await seam(process, 'begin_waited');
  }
  const transaction: Transaction = { process, journal: [], over: false };
  shared.holder = transaction;
  after(IDLE_IN_TRANSACTION_MS, () => end(shared, transaction, 'undo'));
  return transaction;
}

async function finish(shared: SharedDatabase, transaction: Transaction, text: string): Promise<QueryAnswer<object>> {
  const { faults } = shared;
  if (text === 'rollback') {
    end(shared, transaction, 'undo');
    return { rows: [], rowCount: null, command: 'ROLLBACK' };
  }
  if (faults.conflict > 0 && chance(faults.conflict)) {
    end(shared, transaction, 'undo');
    throw Object.assign(new Error('could not serialize access'), { severity: 'ERROR', code: '40001' });
  }
  end(shared, transaction, 'keep');
  await seam(transaction.process, 'committed');
  if (faults.lostAfter > 0 && chance(faults.lostAfter)) throw lost();
  return { rows: [], rowCount: null, command: 'COMMIT' };
}

function end(shared: SharedDatabase, transaction: Transaction, how: 'keep' | 'undo'): void {
  if (transaction.over) return;
  transaction.over = true;
  if (how === 'undo') shared.engine.undo(transaction.journal);
  if (shared.holder === transaction) shared.holder = null;
  if (how === 'keep') shared.onCommit();
  for (const go of shared.waiting.splice(0)) go();
}
