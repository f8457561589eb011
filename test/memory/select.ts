import { evaluate, hasAggregate, type Scope } from './evaluate.ts';
import type { Expression, From, Output, Select } from './syntax.ts';
import { isIndexed, type Row, rowsOf, type Table } from './tables.ts';
import { compare } from './values.ts';

/** What a query reads from; a part of what a statement works on. */
export interface Sources {
  readonly tables: ReadonlyMap<string, Table>;
  readonly named: ReadonlyMap<string, readonly Row[]>;
}

export function runSelect(sources: Sources, select: Select, outer: Scope): Row[] {
  return run({ sources, select, outer, positional: false });
}

/** Keeps every output apart, for an INSERT that goes by position. */
export function runByPosition(sources: Sources, select: Select, outer: Scope): Row[] {
  return run({ sources, select, outer, positional: true });
}

interface Query {
  readonly sources: Sources;
  readonly select: Select;
  readonly outer: Scope;
  readonly positional: boolean;
}

function run({ sources, select, outer, positional }: Query): Row[] {
  const found = scopesOf(sources, select, outer);
  const isGrouped = select.group.length > 0 || select.outputs.some(({ expression }) => hasAggregate(expression));
  const groups = isGrouped ? groupsOf(select, found, outer) : found;
  const sorted = select.order.length === 0 ? groups : sort(select, groups);
  const rows = sorted.map((scope) => outputRow(select.outputs, scope, positional));
  const more = select.union === null ? [] : run({ sources, select: select.union, outer, positional });
  const all = [...rows, ...more];
  const distinct = select.distinct ? [...new Map(all.map((row) => [JSON.stringify(row), row])).values()] : all;
  const limit = select.limit === null ? null : evaluate(select.limit, outer);
  return limit === null ? distinct : distinct.slice(0, Number(limit));
}

function outputRow(outputs: readonly Output[], scope: Scope, positional: boolean): Row {
  const row: Record<string, unknown> = {};
  for (const [index, { expression, table, name }] of outputs.entries()) {
    if (expression !== null) {
      row[positional ? `${index}. ${name}` : name] = evaluate(expression, scope);
      continue;
    }
    for (const [alias, source] of Object.entries(scope.rows))
      if (table === null || table === alias) Object.assign(row, source);
  }
  return row;
}

function groupsOf({ group, having }: Select, members: readonly Scope[], outer: Scope): Scope[] {
  const groups = new Map<string, Scope[]>();
  for (const member of members) {
    const key = JSON.stringify(group.map((expression) => evaluate(expression, member)));
    groups.set(key, [...(groups.get(key) ?? []), member]);
  }
  if (group.length === 0 && members.length === 0) groups.set('', []);
  return [...groups.values()]
    .map((all) => ({ ...(all[0] ?? { ...outer, rows: {}, outer }), group: all }))
    .filter((scope) => having === null || evaluate(having, scope) === true);
}

function sort({ order, outputs }: Select, scopes: readonly Scope[]): Scope[] {
  /** An output's name, or its position, stands for what it names. */
  const meant = (by: Expression): Expression => {
    if (by.t === 'value' && typeof by.value === 'number') return outputs[by.value - 1]?.expression ?? by;
    if (by.t !== 'column' || by.table !== null) return by;
    return outputs.find(({ name, expression }) => name === by.name && expression !== null)?.expression ?? by;
  };
  const keys = new Map(scopes.map((scope) => [scope, order.map(({ by }) => evaluate(meant(by), scope))]));
  return [...scopes].sort((left, right) => {
    for (const [index, { down }] of order.entries()) {
      const [one, other] = [keys.get(left)?.[index] ?? null, keys.get(right)?.[index] ?? null];
      const found =
        one === null || other === null ? Number(one === null) - Number(other === null) : (compare(one, other) ?? 0);
      if (found !== 0) return down ? -found : found;
    }
    return 0;
  });
}

