import type { DatabaseFaults } from './database.ts';
import type { GatewayFaults } from './gateway.ts';
import { between, chance, pick } from './runtime/virtual.ts';

/** How a seed goes wrong: some seeds hardly at all, some in every way at once. */
export interface Chaos {
  /** A process dies, at any place where it could. */
  readonly crash: number;
  /** A process stands still there, and goes on as if no time had passed. */
  readonly standstill: number;
  readonly evictions: number;
  readonly database: DatabaseFaults;
  readonly gateway: GatewayFaults;
  /** Times at which a part is away. */
  readonly outages: readonly Outage[];
}

export interface Outage {
  readonly part: 'gateway' | 'database' | 'temporal' | 'workers';
  readonly beginsMs: number;
  readonly lastsMs: number;
}

export const FAULTY_MS = 3 * 24 * 3_600_000;

/** Most rates are zero in most seeds, so that faults meet each other in all combinations and also come alone. */
export function drawChaos(): Chaos {
  const rate = (...choices: readonly number[]): number => pick([0, 0, ...choices]);
  return {
    crash: rate(0.0005, 0.002, 0.01),
    standstill: rate(0.0005, 0.002),
    evictions: pick([0, 0.1, 0.5, 1]),
    database: {
      lostBefore: rate(0.002, 0.02),
      lostAfter: rate(0.002, 0.02, 0.1),
      conflict: rate(0.01, 0.1),
      slow: rate(0.02),
    },
    gateway: {
      never: rate(0.05, 0.2),
      late: rate(0.05, 0.2),
      slow: rate(0.1, 0.3),
      answerLost: rate(0.1, 0.5),
      answerWrong: rate(0.05, 0.2),
      duplicated: rate(0.1),
      declined: pick([0.05, 0.2, 0.5]),
      pending: rate(0.1),
      action: rate(0.1),
      inquiryLost: rate(0.1, 0.5),
      inquiryStale: rate(0.1, 0.4),
      refused: rate(0.05),
    },
    outages: drawOutages(),
  };
}

export const CALM_GATEWAY: GatewayFaults = {
  never: 0,
  late: 0,
  slow: 0,
  answerLost: 0,
  answerWrong: 0,
  duplicated: 0,
  declined: 0.05,
  pending: 0,
  action: 0,
  inquiryLost: 0,
  inquiryStale: 0,
  refused: 0,
};

function drawOutages(): Outage[] {
  const count = pick([0, 0, 2, 6]);
  return Array.from({ length: count }, () => ({
    part: pick(['gateway', 'gateway', 'database', 'temporal', 'workers'] as const),
    beginsMs: between(0, FAULTY_MS * 0.95),
    lastsMs: chance(0.5) ? between(1_000, 60_000) : between(60_000, 3 * 3_600_000),
  }));
}
