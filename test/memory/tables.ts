import type { Expression } from './syntax.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly notNull: boolean;
  readonly defaultsTo: Expression | null;
}

export interface Unique {
  readonly name: string;
  readonly columns: readonly string[];
  readonly where: Expression | null;
  readonly nullsEqual: boolean;
}

export interface ForeignKey {
  readonly name: string;
  readonly columns: readonly string[];
  readonly table: string;
  readonly targets: readonly string[];
}

export interface Check {
  readonly name: string;
  readonly holds: Expression;
}

/** A table as its migrations describe it. */
export interface TableShape {
  readonly name: string;
  readonly columns: Map<string, Column>;
  readonly uniques: Unique[];
  readonly foreignKeys: ForeignKey[];
  readonly checks: Check[];
}

/** What a statement has changed, so that a rollback can undo it. */
interface Change {
  readonly table: Table;
  readonly id: number;
  readonly before: Row | undefined;
}

export type Journal = Change[];

/** Rows of one table. A row is never changed in place, so whoever holds one keeps what it was. */
export interface Table {
  readonly shape: TableShape;
  readonly rows: Map<number, Row>;
  /** Row ids by value, for the columns that rows are looked up by. */
  readonly indexes: Map<string, Map<unknown, Set<number>>>;
}

/** Columns that statements look rows up by; a scan is right too, only slower. */
export function isIndexed(column: string): boolean {
  return column === 'id' || column.endsWith('_id') || column === 'reference';
}

export function createTable(shape: TableShape): Table {
  return { shape, rows: new Map(), indexes: new Map() };
}

let lastId = 0;

export function put(table: Table, id: number | null, row: Row | undefined): Change {
  const place = id ?? ++lastId;
  const before = table.rows.get(place);
  for (const [column, index] of table.indexes) {
    if (before !== undefined) index.get(before[column])?.delete(place);
    if (row !== undefined) entry(index, row[column]).add(place);
  }
  if (row === undefined) table.rows.delete(place);
  else table.rows.set(place, row);
  return { table, id: place, before };
}

export function undo(journal: Journal): void {
  for (const { table, id, before } of journal.reverse()) put(table, id, before);
  journal.length = 0;
}

/** The rows with this value, in the order in which they were written; all rows without a column. */
export function* rowsOf(table: Table, column?: string, value?: unknown): Generator<readonly [number, Row]> {
  if (column === undefined) {
    yield* [...table.rows];
    return;
  }
  for (const id of [...(indexOf(table, column).get(value) ?? [])].sort((left, right) => left - right)) {
    const row = table.rows.get(id);
    if (row !== undefined) yield [id, row];
  }
}

function indexOf(table: Table, column: string): Map<unknown, Set<number>> {
  const known = table.indexes.get(column);
  if (known !== undefined) return known;
  const index = new Map<unknown, Set<number>>();
  for (const [id, row] of table.rows) entry(index, row[column]).add(id);
  table.indexes.set(column, index);
  return index;
}

function entry(index: Map<unknown, Set<number>>, value: unknown): Set<number> {
  const known = index.get(value) ?? new Set<number>();
  index.set(value, known);
  return known;
}
