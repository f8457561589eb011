import { conflictWith, constrain } from './constraints.ts';
import { evaluate, type Scope } from './evaluate.ts';
import type { Run } from './run.ts';
import { runByPosition, runSelect, scopesOf } from './select.ts';
import type { Assignment, Delete, Insert, Output, Select, Statement, Update } from './syntax.ts';
import { put, type Row, type Table } from './tables.ts';
import { fireTriggers } from './triggers.ts';
import { toType } from './values.ts';

export interface Answer {
  readonly rows: Row[];
  readonly rowCount: number;
  readonly command: string;
}

/** Carries out one statement. Its WITH queries run one after the other, and the next one sees what the one before has done. */
export function execute(run: Run, statement: Statement, parameters: readonly unknown[]): Answer {
  let inner = run;
  for (const { name, statement: part } of statement.ctes) {
    const { rows } = execute(inner, part, parameters);
    inner = { ...inner, named: new Map([...inner.named, [name, rows]]) };
  }
  const scope = topScope(inner, parameters);
  switch (statement.t) {
    case 'select': {
      const rows = runSelect(inner, statement, scope);
      return { rows, rowCount: rows.length, command: 'SELECT' };
    }
    case 'insert':
      return { ...insert(inner, statement, scope), command: 'INSERT' };
    case 'update':
      return { ...update(inner, statement, scope), command: 'UPDATE' };
    case 'delete':
      return { ...remove(inner, statement, scope), command: 'DELETE' };
  }
}

function topScope(run: Run, parameters: readonly unknown[]): Scope {
  const scope: Scope = {
    rows: {},
    outer: null,
    parameters,
    group: null,
    now: run.now,
    run: (select: Select, within: Scope) => runSelect(run, select, within),
  };
  return scope;
}

function tableOf({ tables }: Pick<Run, 'tables'>, name: string): Table {
  const table = tables.get(name);
  if (table === undefined) throw new Error(`The in-memory database has no table ${name}`);
  return table;
}

type Effect = Omit<Answer, 'command'>;

function insert(run: Run, statement: Insert, scope: Scope): Effect {
  const table = tableOf(run, statement.table);
  const columns = statement.columns.length > 0 ? statement.columns : [...table.shape.columns.keys()];
  const sources =
    't' in statement.source
      ? runByPosition(run, statement.source, scope).map((row) => Object.values(row))
      : statement.source.map((values) => values.map((value) => evaluate(value, scope)));
  const written: Row[] = [];
  for (const source of sources) {
    const row = insertOne(run, table, { statement, columns, source, scope });
    if (row !== undefined) written.push(row);
  }
  return finish(statement, written, scope);
}

interface Arrival {
  readonly statement: Insert;
  readonly columns: readonly string[];
  readonly source: readonly unknown[];
  readonly scope: Scope;
}

function insertOne(run: Run, table: Table, { statement, columns, source, scope }: Arrival): Row | undefined {
  const given = new Map(columns.map((column, index) => [column, source[index] ?? null]));
  const whole: Record<string, unknown> = {};
  for (const [name, { type, defaultsTo }] of table.shape.columns) {
    const value = given.has(name) ? given.get(name) : defaultsTo === null ? null : evaluate(defaultsTo, scope);
    whole[name] = toType(type, value);
  }
  const row = fireTriggers(run, table, { before: undefined, after: whole });
  const rival = statement.conflict === null ? undefined : conflictWith(table, row, statement.conflict.target);
  if (rival === undefined) return write(run, table, { id: null, row });
  const { sets, where } = statement.conflict ?? { sets: null, where: null };
  if (sets === null) return undefined;
  const [id, before] = rival;
  const within = { ...scope, rows: { [statement.alias]: before, excluded: row } };
  if (where !== null && evaluate(where, within) !== true) return undefined;
  return write(run, table, { id, row: assigned(run, table, { before, sets, within }) });
}

function update(run: Run, statement: Update, scope: Scope): Effect {
  const table = tableOf(run, statement.table);
  const target = { source: statement.table, alias: statement.alias, join: 'inner', on: null } as const;
  const found = scopesOf(run, { from: [target, ...statement.from], where: statement.where }, scope);
  const done = new Set<number>();
  const changed: Scope[] = [];
  for (const within of found) {
    const before = within.rows[statement.alias];
    const id = before === undefined ? undefined : idOf(table, before);
    if (id === undefined || before === undefined || done.has(id)) continue;
    done.add(id);
    const row = write(run, table, { id, row: assigned(run, table, { before, sets: statement.sets, within }) });
    changed.push({ ...within, rows: { ...within.rows, [statement.alias]: row } });
  }
  return {
    rowCount: changed.length,
    rows: statement.returning.length === 0 ? [] : changed.map((within) => outputOf(statement.returning, within)),
  };
}

function assigned(
  run: Run,
  table: Table,
  { before, sets, within }: { before: Row; sets: readonly Assignment[]; within: Scope },
): Row {
  const after: Record<string, unknown> = { ...before };
  for (const { columns, value } of sets) {
    const found = evaluate(value, within);
    const values = columns.length === 1 ? [found] : (found as readonly unknown[]);
    for (const [index, column] of columns.entries()) {
      const shape = table.shape.columns.get(column);
      if (shape === undefined) throw new Error(`The in-memory table ${table.shape.name} has no column ${column}`);
      after[column] = toType(shape.type, values[index] ?? null);
    }
  }
  return fireTriggers(run, table, { before, after });
}

function remove(run: Run, statement: Delete, scope: Scope): Effect {
  const table = tableOf(run, statement.table);
  const target = { source: statement.table, alias: statement.alias, join: 'inner', on: null } as const;
  const found = scopesOf(run, { from: [target, ...statement.from], where: statement.where }, scope);
  for (const within of found) {
    const row = within.rows[statement.alias];
    const id = row === undefined ? undefined : idOf(table, row);
    if (id !== undefined) run.journal.push(put(table, id, undefined));
  }
  return {
    rowCount: found.length,
    rows: statement.returning.length === 0 ? [] : found.map((within) => outputOf(statement.returning, within)),
  };
}

function idOf(table: Table, wanted: Row): number | undefined {
  const key = table.shape.columns.has('id') ? 'id' : table.shape.columns.has('order_id') ? 'order_id' : undefined;
  const index = key === undefined ? undefined : table.indexes.get(key)?.get(wanted[key]);
  for (const id of index ?? table.rows.keys()) if (table.rows.get(id) === wanted) return id;
  return undefined;
}

function write(run: Run, table: Table, { id, row }: { id: number | null; row: Row }): Row {
  constrain(run, table, { id, row });
  run.journal.push(put(table, id, row));
  return row;
}

function finish({ returning, alias }: Insert, written: readonly Row[], scope: Scope): Effect {
  const rows =
    returning.length === 0 ? [] : written.map((row) => outputOf(returning, { ...scope, rows: { [alias]: row } }));
  return { rowCount: written.length, rows };
}

function outputOf(outputs: readonly Output[], scope: Scope): Row {
  const row: Record<string, unknown> = {};
  for (const { expression, table, name } of outputs) {
    if (expression !== null) {
      row[name in row && name === '?column?' ? `${name}${Object.keys(row).length}` : name] = evaluate(
        expression,
        scope,
      );
      continue;
    }
    for (const [alias, source] of Object.entries(scope.rows))
      if (table === null || table === alias) Object.assign(row, source);
  }
  return row;
}
