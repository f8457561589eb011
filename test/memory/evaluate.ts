import type { Expression, Select } from './syntax.ts';
import type { Row } from './tables.ts';
import { add, compare, isInterval, toType } from './values.ts';

/** What an expression is evaluated in: the rows under their aliases, and what surrounds them. */
export interface Scope {
  readonly rows: Readonly<Record<string, Row>>;
  readonly outer: Scope | null;
  readonly parameters: readonly unknown[];
  /** The rows of a group, while an aggregate is evaluated. */
  readonly group: readonly Scope[] | null;
  readonly now: () => string;
  readonly run: (select: Select, scope: Scope) => Row[];
}

export function evaluate(expression: Expression, scope: Scope): unknown {
  switch (expression.t) {
    case 'value':
      return expression.value;
    case 'parameter':
      return scope.parameters[expression.index] ?? null;
    case 'column':
      return readColumn(expression, scope);
    case 'call':
      return call(expression, scope);
    case 'operator':
      return operate(expression.name, expression.inputs, scope);
    case 'case':
      return choose(expression, scope);
    case 'in':
      return isAmong(expression, scope);
    case 'exists':
      return scope.run(expression.select, scope).length > 0;
    case 'scalar':
      return Object.values(scope.run(expression.select, scope)[0] ?? {})[0] ?? null;
    case 'row':
      return expression.items.map((item) => evaluate(item, scope));
    case 'any':
      return compareWithList(expression, scope);
    case 'cast':
      return toType(expression.type, evaluate(expression.value, scope));
  }
}

function readColumn({ table, name }: Expression & { t: 'column' }, scope: Scope): unknown {
  for (let at: Scope | null = scope; at !== null; at = at.outer) {
    if (table !== null) {
      const row = at.rows[table];
      if (row !== undefined) return row[name] ?? null;
      continue;
    }
    for (const row of Object.values(at.rows)) if (name in row) return row[name] ?? null;
    const whole = at.rows[name];
    if (whole !== undefined) return whole;
  }
  throw new Error(`The in-memory database knows no column ${table === null ? '' : `${table}.`}${name}`);
}

const NULL = null;

function operate(name: string, inputs: readonly Expression[], scope: Scope): unknown {
  const [first, second] = inputs;
  if (first === undefined) throw new Error(`The operator ${name} has no input`);
  const left = evaluate(first, scope);
  switch (name) {
    case 'and':
      if (left === false) return false;
      return both(left, second === undefined ? NULL : evaluate(second, scope));
    case 'or':
      if (left === true) return true;
      return either(left, second === undefined ? NULL : evaluate(second, scope));
    case 'not':
      return left === null ? null : left !== true;
    case 'is null':
      return Array.isArray(left) ? left.every((item) => item === null) : left === null || left === undefined;
    case 'is true':
      return left === true;
    case 'is false':
      return left === false;
    default:
      return second === undefined ? NULL : combine(name, left, evaluate(second, scope));
  }
}

function both(left: unknown, right: unknown): boolean | null {
  if (right === false) return false;
  return left === null || right === null ? null : true;
}

function either(left: unknown, right: unknown): boolean | null {
  if (right === true) return true;
  return left === null || right === null ? null : false;
}

function combine(name: string, left: unknown, right: unknown): unknown {
  const order = (): number | null => compare(left, right);
  const holds = (test: (order: number) => boolean): boolean | null => {
    const found = order();
    return found === null ? null : test(found);
  };
  switch (name) {
    case '=':
      return holds((found) => found === 0);
    case '<>':
      return holds((found) => found !== 0);
    case '<':
      return holds((found) => found < 0);
    case '>':
      return holds((found) => found > 0);
    case '<=':
      return holds((found) => found <= 0);
    case '>=':
      return holds((found) => found >= 0);
    case 'distinct':
      return left === null || right === null ? left !== right : order() !== 0;
    case '~':
      return left === null || right === null ? null : new RegExp(String(right)).test(String(left));
    case '!~':
      return left === null || right === null ? null : !new RegExp(String(right)).test(String(left));
    case 'like':
      return left === null || right === null ? null : likePattern(String(right)).test(String(left));
    default:
      return left === null || right === null ? null : calculate(name, left, right);
  }
}

