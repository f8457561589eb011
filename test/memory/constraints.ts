import { evaluate, type Scope } from './evaluate.ts';
import type { Run } from './run.ts';
import { isIndexed, type Row, rowsOf, type Table, type Unique } from './tables.ts';
import { compare } from './values.ts';

const NOT_NULL = '23502';
const FOREIGN_KEY = '23503';
const UNIQUE = '23505';
export const CHECK = '23514';

/** An error as the driver raises it for a row that the server refuses. */
export function refusal(code: string, constraint: string, message: string): Error {
  return Object.assign(new Error(message), { severity: 'ERROR', code, constraint });
}

interface Arriving {
  /** Null for a row that is new. */
  readonly id: number | null;
  readonly row: Row;
}

/** @throws Error as the server's, naming the constraint that the row breaks */
export function constrain(run: Run, table: Table, { id, row }: Arriving): void {
  const { shape } = table;
  for (const { name, notNull } of shape.columns.values()) {
    if (notNull && row[name] === null) throw refusal(NOT_NULL, name, `null in column ${name} of ${shape.name}`);
  }
  const scope = scopeOf(row, shape.name, run.now);
  for (const { name, holds } of shape.checks) {
    if (!run.dropped.has(name) && evaluate(holds, scope) === false)
      throw refusal(CHECK, name, `a row of ${shape.name} breaks ${name}`);
  }
  for (const unique of shape.uniques) {
    const rival = rivalOf(table, unique, row);
    if (rival !== undefined && rival[0] !== id && !run.dropped.has(unique.name))
      throw refusal(UNIQUE, unique.name, `duplicate key breaks ${unique.name}`);
  }
  for (const { name, columns, table: other, targets } of shape.foreignKeys) {
    const values = columns.map((column) => row[column]);
    if (values.includes(null)) continue;
    if (!isThere(run.tables.get(other), targets, values)) throw refusal(FOREIGN_KEY, name, `${name} points at nothing`);
  }
}

/** The row that a new one would collide with. */
export function conflictWith(
  table: Table,
  row: Row,
  target: readonly string[] | null,
): readonly [number, Row] | undefined {
  for (const unique of table.shape.uniques) {
    if (target !== null && [...unique.columns].sort().join() !== [...target].sort().join()) continue;
    const rival = rivalOf(table, unique, row);
    if (rival !== undefined) return rival;
  }
  return undefined;
}

function rivalOf(table: Table, { columns, where, nullsEqual }: Unique, row: Row): readonly [number, Row] | undefined {
  const { name } = table.shape;
  if (!nullsEqual && columns.some((column) => row[column] === null)) return undefined;
  const counts = (other: Row): boolean => where === null || evaluate(where, scopeOf(other, name)) === true;
  if (!counts(row)) return undefined;
  const key = columns.find(isIndexed);
  for (const found of rowsOf(table, key, key === undefined ? undefined : row[key])) {
    const other = found[1];
    if (columns.every((column) => isSame(other[column], row[column])) && counts(other)) return found;
  }
  return undefined;
}

function isSame(left: unknown, right: unknown): boolean {
  return left === right || (left !== null && right !== null && compare(left, right) === 0);
}

function isThere(table: Table | undefined, columns: readonly string[], values: readonly unknown[]): boolean {
  if (table === undefined) return false;
  const key = columns.findIndex(isIndexed);
  for (const [, row] of rowsOf(table, columns[key], values[key])) {
    if (columns.every((column, index) => isSame(row[column], values[index]))) return true;
  }
  return false;
}

function scopeOf(row: Row, alias: string, now: () => string = () => ''): Scope {
  return {
    rows: { [alias]: row },
    outer: null,
    parameters: [],
    group: null,
    now,
    run: () => {
      throw new Error('A constraint asks no query');
    },
  };
}
