import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PROJECT_FOLDER } from '../house/rules/source-files.ts';
import { BUGS } from './bugs.ts';

/** Each half runs in a process of its own, by the command that a person types to play a seed again. */
const HALVES = 2;
const SEEDS = 300;
/** Seeds that once failed, kept for ever; docs/reliability.md says what each of them found. */
const REGRESSIONS = [5, 6, 7, 101, 1_017, 2_038];
const BUG_SEEDS = 60;

interface Finding {
  readonly name: string;
  readonly caughtBy: string | null;
  readonly seeds: number;
}

async function simulate(...parameters: readonly string[]): Promise<unknown> {
  const program = join(PROJECT_FOLDER, 'test', 'simulation', 'main.ts');
  const call = promisify(execFile)(process.execPath, ['--import', 'tsx', program, '--json', ...parameters], {
    cwd: PROJECT_FOLDER,
    maxBuffer: 64 * 1024 * 1024,
  });
  // It ends with 1 when it has found something, which is what the output tells.
  const { stdout } = await call.catch((error: unknown) => error as { stdout: string });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

interface Played {
  readonly seeds: number;
  readonly failures: readonly { readonly seed: number }[];
}

describe('three simulated days a seed, with faults', () => {
  it(`${SEEDS} seeds break no invariant`, async () => {
    const each = SEEDS / HALVES;
    const halves = await Promise.all(
      Array.from(
        { length: HALVES },
        (_, half) => simulate('--seed', String(1 + half * each), '--seeds', String(each)) as Promise<Played>,
      ),
    );
    expect(halves.flatMap(({ failures }) => failures)).toEqual([]);
    expect(halves.reduce((sum, { seeds }) => sum + seeds, 0)).toBe(SEEDS);
  });

  it.each(REGRESSIONS)('seed %i, which once failed, goes well', async (seed) => {
    const { failures } = (await simulate('--seed', String(seed))) as Played;
    expect(failures).toEqual([]);
  });
});

describe('the oracle is awake', () => {
  it(`each of ${BUGS.length} deliberate bugs is noticed within ${BUG_SEEDS} seeds`, async () => {
    const names = Array.from({ length: HALVES }, (_, half) => BUGS.filter((_bug, index) => index % HALVES === half));
    const found = await Promise.all(
      names.map((bugs) => simulate('--bug', bugs.map(({ name }) => name).join(), '--seeds', String(BUG_SEEDS))),
    );
    const missed = (found as Finding[][]).flat().filter(({ caughtBy }) => caughtBy === null);
    expect(missed.map(({ name }) => name)).toEqual([]);
    expect(BUGS.length).toBeGreaterThanOrEqual(15);
  });
});