function likePattern(pattern: string): RegExp {
  const escaped = pattern
    .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('%', '.*')
    .replaceAll('_', '.');
  return new RegExp(`^${escaped}$`, 's');
}

function calculate(name: string, left: unknown, right: unknown): unknown {
  switch (name) {
    case '+':
      return typeof right === 'string' && isInterval(left) ? add(right, left, 1) : add(left, right, 1);
    case '-':
      return add(left, right, -1);
    case '*':
      if (isInterval(right)) return { milliseconds: Number(left) * right.milliseconds };
      if (isInterval(left)) return { milliseconds: left.milliseconds * Number(right) };
      return Number(left) * Number(right);
    case '/':
      return Math.trunc(Number(left) / Number(right));
    case '%':
      return Number(left) % Number(right);
    case '||':
      if (typeof left === 'object' && typeof right === 'object') return { ...left, ...right };
      return `${String(left)}${String(right)}`;
    case '->':
      return (left as Row)[String(right)] ?? null;
    case '->>': {
      const value = (left as Row)[String(right)] ?? null;
      return value === null || typeof value === 'string' ? value : JSON.stringify(value);
    }
    default:
      throw new Error(`The in-memory database does not know the operator ${name}`);
  }
}

function choose({ subject, branches, otherwise }: Expression & { t: 'case' }, scope: Scope): unknown {
  const asked = subject === null ? true : evaluate(subject, scope);
  for (const [when, then] of branches) {
    const found = evaluate(when, scope);
    if (subject === null ? found === true : compare(asked, found) === 0) return evaluate(then, scope);
  }
  return otherwise === null ? null : evaluate(otherwise, scope);
}

function isAmong({ subject, among }: Expression & { t: 'in' }, scope: Scope): boolean | null {
  const value = evaluate(subject, scope);
  const items =
    't' in among
      ? scope.run(among, scope).map((row) => (Array.isArray(value) ? Object.values(row) : Object.values(row)[0]))
      : among.map((item) => evaluate(item, scope));
  const orders = items.map((item) => compare(value, item));
  if (orders.includes(0)) return true;
  return orders.includes(null) ? null : false;
}

function compareWithList({ name, left, list, all }: Expression & { t: 'any' }, scope: Scope): boolean | null {
  const items = evaluate(list, scope);
  if (items === null) return null;
  const value = evaluate(left, scope);
  const found = (items as readonly unknown[]).map((item) => combine(name, value, item));
  if (all) return found.every((one) => one === true) ? true : found.includes(false) ? false : null;
  return found.includes(true) ? true : found.includes(null) ? null : false;
}

const AGGREGATES = [
  'count',
  'sum',
  'min',
  'max',
  'bool_or',
  'bool_and',
  'array_agg',
  'jsonb_agg',
  'json_agg',
  'string_agg',
];

export function hasAggregate(expression: Expression | null): boolean {
  if (expression === null) return false;
  switch (expression.t) {
    case 'call':
      return AGGREGATES.includes(expression.name) || expression.inputs.some(hasAggregate);
    case 'operator':
      return expression.inputs.some(hasAggregate);
    case 'cast':
      return hasAggregate(expression.value);
    case 'case':
      return expression.branches.flat().some(hasAggregate) || hasAggregate(expression.otherwise);
    default:
      return false;
  }
}

/** Whether every function in it is known here. */
export function isKnown(expression: Expression | null): boolean {
  if (expression === null) return true;
  const { t } = expression;
  if (t === 'call')
    return (expression.name in FUNCTIONS || expression.name === 'coalesce') && expression.inputs.every(isKnown);
  if (t === 'operator') return expression.inputs.every(isKnown);
  if (t === 'cast') return isKnown(expression.value);
  if (t === 'any') return isKnown(expression.list) && isKnown(expression.left);
  if (t === 'row') return expression.items.every(isKnown);
  if (t === 'case') return expression.branches.flat().every(isKnown) && isKnown(expression.otherwise);
  return true;
}

