import type { Select } from './syntax.ts';

/** A piece of SQL text. Words are in lower case; quoted texts and names keep theirs. */
export interface Token {
  readonly kind: 'word' | 'number' | 'text' | 'parameter' | 'sign' | 'end';
  readonly text: string;
}

const PATTERN =
  /\s+|--[^\n]*|(?<text>'(?:[^']|'')*')|(?<name>"[^"]+")|(?<parameter>\$\d+)|(?<number>\d+(?:\.\d+)?)|(?<word>[A-Za-z_]\w*)|(?<sign>->>|->|::|<>|!=|<=|>=|\|\||!~|@>|[-+*/%=<>~(),.;[\]])/gy;

/** @throws Error at a character that no statement of this project has */
export function tokensOf(sql: string): Token[] {
  const tokens: Token[] = [];
  PATTERN.lastIndex = 0;
  while (PATTERN.lastIndex < sql.length) {
    const at = PATTERN.lastIndex;
    const groups = PATTERN.exec(sql)?.groups;
    if (groups === undefined) {
      if (PATTERN.lastIndex > at) continue;
      throw new Error(`The in-memory database cannot read: ${sql.slice(at, at + 40)}`);
    }
    const token = tokenOf(groups);
    if (token !== undefined) tokens.push(token);
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

function tokenOf({ text, name, parameter, number, word, sign }: Record<string, string | undefined>): Token | undefined {
  if (text !== undefined) return { kind: 'text', text: text.slice(1, -1).replaceAll("''", "'") };
  if (name !== undefined) return { kind: 'word', text: name.slice(1, -1) };
  if (parameter !== undefined) return { kind: 'parameter', text: parameter.slice(1) };
  if (number !== undefined) return { kind: 'number', text: number };
  if (word !== undefined) return { kind: 'word', text: word.toLowerCase() };
  return sign === undefined ? undefined : { kind: 'sign', text: sign };
}

/** Reads tokens one after the other; the grammar is written against it. */
export interface Reader {
  peek(ahead?: number): Token;
  next(): Token;
  /** Takes the token if it is this word or sign. */
  take(text: string): boolean;
  /** Takes the words if all of them follow. */
  takeWords(...words: readonly string[]): boolean;
  expect(text: string): void;
  is(text: string, ahead?: number): boolean;
  name(): string;
  fail(wanted: string): never;
  /** A query inside an expression. */
  select(): Select;
}

export function createReader(tokens: readonly Token[], readSelect: (reader: Reader) => Select): Reader {
  let at = 0;
  const END: Token = { kind: 'end', text: '' };
  const peek = (ahead = 0): Token => tokens[at + ahead] ?? END;
  const is = (text: string, ahead = 0): boolean => {
    const token = peek(ahead);
    return (token.kind === 'word' || token.kind === 'sign') && token.text === text;
  };
  const fail = (wanted: string): never => {
    const around = tokens.slice(Math.max(0, at - 6), at + 6).map(({ text }) => text);
    throw new Error(`The in-memory database does not know this SQL: wanted ${wanted} near "${around.join(' ')}"`);
  };
  const reader: Reader = {
    peek,
    is,
    fail,
    select: () => readSelect(reader),
    next: () => {
      at += 1;
      return tokens[at - 1] ?? END;
    },
    take: (text) => {
      if (!is(text)) return false;
      at += 1;
      return true;
    },
    takeWords: (...words) => {
      if (!words.every((word, index) => is(word, index))) return false;
      at += words.length;
      return true;
    },
    expect: (text) => {
      if (!reader.take(text)) fail(text);
    },
    name: () => {
      const token = reader.next();
      return token.kind === 'word' ? token.text : fail('a name');
    },
  };
  return reader;
}
