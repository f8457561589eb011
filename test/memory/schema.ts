import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isKnown } from './evaluate.ts';
import { readExpression, readType } from './read-expressions.ts';
import { readerOf } from './read-statements.ts';
import type { Expression } from './syntax.ts';
import { type Column, createTable, type Table, type TableShape } from './tables.ts';
import type { Reader } from './tokens.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'migrations');

/** The tables that the migrations make, and the rows that they put there. Functions and triggers are passed over. */
export function readMigrations(): { readonly tables: ReadonlyMap<string, Table>; readonly inserts: readonly string[] } {
  const shapes = new Map<string, TableShape>();
  const inserts: string[] = [];
  const files = readdirSync(FOLDER).filter((name) => /^\d{4}-.*\.sql$/.test(name));
  for (const file of files.sort()) {
    for (const sql of statementsOf(readFileSync(join(FOLDER, file), 'utf8'))) define(shapes, inserts, sql);
  }
  return { tables: new Map([...shapes].map(([name, shape]) => [name, createTable(held(shape))])), inserts };
}

/** Without the checks that call what is not known here: they are Postgres' to hold, and the refusal tests' to show. */
function held(shape: TableShape): TableShape {
  return { ...shape, checks: shape.checks.filter(({ holds }) => isKnown(holds)) };
}

/** Cuts at semicolons, but for those in quotes, in comments and in the bodies of functions. */
function statementsOf(text: string): string[] {
  const pieces = text.split(/(\$\w*\$|'(?:[^']|'')*'|--[^\n]*|;)/);
  const statements: string[] = [];
  let current = '';
  let body: string | null = null;
  for (const piece of pieces) {
    if (/^\$\w*\$$/.test(piece)) body = body === null ? piece : body === piece ? null : body;
    if (piece === ';' && body === null) {
      statements.push(current);
      current = '';
    } else current += piece.startsWith('--') && body === null ? '' : piece;
  }
  return [...statements, current].map((sql) => sql.trim()).filter((sql) => sql !== '');
}

function define(shapes: Map<string, TableShape>, inserts: string[], sql: string): void {
  if (/^insert\s/i.test(sql)) inserts.push(sql);
  else if (/^create\s+(unlogged\s+)?table\s/i.test(sql)) createTableFrom(shapes, sql);
  else if (/^create\s+unique\s+index\s/i.test(sql)) createUniqueIndex(shapes, sql);
  else if (/^alter\s+table\s/i.test(sql)) alterTable(shapes, sql);
}

function shapeOf(shapes: Map<string, TableShape>, name: string): TableShape {
  const shape = shapes.get(name) ?? { name, columns: new Map(), uniques: [], foreignKeys: [], checks: [] };
  shapes.set(name, shape);
  return shape;
}

function createTableFrom(shapes: Map<string, TableShape>, sql: string): void {
  const reader = readerOf(sql);
  while (!reader.take('table')) reader.next();
  reader.takeWords('if', 'not', 'exists');
  const shape = shapeOf(shapes, reader.name());
  reader.expect('(');
  do readDefinition(reader, shape);
  while (reader.take(','));
}

function createUniqueIndex(shapes: Map<string, TableShape>, sql: string): void {
  const reader = readerOf(sql);
  while (!reader.take('index')) reader.next();
  const name = reader.name();
  reader.expect('on');
  const shape = shapeOf(shapes, reader.name());
  if (reader.take('using')) reader.name();
  const columns = readColumns(reader);
  const nullsEqual = reader.takeWords('nulls', 'not', 'distinct');
  const where = reader.take('where') ? readExpression(reader) : null;
  if (columns !== null) shape.uniques.push({ name, columns, where, nullsEqual });
}

/** Null where a column is an expression: such an index is not kept here. */
function readColumns(reader: Reader): string[] | null {
  reader.expect('(');
  const columns: string[] = [];
  let isPlain = true;
  do {
    const expression = readExpression(reader);
    if (expression.t === 'column') columns.push(expression.name);
    else isPlain = false;
    reader.take('desc');
  } while (reader.take(','));
  reader.expect(')');
  return isPlain ? columns : null;
}

