import { describe, expect, it } from 'vitest';
import { FORBIDDEN_PHRASES, findForbiddenPhrases } from './rules/phrases.ts';
import { FILE_LINES_MAX, FILE_LINES_MEDIAN_MAX, findLongFiles, medianLines } from './rules/sizes.ts';
import { isCode, listSourceFiles } from './rules/source-files.ts';
import { FUNCTION_LINES_MAX, findSyntaxFaults, type SyntaxRule } from './rules/syntax.ts';

const files = listSourceFiles();
const code = files.filter(isCode);
const typescript = code.filter(({ path }) => !path.endsWith('.sql'));

describe('the code of this project', () => {
  it('is found at all', () => {
    expect(typescript.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['domain/money.ts', 'cli/setup.mjs', 'test/house/code.test.ts', 'vitest.config.ts']),
    );
    expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining(['package.json', '.ci/run']));
    expect(files.some(({ path }) => path.includes('node_modules'))).toBe(false);
  });

  it('has no default export, enum, any, long function or long parameter list', () => {
    expect(typescript.flatMap(findSyntaxFaults).map(({ rule, place }) => `${place}: ${rule}`)).toEqual([]);
  });

  it(`has no file over ${FILE_LINES_MAX} lines`, () => {
    expect(findLongFiles(code)).toEqual([]);
  });

  it(`has files of at most ${FILE_LINES_MEDIAN_MAX} lines in the median`, () => {
    expect(medianLines(code)).toBeLessThanOrEqual(FILE_LINES_MEDIAN_MAX);
  });

  it('has file names in kebab-case', () => {
    const named = /^([a-z0-9-]+\/|\.ci\/)*\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*\.(ts|mjs|cjs|sql)$/;
    expect(code.map(({ path }) => path).filter((path) => !named.test(path))).toEqual([]);
  });

  it('silences no check and leaves nothing unfinished', () => {
    expect(files.flatMap(findForbiddenPhrases)).toEqual([]);
  });
});

describe('each rule can fail:', () => {
  const longBody = '  work();\n'.repeat(FUNCTION_LINES_MAX - 1);
  const bad: readonly (readonly [SyntaxRule, string])[] = [
    ['no default export', 'const price = 1;\nexport default price;'],
    ['no default export', 'export default function pay() {}'],
    ['no default export', 'export default class Order {}'],
    ['no default export', 'const price = 1;\nexport { price as default };'],
    ['no enum', 'enum Status { Paid }'],
    ['no enum', 'export const enum Status { Paid }'],
    ['no any', 'export const body: any = 1;'],
    ['no any', 'export function read(rows: Map<string, any[]>) { return rows; }'],
    ['no any', 'export const total = JSON.parse("1") as any;'],
    ['function length', `function pay() {\n${longBody}}`],
    ['function length', `const pay = () => {\n${longBody}};`],
    ['function length', `class Desk {\n  pay() {\n${longBody}}\n}`],
    ['positional parameters', 'export const add = (a: number, b: number, c: number, d: number) => a + b + c + d;'],
    ['positional parameters', 'export function add(a: number, b: number, c: number, d = 1) { return a + b + c + d; }'],
    ['positional parameters', 'export interface Port { send(a: string, b: string, c: string, d: string): void }'],
  ];

  it.each(bad)('%s: %.60s', (rule, text) => {
    expect(findSyntaxFaults({ path: 'domain/bad.ts', text }).map((fault) => fault.rule)).toEqual([rule]);
  });

  it('names the file and line', () => {
    expect(findSyntaxFaults({ path: 'domain/bad.ts', text: '\n\nenum Status { Paid }' })).toEqual([
      { rule: 'no enum', place: 'domain/bad.ts:3' },
    ]);
  });

  const good = [
    ['a function of just the allowed length', `function pay() {\n${'  work();\n'.repeat(FUNCTION_LINES_MAX - 2)}}`],
    ['a long describe', `describe('orders', () => {\n${"  it('works', work);\n".repeat(200)}});`],
    ['a callback of many parameters', 'rows.forEach((a, b, c, d) => work(a, b, c, d));'],
    ['the words in names, strings and comments', 'export const enumerate = "any"; // any enum default'],
    ['an import of a default export', "import pg from 'pg';\nexport { pg };"],
  ] as const;

  it.each(good)('but lets pass %s', (_, text) => {
    expect(findSyntaxFaults({ path: 'domain/good.ts', text })).toEqual([]);
  });

  it('a default export is accepted where a tool reads it, and only there', () => {
    const text = 'export default {};';
    expect(findSyntaxFaults({ path: 'vitest.config.ts', text })).toEqual([]);
    expect(findSyntaxFaults({ path: 'api/vitest.config.ts', text })).toHaveLength(1);
  });

  it('file length', () => {
    const file = (lines: number) => ({ path: `domain/${lines}.ts`, text: 'work();\n'.repeat(lines) });
    expect(findLongFiles([file(FILE_LINES_MAX), file(FILE_LINES_MAX + 1)])).toEqual(['domain/501.ts: 501 lines']);
  });

  it('median length', () => {
    const file = (lines: number) => ({ path: `domain/${lines}.ts`, text: 'work();\n'.repeat(lines) });
    expect(medianLines([file(10), file(121), file(400)])).toBe(121);
    expect(medianLines([file(10), file(20), file(121), file(400)])).toBe(20);
  });

  it.each(FORBIDDEN_PHRASES)('phrase %s', (phrase) => {
    expect(findForbiddenPhrases({ path: 'a.ts', text: `one\ntwo ${phrase} three` })).toEqual([`a.ts:2: ${phrase}`]);
  });
});