/** The combinations of rows that the sources and the condition leave. */
export function scopesOf(
  sources: Sources,
  { from, where }: { readonly from: readonly From[]; readonly where: Expression | null },
  outer: Scope,
): Scope[] {
  let scopes: Scope[] = [{ ...outer, rows: {}, outer, group: null }];
  const later = new Set(from.map(({ alias }) => alias));
  for (const item of from) {
    const filters = [...conjuncts(item.on), ...(item.join === 'left' ? [] : conjuncts(where))];
    const key = keyFor(sources, { item, filters, later });
    later.delete(item.alias);
    scopes = scopes.flatMap((scope) => joined(sources, { item, key, scope }));
  }
  return where === null ? scopes : scopes.filter((scope) => evaluate(where, scope) === true);
}

function conjuncts(expression: Expression | null): Expression[] {
  if (expression === null) return [];
  if (expression.t === 'operator' && expression.name === 'and') return expression.inputs.flatMap(conjuncts);
  return [expression];
}

interface Key {
  readonly column: string;
  readonly value: Expression;
}

interface Join {
  readonly item: From;
  readonly key: Key | undefined;
  readonly scope: Scope;
}

function joined(sources: Sources, { item, key, scope }: Join): Scope[] {
  const matches: Scope[] = [];
  for (const row of candidates(sources, { item, key, scope })) {
    const within = { ...scope, rows: { ...scope.rows, [item.alias]: row } };
    if (item.on === null || evaluate(item.on, within) === true) matches.push(within);
  }
  if (matches.length > 0 || item.join === 'inner') return matches;
  return [{ ...scope, rows: { ...scope.rows, [item.alias]: nothing(sources, item) } }];
}

function* candidates(sources: Sources, { item, key, scope }: Join): Generator<Row> {
  if (typeof item.source !== 'string') {
    yield* runSelect(sources, item.source, scope);
    return;
  }
  const named = sources.named.get(item.source);
  if (named !== undefined) {
    yield* named;
    return;
  }
  const table = sources.tables.get(item.source);
  if (table === undefined) throw new Error(`The in-memory database has no table ${item.source}`);
  for (const [, row] of rowsOf(table, key?.column, key === undefined ? undefined : evaluate(key.value, scope)))
    yield row;
}

/** The row of a left join that found no partner. */
function nothing(sources: Sources, { source }: From): Row {
  const columns = typeof source === 'string' ? (sources.tables.get(source)?.shape.columns.keys() ?? []) : [];
  return Object.fromEntries([...columns].map((column) => [column, null]));
}

/** An equality by which the rows of a table can be looked up; without one all are looked at. */
function keyFor(
  { tables }: Sources,
  { item, filters, later }: { item: From; filters: readonly Expression[]; later: ReadonlySet<string> },
): Key | undefined {
  const table = typeof item.source === 'string' ? tables.get(item.source) : undefined;
  if (table === undefined) return undefined;
  const isOwn = (expression: Expression): string | undefined =>
    expression.t === 'column' && expression.table === item.alias && isIndexed(expression.name)
      ? expression.name
      : expression.t === 'column' &&
          expression.table === null &&
          isIndexed(expression.name) &&
          table.shape.columns.has(expression.name)
        ? expression.name
        : undefined;
  const isGiven = (expression: Expression): boolean =>
    expression.t === 'parameter' ||
    expression.t === 'value' ||
    (expression.t === 'column' && expression.table !== null && !later.has(expression.table));
  for (const filter of filters) {
    if (filter.t !== 'operator' || filter.name !== '=') continue;
    const [left, right] = filter.inputs;
    if (left === undefined || right === undefined) continue;
    for (const [own, other] of [[left, right] as const, [right, left] as const]) {
      const column = isOwn(own);
      if (column !== undefined && isGiven(other)) return { column, value: other };
    }
  }
  return undefined;
}
