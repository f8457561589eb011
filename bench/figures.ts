import type { PartTimes, Sample } from './meter.ts';
import { type Latency, latencyOf, percentile } from './percentiles.ts';

/** What one load came to, over all rounds. */
export interface Figures {
  readonly count: number;
  readonly perSecond: number;
  readonly latencyMs: Latency;
  /** CPU time of each part, for one of what is counted. */
  readonly cpuMs: PartTimes;
  readonly commits: number;
  /** Share of the machine's processors that programs outside of the bench used meanwhile. */
  readonly othersShare: number;
}

export function figuresOf(samples: readonly Sample[]): Figures {
  const milliseconds = samples.flatMap((sample) => sample.milliseconds);
  const count = milliseconds.length;
  const sum = (amountOf: (sample: Sample) => number): number =>
    samples.reduce((total, sample) => total + amountOf(sample), 0);
  return {
    count,
    perSecond: (1_000 * count) / sum(({ elapsedMs }) => elapsedMs),
    latencyMs: latencyOf(milliseconds),
    cpuMs: {
      node: sum(({ cpuMs }) => cpuMs.node) / count,
      temporal: sum(({ cpuMs }) => cpuMs.temporal) / count,
      postgres: sum(({ cpuMs }) => cpuMs.postgres) / count,
      simulator: sum(({ cpuMs }) => cpuMs.simulator) / count,
    },
    commits: sum(({ commits }) => commits) / count,
    othersShare: sum(({ othersMs }) => othersMs) / sum(({ machineMs }) => machineMs),
  };
}

/**
 * How the rate of one load compares to that of another, as the median over rounds. Both of a round run within seconds of
 * each other, so that a neighbour's work on the machine weighs on both.
 */
export function rateRatio(samples: readonly Sample[], base: readonly Sample[]): number {
  const ratios = samples.flatMap((sample, round) => {
    const other = base[round];
    return other === undefined ? [] : [rateOf(sample) / rateOf(other)];
  });
  return percentile(ratios, 0.5);
}

function rateOf({ milliseconds, elapsedMs }: Sample): number {
  return milliseconds.length / elapsedMs;
}
