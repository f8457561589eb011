/** When a gateway's breaker opens, and how it lets charges through while it is open. */
export const BREAKER = {
  /** How far back outcomes are looked at. */
  windowSeconds: 60,
  /** Fewer outcomes than this say nothing: one lost answer of two must not close a shop. */
  outcomesMin: 10,
  /** Opens when at least this share of the outcomes says nothing about the charge. */
  silentShare: 0.5,
  /** While it is open, one charge in so many seconds is let through to see. */
  probeEverySeconds: 10,
} as const;

/** One outcome of a charge: whether the gateway said anything about it. Times are milliseconds. */
export interface BreakerOutcome {
  readonly at: number;
  readonly silent: boolean;
}

/** The outcomes that still count. */
export function recentOutcomes(outcomes: readonly BreakerOutcome[], now: number): readonly BreakerOutcome[] {
  return outcomes.filter(({ at }) => now - at <= BREAKER.windowSeconds * 1_000);
}

/** Is the gateway so silent that new charges should not be begun? A decline is an answer, and a good one. */
export function shouldOpen(outcomes: readonly BreakerOutcome[], now: number): boolean {
  const recent = recentOutcomes(outcomes, now);
  const silent = recent.filter((outcome) => outcome.silent).length;
  return recent.length >= BREAKER.outcomesMin && silent >= recent.length * BREAKER.silentShare;
}
