import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CodedError, ERRORS, type ErrorCode } from '../../domain/errors.ts';

const codes = Object.entries(ERRORS);

describe('the table of errors', () => {
  it.each(codes)('%s has a code in snake_case and a sentence', (code, { title }) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(title).toMatch(/^[A-Z].{10,}\.$/);
  });

  it.each(codes)('%s has a status of an HTTP error, or none', (_, { status }) => {
    if (status === null) return;
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(600);
  });

  it('tells no two errors by the same sentence', () => {
    expect(new Set(codes.map(([, { title }]) => title)).size).toBe(codes.length);
  });

  it('stands in docs/errors.md row by row', () => {
    const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
    const rows = page.split('\n').filter((line) => line.startsWith('| `'));
    const expected = codes.map(([code, { status, title }]) => `| \`${code}\` | ${status ?? 'none'} | ${title} |`);
    expect([...rows].sort()).toEqual([...expected].sort());
  });
});

describe('CodedError', () => {
  it.each(Object.keys(ERRORS) as ErrorCode[])('%s alone says the sentence of the table', (code) => {
    expect(new CodedError(code)).toMatchObject({
      name: 'CodedError',
      code,
      message: ERRORS[code].title,
      field: undefined,
    });
  });

  it('carries the detail, the field and the cause it was given', () => {
    const cause = new Error('connect ECONNREFUSED');
    const error = new CodedError('field_invalid', 'amount.currency is missing.', { field: 'amount.currency', cause });
    expect(error).toMatchObject({ message: 'amount.currency is missing.', field: 'amount.currency', cause });
    expect(error).toBeInstanceOf(Error);
  });

  it('has no cause of its own making', () => {
    expect('cause' in new CodedError('internal')).toBe(false);
  });
});
