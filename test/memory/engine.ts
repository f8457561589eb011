import { type Answer, execute } from './execute.ts';
import { readSql } from './read-statements.ts';
import { readMigrations } from './schema.ts';
import type { Statement } from './syntax.ts';
import { type Journal, type Row, undo } from './tables.ts';

/**
 * The product's database in memory: the tables of the migrations, with their checks, keys and unique indexes, and the
 * product's own SQL run on them. It is held against Postgres by test/store/memory.test.ts.
 */
export interface Engine {
  run(sql: string, values: readonly unknown[], journal: Journal): Answer;
  /** Every row of a table, for those who judge. */
  rows(table: string): readonly Row[];
  /** Undoes what the journal holds. */
  undo(journal: Journal): void;
}

const statements = new Map<string, Statement>();

/** @param dropped names of constraints and guards that are not to be held */
export function createEngine(now: () => string, dropped: readonly string[] = []): Engine {
  const without = new Set(dropped);
  const { tables, inserts } = readMigrations();
  const engine: Engine = {
    run(sql, values, journal) {
      const statement = statements.get(sql) ?? readSql(sql);
      statements.set(sql, statement);
      const begun: Journal = [];
      try {
        return execute({ tables, named: new Map(), journal: begun, now, dropped: without }, statement, values);
      } catch (error) {
        undo(begun);
        throw error;
      } finally {
        journal.push(...begun);
      }
    },
    rows: (name) => [...(tables.get(name)?.rows.values() ?? [])],
    undo,
  };
  for (const sql of inserts) engine.run(sql, [], []);
  return engine;
}
