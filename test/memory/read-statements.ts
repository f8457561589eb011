import { readExpression, readList } from './read-expressions.ts';
import type { Assignment, Cte, Delete, Expression, From, Insert, Output, Select, Statement, Update } from './syntax.ts';
import { createReader, type Reader, tokensOf } from './tokens.ts';

/** For the parts of a table's definition, which are expressions too. */
export function readerOf(sql: string): Reader {
  return createReader(tokensOf(sql), (reader) => readSelect(reader));
}

/** Reads one statement. @throws Error for SQL that no statement of this project uses yet */
export function readSql(sql: string): Statement {
  const reader = readerOf(sql);
  const statement = readStatement(reader);
  reader.take(';');
  if (reader.peek().kind !== 'end') reader.fail('the end');
  return statement;
}

function readStatement(reader: Reader): Statement {
  const ctes = readCtes(reader);
  if (reader.is('insert')) return readInsert(reader, ctes);
  if (reader.is('update')) return readUpdate(reader, ctes);
  if (reader.is('delete')) return readDelete(reader, ctes);
  return readSelect(reader, ctes);
}

function readCtes(reader: Reader): Cte[] {
  const ctes: Cte[] = [];
  if (!reader.take('with')) return ctes;
  do {
    const name = reader.name();
    reader.expect('as');
    reader.takeWords('materialized');
    reader.expect('(');
    ctes.push({ name, statement: readStatement(reader) });
    reader.expect(')');
  } while (reader.take(','));
  return ctes;
}

function readSelect(reader: Reader, given?: readonly Cte[]): Select {
  const ctes = given ?? readCtes(reader);
  reader.expect('select');
  const distinct = reader.take('distinct');
  const outputs = readOutputs(reader);
  const from = reader.take('from') ? readFrom(reader) : [];
  const where = reader.take('where') ? readExpression(reader) : null;
  const group = reader.takeWords('group', 'by') ? readList(reader) : [];
  const having = reader.take('having') ? readExpression(reader) : null;
  const union = reader.takeWords('union', 'all') ? readSelect(reader, []) : null;
  const order = reader.takeWords('order', 'by') ? readOrder(reader) : [];
  const limit = reader.take('limit') ? readExpression(reader) : null;
  readLocks(reader);
  return { t: 'select', ctes, distinct, outputs, from, where, group, having, order, limit, union };
}

/** Transactions run one after the other here, so a lock has nothing to wait for. */
function readLocks(reader: Reader): void {
  while (reader.take('for')) {
    if (!reader.takeWords('no', 'key', 'update') && !reader.take('update')) reader.expect('share');
    if (reader.take('of'))
      do reader.name();
      while (reader.take(','));
    if (!reader.takeWords('skip', 'locked')) reader.take('nowait');
  }
}

const AFTER_OUTPUTS = ['from', 'where', ')', ';', 'order', 'limit', 'group', 'union', 'on', 'for'];

function readOutputs(reader: Reader): Output[] {
  const outputs: Output[] = [];
  if (reader.peek().kind === 'end' || AFTER_OUTPUTS.some((text) => reader.is(text))) return outputs;
  do outputs.push(readOutput(reader));
  while (reader.take(','));
  return outputs;
}

function readOutput(reader: Reader): Output {
  if (reader.take('*')) return { expression: null, table: null, name: '*' };
  if (reader.is('.', 1) && reader.is('*', 2)) {
    const table = reader.name();
    reader.next();
    reader.next();
    return { expression: null, table, name: '*' };
  }
  const expression = readExpression(reader);
  return { expression, table: null, name: reader.take('as') ? reader.name() : nameOf(expression) };
}

function nameOf(expression: Expression): string {
  switch (expression.t) {
    case 'column':
    case 'call':
      return expression.name;
    case 'cast':
      return nameOf(expression.value);
    case 'exists':
      return 'exists';
    default:
      return '?column?';
  }
}

const NO_ALIAS = [
  'where',
  'on',
  'join',
  'left',
  'inner',
  'cross',
  'group',
  'order',
  'limit',
  'for',
  'set',
  'union',
  'returning',
  'using',
  'having',
  'values',
  'select',
];

function readAlias(reader: Reader, fallback: string): string {
  if (reader.take('as')) return reader.name();
  return reader.peek().kind === 'word' && !NO_ALIAS.includes(reader.peek().text) ? reader.name() : fallback;
}

function readFrom(reader: Reader): From[] {
  const items = [readSource(reader, 'inner')];
  for (;;) {
    if (reader.take(',') || reader.takeWords('cross', 'join')) items.push(readSource(reader, 'inner'));
    else if (reader.takeWords('left', 'join') || reader.takeWords('left', 'outer', 'join'))
      items.push(readJoined(reader, 'left'));
    else if (reader.take('join') || reader.takeWords('inner', 'join')) items.push(readJoined(reader, 'inner'));
    else return items;
  }
}

