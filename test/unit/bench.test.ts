import { expect, test } from 'vitest';
import { cpuOfTree, type ProcessTimes, parseMachineStat, parseProcessStat } from '../../bench/cpu-time.ts';
import { figuresOf, rateRatio } from '../../bench/figures.ts';
import { timeAll } from '../../bench/load.ts';
import type { Sample } from '../../bench/meter.ts';
import { latencyOf, percentile } from '../../bench/percentiles.ts';
import { isReached, type Target } from '../../bench/targets.ts';

test('a percentile is a value that was seen, by nearest rank', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(latencyOf(hundred)).toEqual({ p50: 50, p95: 95, p99: 99, max: 100 });
  expect(latencyOf([7])).toEqual({ p50: 7, p95: 7, p99: 7, max: 7 });
  expect(percentile([3, 1], 0)).toBe(1);
  expect(() => percentile([], 0.5)).toThrow('Nothing was measured');
});

/** What Linux shows for a process with 120 and 30 ticks of its own, and 40 and 5 of children that have ended. */
function statLine(name: string, parent: number): string {
  return `4711 (${name}) S ${parent} 4711 4711 0 -1 4194560 100 200 0 0 120 30 40 5 20 0 11 0 12345 1000000 500`;
}

test.each(['node', 'a name with spaces', 'postgres: (checkpointer) ', ') S 1 1'])(
  'the times of a process named "%s" are read',
  (name) => {
    expect(parseProcessStat(statLine(name, 42))).toEqual({ parent: 42, milliseconds: 1_950 });
  },
);

test('the time of a tree is that of every process below its root and of nobody beside it', () => {
  const processes = new Map<number, ProcessTimes>([
    [1, { parent: 0, milliseconds: 5_000 }],
    [10, { parent: 1, milliseconds: 100 }],
    [11, { parent: 10, milliseconds: 20 }],
    [12, { parent: 11, milliseconds: 3 }],
    [20, { parent: 1, milliseconds: 700 }],
  ]);
  expect(cpuOfTree(10, processes)).toBe(123);
  expect(cpuOfTree(99, processes)).toBe(0);
});

test('the waiting of the machine is no work', () => {
  const text = 'cpu  100 5 50 800 40 1 2 2 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n';
  expect(parseMachineStat(text)).toEqual({ busyMs: 1_600, totalMs: 10_000 });
});

test('never more jobs are in flight than were asked for, and each is timed once', async () => {
  const state = { inFlight: 0, most: 0 };
  const { milliseconds, elapsedMs } = await timeAll(Array.from({ length: 20 }), 4, async () => {
    state.inFlight += 1;
    state.most = Math.max(state.most, state.inFlight);
    await new Promise((resolve) => setTimeout(resolve, 2));
    state.inFlight -= 1;
  });
  expect(state).toEqual({ inFlight: 0, most: 4 });
  expect(milliseconds).toHaveLength(20);
  expect(elapsedMs).toBeGreaterThanOrEqual(5 * 1.5);
});

test('a job that fails fails the measurement', async () => {
  const failing = timeAll([1, 2], 1, () => Promise.reject(new Error('refused')));
  await expect(failing).rejects.toThrow('refused');
});

function sample(values: Partial<Sample>): Sample {
  const cpuMs = { node: 0, temporal: 0, postgres: 0, simulator: 0 };
  return { milliseconds: [10, 20], elapsedMs: 100, cpuMs, commits: 6, othersMs: 20, machineMs: 200, ...values };
}

test('the figures of several rounds are those of all that was counted in them', () => {
  const cpuMs = { node: 8, temporal: 4, postgres: 2, simulator: 0 };
  const figures = figuresOf([sample({ cpuMs }), sample({ cpuMs, milliseconds: [30, 40], elapsedMs: 300 })]);
  expect(figures).toEqual({
    count: 4,
    perSecond: 10,
    latencyMs: { p50: 20, p95: 40, p99: 40, max: 40 },
    cpuMs: { node: 4, temporal: 2, postgres: 1, simulator: 0 },
    commits: 3,
    othersShare: 0.1,
  });
});

test('rates are compared within each round, and one bad round does not decide', () => {
  const base = [sample({ elapsedMs: 50 }), sample({ elapsedMs: 100 }), sample({ elapsedMs: 10 })];
  const samples = [sample({ elapsedMs: 100 }), sample({ elapsedMs: 200 }), sample({ elapsedMs: 1_000 })];
  expect(rateRatio(samples, base)).toBe(0.5);
});

test.each([
  { is: 'at least', measured: 0.6, reached: true },
  { is: 'at least', measured: 0.59, reached: false },
  { is: 'at most', measured: 0.604, reached: true },
  { is: 'at most', measured: 0.61, reached: false },
  { is: 'below', measured: 0.59, reached: true },
  { is: 'below', measured: 0.6, reached: false },
] as const)('$measured is $is 0.6: $reached', ({ is, measured, reached }) => {
  const target: Target = { name: 'a figure', unit: 'ms', limit: 0.6, is, measured };
  expect(isReached(target)).toBe(reached);
});
