import type { Journal, Row, Table } from './tables.ts';

/** What a statement works on. */
export interface Run {
  readonly tables: ReadonlyMap<string, Table>;
  /** The rows of the statement's own WITH queries, by name. */
  readonly named: ReadonlyMap<string, readonly Row[]>;
  readonly journal: Journal;
  readonly now: () => string;
  /** Constraints and guards that are not held, for those who want to see what happens then. */
  readonly dropped: ReadonlySet<string>;
}