function call(expression: Expression & { t: 'call' }, scope: Scope): unknown {
  if (AGGREGATES.includes(expression.name)) return aggregate(expression, scope);
  const { name } = expression;
  if (name === 'coalesce') {
    for (const input of expression.inputs) {
      const value = evaluate(input, scope);
      if (value !== null) return value;
    }
    return null;
  }
  const inputs = expression.inputs.map((input) => evaluate(input, scope));
  const known = FUNCTIONS[name];
  if (known === undefined) throw new Error(`The in-memory database does not know the function ${name}`);
  return known(inputs, scope);
}

const FUNCTIONS: Readonly<Record<string, (inputs: readonly unknown[], scope: Scope) => unknown>> = {
  now: (_inputs, { now }) => now(),
  clock_timestamp: (_inputs, { now }) => now(),
  length: ([text]) => (text === null ? null : text instanceof Uint8Array ? text.length : String(text).length),
  octet_length: ([text]) => (text === null ? null : Buffer.byteLength(text as string)),
  lower: ([text]) => (text === null ? null : String(text).toLowerCase()),
  upper: ([text]) => (text === null ? null : String(text).toUpperCase()),
  btrim: ([text]) => (text === null ? null : String(text).trim()),
  left: ([text, length]) => (text === null ? null : String(text).slice(0, Number(length))),
  abs: ([value]) => (value === null ? null : Math.abs(Number(value))),
  greatest: (inputs) => extreme(inputs, 1),
  least: (inputs) => extreme(inputs, -1),
  nullif: ([left, right]) => (compare(left, right) === 0 ? null : left),
  num_nonnulls: (inputs) => inputs.filter((input) => input !== null).length,
  num_nulls: (inputs) => inputs.filter((input) => input === null).length,
  jsonb_build_object: (inputs) =>
    Object.fromEntries(inputs.flatMap((key, index) => (index % 2 === 0 ? [[String(key), inputs[index + 1]]] : []))),
  to_jsonb: ([value]) => value,
  cardinality: ([list]) => (list === null ? null : (list as readonly unknown[]).length),
  array_to_string: ([list, between]) => (list === null ? null : (list as readonly unknown[]).join(String(between))),
  array_length: ([list]) => (list === null ? null : (list as readonly unknown[]).length || null),
  array_position: ([list, item]) => (list === null ? null : (list as readonly unknown[]).indexOf(item) + 1 || null),
  jsonb_typeof: ([value]) => (value === null ? null : Array.isArray(value) ? 'array' : typeof value),
  pg_notify: () => '',
  pg_advisory_xact_lock: () => '',
  hashtextextended: ([text]) => String(text).length,
  unnest: ([list]) => list,
  make_interval: ([, , , , , , seconds]) => ({ milliseconds: Number(seconds ?? 0) * 1_000 }),
  'extract epoch': ([value]) =>
    isInterval(value) ? value.milliseconds / 1_000 : value === null ? null : Date.parse(String(value)) / 1_000,
};

function extreme(inputs: readonly unknown[], sign: 1 | -1): unknown {
  return inputs.reduce((best, value) => {
    if (value === null) return best;
    return best === null || sign * (compare(value, best) ?? 0) > 0 ? value : best;
  }, null);
}

function aggregate({ name, inputs, distinct, filter }: Expression & { t: 'call' }, scope: Scope): unknown {
  if (scope.group === null) throw new Error(`The aggregate ${name} stands outside of a group`);
  const members = scope.group.filter((member) => filter === null || evaluate(filter, member) === true);
  const [input] = inputs;
  if (input === undefined) return members.length;
  const all = members.map((member) => evaluate(input, member)).filter((value) => value !== null);
  const values = distinct ? [...new Map(all.map((value) => [JSON.stringify(value), value])).values()] : all;
  switch (name) {
    case 'count':
      return values.length;
    case 'sum':
      return values.length === 0 ? null : values.reduce<number>((sum, value) => sum + Number(value), 0);
    case 'min':
      return extreme(values, -1);
    case 'max':
      return extreme(values, 1);
    case 'bool_or':
      return values.length === 0 ? null : values.includes(true);
    case 'bool_and':
      return values.length === 0 ? null : !values.includes(false);
    case 'string_agg':
      return values.length === 0 ? null : values.join(',');
    default:
      return values.length === 0 ? null : values;
  }
}
