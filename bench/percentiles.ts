/** Times of one kind of call, in milliseconds. */
export interface Latency {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/**
 * The value that at least this share of the values does not exceed (nearest rank): always one that was really seen, so a
 * p99 of few values is their largest and never something made up between two of them.
 * @param share between 0 and 1
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  const rank = Math.min(sorted.length, Math.max(1, Math.ceil(share * sorted.length)));
  const value = sorted[rank - 1];
  if (value === undefined) throw new Error('Nothing was measured, so there is no percentile.');
  return value;
}

export function latencyOf(milliseconds: readonly number[]): Latency {
  return {
    p50: percentile(milliseconds, 0.5),
    p95: percentile(milliseconds, 0.95),
    p99: percentile(milliseconds, 0.99),
    max: percentile(milliseconds, 1),
  };
}
