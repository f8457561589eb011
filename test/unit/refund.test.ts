import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { REFUND_STATUSES, REFUND_TRANSITIONS, refundCoverage, refundReference } from '../../domain/refund.ts';

test('docs/states.md shows the moves of a refund, arrow by arrow', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'states.md'), 'utf8');
  const diagram = page.slice(page.indexOf('## Refund'));
  const arrows = [...diagram.matchAll(/^ {4}(\w+) --> (\w+)$/gm)].map(([, from, to]) => `${from} > ${to}`);
  const moves = REFUND_STATUSES.flatMap((from) => REFUND_TRANSITIONS[from].map((to) => `${from} > ${to}`));
  expect(arrows.sort()).toEqual(moves.sort());
});

test('a refund has one number for ever, by its row alone', () => {
  const id = '0193a5b0-7d4e-7cc3-98c4-dc0c0c07398f';
  expect(refundReference(id)).toBe(refundReference(id));
  expect(refundReference(id)).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}RF$/);
});

test.each([
  [0, 'none'],
  [1, 'partial'],
  [10, 'full'],
] as const)('%i of 10 refunded is %s', (refunded, coverage) => {
  expect(refundCoverage({ captured: 10, refunded })).toBe(coverage);
});
