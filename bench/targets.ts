/** Something that has to hold, and what was measured. */
export interface Target {
  readonly name: string;
  readonly measured: number;
  readonly limit: number;
  readonly is: 'at least' | 'at most' | 'below';
  readonly unit: string;
}

export interface Measured {
  /** Purchases with 16 in flight at a gateway of 0 ms, against empty workflows with 16 in flight. */
  readonly ratioToFloor: number;
  /** Median of a purchase at the 50 ms gateway with 1 in flight, less the median of the gateway's own call. */
  readonly addedMs: number;
  readonly commits: number;
  readonly healthyMaxMs: number;
  /** Of the pays of a final order while Temporal stood still, how many were answered. */
  readonly answeredWithoutTemporal: number;
}

export function targetsFor(measured: Measured): readonly Target[] {
  return [
    {
      name: 'rate of purchases at 16 in flight, of that of an empty workflow',
      measured: measured.ratioToFloor,
      limit: 0.6,
      is: 'at least',
      unit: 'times',
    },
    { name: 'added to the 50 ms call, median', measured: measured.addedMs, limit: 25, is: 'at most', unit: 'ms' },
    { name: 'durable commits a purchase', measured: measured.commits, limit: 3, is: 'at most', unit: 'commits' },
    {
      name: 'an order at a healthy gateway beside the slow one, slowest',
      measured: measured.healthyMaxMs,
      limit: 1_000,
      is: 'below',
      unit: 'ms',
    },
    {
      name: 'repeated pays of a final order answered without Temporal, share',
      measured: measured.answeredWithoutTemporal,
      limit: 1,
      is: 'at least',
      unit: 'times',
    },
  ];
}

/** Rounded as it is shown, so that what reads "3.00 of at most 3" never counts as a miss for a transaction of somebody else's. */
export function isReached({ measured, limit, is }: Target): boolean {
  const rounded = Math.round(measured * 100) / 100;
  switch (is) {
    case 'at least':
      return rounded >= limit;
    case 'at most':
      return rounded <= limit;
    case 'below':
      return rounded < limit;
  }
}
