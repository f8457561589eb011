import type { Expression } from './syntax.ts';
import type { Reader } from './tokens.ts';

type Rule = (reader: Reader) => Expression;

const operator = (name: string, ...inputs: Expression[]): Expression => ({ t: 'operator', name, inputs });

export const readExpression: Rule = (reader) => readOr(reader);

const readOr: Rule = (reader) => {
  let left = readAnd(reader);
  while (reader.take('or')) left = operator('or', left, readAnd(reader));
  return left;
};

const readAnd: Rule = (reader) => {
  let left = readNot(reader);
  while (reader.take('and')) left = operator('and', left, readNot(reader));
  return left;
};

const readNot: Rule = (reader) => (reader.take('not') ? operator('not', readNot(reader)) : readComparison(reader));

const COMPARISONS = ['=', '<>', '!=', '<', '>', '<=', '>=', '~', '!~', '@>', 'like', 'ilike'];

const readComparison: Rule = (reader) => {
  let left = readSum(reader);
  for (;;) {
    const sign = COMPARISONS.find((text) => reader.is(text));
    if (sign !== undefined) {
      reader.next();
      left = readRightSide(reader, sign === '!=' ? '<>' : sign, left);
    } else if (reader.take('is')) left = readIs(reader, left);
    else if (reader.is('in') || (reader.is('not') && reader.is('in', 1))) left = readIn(reader, left);
    else if (reader.is('between') || (reader.is('not') && reader.is('between', 1))) left = readBetween(reader, left);
    else return left;
  }
};

function readRightSide(reader: Reader, name: string, left: Expression): Expression {
  const all = reader.is('all');
  if ((reader.is('any') || all) && reader.is('(', 1)) {
    reader.next();
    reader.expect('(');
    const list = readExpression(reader);
    reader.expect(')');
    return { t: 'any', name, left, list, all };
  }
  return operator(name, left, readSum(reader));
}

function readIs(reader: Reader, left: Expression): Expression {
  const not = reader.take('not');
  const wrap = (inner: Expression): Expression => (not ? operator('not', inner) : inner);
  if (reader.take('null')) return wrap(operator('is null', left));
  if (reader.take('true')) return wrap(operator('is true', left));
  if (reader.take('false')) return wrap(operator('is false', left));
  if (reader.takeWords('distinct', 'from')) return wrap(operator('distinct', left, readSum(reader)));
  return reader.fail('null, true, false or distinct from');
}

function readIn(reader: Reader, subject: Expression): Expression {
  const not = reader.take('not');
  reader.expect('in');
  reader.expect('(');
  const among = reader.is('select') ? reader.select() : readList(reader);
  reader.expect(')');
  const inside: Expression = { t: 'in', subject, among };
  return not ? operator('not', inside) : inside;
}

function readBetween(reader: Reader, subject: Expression): Expression {
  const not = reader.take('not');
  reader.expect('between');
  const low = readSum(reader);
  reader.expect('and');
  const inside = operator('and', operator('>=', subject, low), operator('<=', subject, readSum(reader)));
  return not ? operator('not', inside) : inside;
}

const readSum: Rule = (reader) => {
  let left = readProduct(reader);
  for (;;) {
    const sign = ['+', '-', '||', '->>', '->'].find((text) => reader.is(text));
    if (sign === undefined) return left;
    reader.next();
    left = operator(sign, left, readProduct(reader));
  }
};

const readProduct: Rule = (reader) => {
  let left = readCast(reader);
  for (;;) {
    const sign = ['*', '/', '%'].find((text) => reader.is(text));
    if (sign === undefined) return left;
    reader.next();
    left = operator(sign, left, readCast(reader));
  }
};

const readCast: Rule = (reader) => {
  let value = readPrimary(reader);
  while (reader.take('::')) value = { t: 'cast', value, type: readType(reader) };
  return value;
};

/** A type's name, with what may follow it. */
export function readType(reader: Reader): string {
  let type = reader.name();
  if (type === 'timestamp' || type === 'time') {
    if (reader.takeWords('with', 'time', 'zone')) type = 'timestamptz';
  }
  if (type === 'double' && reader.take('precision')) type = 'float8';
  if (reader.take('(')) {
    while (!reader.take(')')) reader.next();
  }
  while (reader.take('[')) {
    reader.expect(']');
    type += '[]';
  }
  return type;
}

export function readList(reader: Reader): Expression[] {
  const items = [readExpression(reader)];
  while (reader.take(',')) items.push(readExpression(reader));
  return items;
}

const CONSTANTS: Readonly<Record<string, unknown>> = { null: null, true: true, false: false };

const readPrimary: Rule = (reader) => {
  const token = reader.peek();
  if (token.kind === 'parameter') return { t: 'parameter', index: Number(reader.next().text) - 1 };
  if (token.kind === 'number') return { t: 'value', value: Number(reader.next().text) };
  if (token.kind === 'text') return { t: 'value', value: reader.next().text };
  if (reader.take('-')) return operator('-', { t: 'value', value: 0 }, readPrimary(reader));
  if (reader.take('(')) return readParenthesis(reader);
  if (token.kind !== 'word') return reader.fail('an expression');
  if (token.text in CONSTANTS) return { t: 'value', value: CONSTANTS[reader.next().text] };
  if (reader.take('case')) return readCase(reader);
  if (reader.take('exists')) {
    reader.expect('(');
    const select = reader.select();
    reader.expect(')');
    return { t: 'exists', select };
  }
  if (token.text === 'interval' && reader.peek(1).kind === 'text') {
    reader.next();
    return { t: 'cast', value: { t: 'value', value: reader.next().text }, type: 'interval' };
  }
  if (reader.take('current_timestamp')) return { t: 'call', name: 'now', inputs: [], distinct: false, filter: null };
  return readNamed(reader);
};

function readParenthesis(reader: Reader): Expression {
  if (reader.is('select') || reader.is('with')) {
    const select = reader.select();
    reader.expect(')');
    return { t: 'scalar', select };
  }
  const items = readList(reader);
  reader.expect(')');
  const [only] = items;
  return items.length === 1 && only !== undefined ? only : { t: 'row', items };
}

function readCase(reader: Reader): Expression {
  const subject = reader.is('when') ? null : readExpression(reader);
  const branches: [Expression, Expression][] = [];
  while (reader.take('when')) {
    const when = readExpression(reader);
    reader.expect('then');
    branches.push([when, readExpression(reader)]);
  }
  const otherwise = reader.take('else') ? readExpression(reader) : null;
  reader.expect('end');
  return { t: 'case', subject, branches, otherwise };
}

function readNamed(reader: Reader): Expression {
  const name = reader.name();
  if (reader.take('.')) return { t: 'column', table: name, name: reader.name() };
  if (!reader.take('(')) return { t: 'column', table: null, name };
  const distinct = reader.take('distinct');
  const inputs: Expression[] = [];
  if (!reader.take('*') && !reader.is(')')) {
    if (name === 'extract') return readExtract(reader);
    inputs.push(...readList(reader));
  }
  reader.expect(')');
  let filter: Expression | null = null;
  if (reader.takeWords('filter')) {
    reader.expect('(');
    reader.expect('where');
    filter = readExpression(reader);
    reader.expect(')');
  }
  return { t: 'call', name, inputs, distinct, filter };
}

function readExtract(reader: Reader): Expression {
  const unit = reader.name();
  reader.expect('from');
  const subject = readExpression(reader);
  reader.expect(')');
  return { t: 'call', name: `extract ${unit}`, inputs: [subject], distinct: false, filter: null };
}
