import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** docs/cases.md says which test shows a published failure; a case that its test no longer names is not covered. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The sections of the log but for settlement files, C86 to C104, which come with reconciliation. */
const NUMBERS_FIRST_AND_LAST = ['C01', 'C123'];
const CASES = 92;

interface Row {
  readonly number: string;
  readonly files: readonly string[];
  readonly remark: string;
}

const rows: readonly Row[] = readFileSync(`${ROOT}docs/cases.md`, 'utf8')
  .split('\n')
  .filter((line) => /^\| C\d+ \|/.test(line))
  .map((line) => {
    const [number = '', , , tests = ''] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    return { number, files: [...tests.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file), remark: tests };
  });

/** Whether a text that is no comment, and so a title, names the case. */
function names(file: string, number: string): boolean {
  if (!existsSync(`${ROOT}${file}`)) return false;
  const code = readFileSync(`${ROOT}${file}`, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  return new RegExp(`['"\`][^'"\`\\n]*\\b${number}\\b`).test(code);
}

describe('the page of published failures', () => {
  it('has each case once, in order', () => {
    const numbers = rows.map(({ number }) => Number(number.slice(1)));
    expect(numbers).toEqual([...new Set(numbers)].sort((left, right) => left - right));
    expect([rows[0]?.number, rows.at(-1)?.number]).toEqual(NUMBERS_FIRST_AND_LAST);
    expect(rows).toHaveLength(CASES);
  });

  it.each(rows.filter(({ files }) => files.length > 0))('$number is named where the page says', ({ number, files }) => {
    expect(files.filter((file) => !names(file, number))).toEqual([]);
  });

  it('says of every other case that it does not apply or has no test yet', () => {
    const others = rows.filter(({ files }) => files.length === 0).map(({ remark }) => remark);
    expect(others.filter((remark) => remark !== '-' && remark !== 'does not apply')).toEqual([]);
  });
});