function alterTable(shapes: Map<string, TableShape>, sql: string): void {
  const reader = readerOf(sql);
  reader.takeWords('alter', 'table');
  const shape = shapeOf(shapes, reader.name());
  do {
    if (reader.takeWords('drop', 'constraint')) {
      reader.takeWords('if', 'exists');
      dropConstraint(shape, reader.name());
    } else if (reader.take('add')) {
      reader.take('column');
      readDefinition(reader, shape);
    } else return;
  } while (reader.take(','));
}

function dropConstraint({ checks, uniques, foreignKeys }: TableShape, name: string): void {
  for (const list of [checks, uniques, foreignKeys] as { name: string }[][]) {
    const index = list.findIndex((constraint) => constraint.name === name);
    if (index >= 0) list.splice(index, 1);
  }
}

function readDefinition(reader: Reader, shape: TableShape): void {
  let name = '';
  if (reader.take('constraint')) name = reader.name();
  if (readTableConstraint(reader, shape, name)) return;
  readColumn(reader, shape);
}

function readTableConstraint(reader: Reader, shape: TableShape, name: string): boolean {
  if (reader.takeWords('primary', 'key')) {
    const columns = readColumns(reader) ?? [];
    shape.uniques.push({ name: name || `${shape.name}_pkey`, columns, where: null, nullsEqual: false });
  } else if (reader.take('unique')) {
    const nullsEqual = reader.takeWords('nulls', 'not', 'distinct');
    const columns = readColumns(reader) ?? [];
    shape.uniques.push({ name, columns, where: null, nullsEqual });
  } else if (reader.take('check')) shape.checks.push({ name, holds: readInParentheses(reader) });
  else if (reader.takeWords('foreign', 'key')) {
    const columns = readColumns(reader) ?? [];
    reader.expect('references');
    readReference(reader, shape, { name, columns });
  } else return false;
  return true;
}

function readInParentheses(reader: Reader): Expression {
  reader.expect('(');
  const expression = readExpression(reader);
  reader.expect(')');
  return expression;
}

function readReference(reader: Reader, shape: TableShape, key: { name: string; columns: readonly string[] }): void {
  const table = reader.name();
  const targets = reader.is('(') ? (readColumns(reader) ?? []) : ['id'];
  shape.foreignKeys.push({ ...key, table, targets });
  if (reader.takeWords('deferrable')) reader.takeWords('initially', 'deferred');
}

function readColumn(reader: Reader, shape: TableShape): void {
  const name = reader.name();
  const type = readType(reader);
  let column: Column = { name, type, notNull: false, defaultsTo: null };
  let constraint = '';
  for (;;) {
    if (reader.takeWords('not', 'null')) column = { ...column, notNull: true };
    else if (reader.take('default')) column = { ...column, defaultsTo: readExpression(reader) };
    else if (reader.take('constraint')) constraint = reader.name();
    else if (reader.takeWords('primary', 'key')) {
      shape.uniques.push({ name: `${shape.name}_pkey`, columns: [name], where: null, nullsEqual: false });
      column = { ...column, notNull: true };
    } else if (reader.take('unique')) {
      shape.uniques.push({ name: constraint, columns: [name], where: null, nullsEqual: false });
    } else if (reader.take('check')) shape.checks.push({ name: constraint, holds: readInParentheses(reader) });
    else if (reader.take('references')) readReference(reader, shape, { name: constraint, columns: [name] });
    else if (reader.takeWords('generated')) skipGenerated(reader);
    else break;
  }
  shape.columns.set(name, column);
}

function skipGenerated(reader: Reader): void {
  while (!reader.is(',') && !reader.is(')')) {
    if (reader.take('(')) while (!reader.take(')')) reader.next();
    else reader.next();
  }
}
