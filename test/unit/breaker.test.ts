import { describe, expect, test } from 'vitest';
import { BREAKER, type BreakerOutcome, shouldOpen } from '../../domain/breaker.ts';

const NOW = 1_000_000;
const outcomes = (silent: number, answered: number, at = NOW): BreakerOutcome[] => [
  ...Array.from({ length: silent }, () => ({ at, silent: true })),
  ...Array.from({ length: answered }, () => ({ at, silent: false })),
];

describe('the breaker of a gateway', () => {
  test('opens when half of enough outcomes say nothing', () => {
    expect(shouldOpen(outcomes(5, 5), NOW)).toBe(true);
    expect(shouldOpen(outcomes(4, 6), NOW)).toBe(false);
  });

  test('does not open on a few', () => {
    expect(shouldOpen(outcomes(BREAKER.outcomesMin - 1, 0), NOW)).toBe(false);
    expect(shouldOpen(outcomes(BREAKER.outcomesMin, 0), NOW)).toBe(true);
  });

  test('forgets what is older than its window', () => {
    const old = outcomes(50, 0, NOW - BREAKER.windowSeconds * 1_000 - 1);
    expect(shouldOpen(old, NOW)).toBe(false);
    expect(shouldOpen([...old, ...outcomes(2, 8)], NOW)).toBe(false);
  });
});
