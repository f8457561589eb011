import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** What a run of Vitest came to, written to a file for test/run.mjs, which prints it as the very last thing. */
export interface Summary {
  readonly passed: number;
  /** Failed tests, and files or hooks that failed outside any test, and errors that belong to no file. */
  readonly failed: number;
  readonly skipped: readonly string[];
  readonly slowest: readonly { readonly file: string; readonly seconds: number }[];
}

const SLOWEST_MAX = 10;

/** Vitest's own JSON reporter counts a file that could not be loaded as no test at all, so a broken file would look green. */
export class SummaryReporter implements Reporter {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    writeFileSync(this.#file, JSON.stringify(summarize(modules, unhandled.length)));
  }
}

/** The part of Vitest's report that the counts come from; a real TestModule fits. */
export interface ReportedModule {
  readonly relativeModuleId: string;
  state(): string;
  diagnostic(): { readonly duration: number; readonly collectDuration: number; readonly setupDuration: number };
  readonly children: {
    allTests(): Iterable<{ readonly fullName: string; result(): { readonly state: string } }>;
  };
}

export function summarize(modules: readonly ReportedModule[], unhandledErrors: number): Summary {
  const counts = modules.map(countModule);
  return {
    passed: counts.reduce((sum, count) => sum + count.passed, 0),
    failed: counts.reduce((sum, count) => sum + count.failed, unhandledErrors),
    skipped: counts.flatMap((count) => count.skipped),
    slowest: modules
      .map((module) => ({ file: module.relativeModuleId, seconds: secondsOf(module) }))
      .sort((left, right) => right.seconds - left.seconds)
      .slice(0, SLOWEST_MAX),
  };
}

function countModule(module: ReportedModule): { passed: number; failed: number; skipped: string[] } {
  const tests = [...module.children.allTests()].map((test) => ({ name: test.fullName, state: test.result().state }));
  const passed = tests.filter(({ state }) => state === 'passed').length;
  const skipped = tests.filter(({ state }) => state === 'skipped').map(({ name }) => name);
  const unfinished = tests.length - passed - skipped.length;
  const brokenOutsideTests = unfinished === 0 && !['passed', 'skipped'].includes(module.state());
  return {
    passed,
    failed: unfinished + (brokenOutsideTests ? 1 : 0),
    skipped: skipped.map((name) => `${module.relativeModuleId} > ${name}`),
  };
}

function secondsOf(module: ReportedModule): number {
  const { duration, collectDuration, setupDuration } = module.diagnostic();
  return Math.round((duration + collectDuration + setupDuration) / 100) / 10;
}