function readJoined(reader: Reader, join: From['join']): From {
  const source = readSource(reader, join);
  reader.expect('on');
  return { ...source, on: readExpression(reader) };
}

function readSource(reader: Reader, join: From['join']): From {
  reader.take('lateral');
  if (reader.take('(')) {
    const select = reader.take('values') ? selectOf(readRows(reader)) : readSelect(reader);
    reader.expect(')');
    const alias = readAlias(reader, '');
    return { source: reader.is('(') ? renamed(select, readNames(reader)) : select, alias, join, on: null };
  }
  const name = reader.name();
  return { source: name, alias: readAlias(reader, name), join, on: null };
}

/** A list of rows is as many queries without a table. */
function selectOf([row = [], ...rest]: readonly (readonly Expression[])[]): Select {
  const outputs = row.map((expression, index) => ({ expression, table: null, name: `column${index + 1}` }));
  const union = rest.length === 0 ? null : selectOf(rest);
  const plain = { ctes: [], distinct: false, from: [], where: null, group: [], having: null, order: [], limit: null };
  return { t: 'select', outputs, union, ...plain };
}

function renamed(select: Select, names: readonly string[]): Select {
  const outputs = select.outputs.map((output, index) => ({ ...output, name: names[index] ?? output.name }));
  return { ...select, outputs, union: select.union === null ? null : renamed(select.union, names) };
}

function readOrder(reader: Reader): { by: Expression; down: boolean }[] {
  const order = [];
  do {
    const by = readExpression(reader);
    const down = reader.take('desc');
    if (!down) reader.take('asc');
    if (reader.take('nulls')) reader.next();
    order.push({ by, down });
  } while (reader.take(','));
  return order;
}

function readNames(reader: Reader): string[] {
  reader.expect('(');
  const names = [reader.name()];
  while (reader.take(',')) names.push(reader.name());
  reader.expect(')');
  return names;
}

function readInsert(reader: Reader, ctes: readonly Cte[]): Insert {
  reader.expect('insert');
  reader.expect('into');
  const table = reader.name();
  const alias = readAlias(reader, table);
  const columns = reader.is('(') ? readNames(reader) : [];
  const source = reader.take('values') ? readRows(reader) : readSelect(reader);
  const conflict = reader.takeWords('on', 'conflict') ? readConflict(reader) : null;
  return { t: 'insert', ctes, table, alias, columns, source, conflict, returning: readReturning(reader) };
}

function readRows(reader: Reader): Expression[][] {
  const rows = [];
  do {
    reader.expect('(');
    rows.push(readList(reader));
    reader.expect(')');
  } while (reader.take(','));
  return rows;
}

function readConflict(reader: Reader): NonNullable<Insert['conflict']> {
  let target: string[] | null = null;
  if (reader.is('(')) {
    target = readNames(reader);
    if (reader.take('where')) readExpression(reader);
  } else if (reader.takeWords('on', 'constraint')) reader.name();
  reader.expect('do');
  if (reader.take('nothing')) return { target, sets: null, where: null };
  reader.expect('update');
  reader.expect('set');
  const sets = readAssignments(reader);
  return { target, sets, where: reader.take('where') ? readExpression(reader) : null };
}

function readAssignments(reader: Reader): Assignment[] {
  const sets: Assignment[] = [];
  do {
    const columns = reader.is('(') ? readNames(reader) : [reader.name()];
    reader.expect('=');
    sets.push({ columns, value: readExpression(reader) });
  } while (reader.take(','));
  return sets;
}

function readReturning(reader: Reader): Output[] {
  return reader.take('returning') ? readOutputs(reader) : [];
}

function readUpdate(reader: Reader, ctes: readonly Cte[]): Update {
  reader.expect('update');
  const table = reader.name();
  const alias = readAlias(reader, table);
  reader.expect('set');
  const sets = readAssignments(reader);
  const from = reader.take('from') ? readFrom(reader) : [];
  const where = reader.take('where') ? readExpression(reader) : null;
  return { t: 'update', ctes, table, alias, sets, from, where, returning: readReturning(reader) };
}

function readDelete(reader: Reader, ctes: readonly Cte[]): Delete {
  reader.expect('delete');
  reader.expect('from');
  const table = reader.name();
  const alias = readAlias(reader, table);
  const from = reader.take('using') ? readFrom(reader) : [];
  const where = reader.take('where') ? readExpression(reader) : null;
  return { t: 'delete', ctes, table, alias, from, where, returning: readReturning(reader) };
}
