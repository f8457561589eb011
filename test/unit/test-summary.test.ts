import { describe, expect, it } from 'vitest';
import { type ReportedModule, summarize } from '../support/summary-reporter.ts';

function reported(state: string, tests: readonly string[], seconds = 1): ReportedModule {
  return {
    relativeModuleId: `test/unit/${state}.test.ts`,
    state: () => state,
    diagnostic: () => ({ duration: seconds * 1_000, collectDuration: 200, setupDuration: 0 }),
    children: {
      allTests: () => tests.map((result, index) => ({ fullName: `case ${index}`, result: () => ({ state: result }) })),
    },
  };
}

describe('the closing line of npm test', () => {
  it.each([
    ['passed tests', reported('passed', ['passed', 'passed']), { passed: 2, failed: 0 }],
    ['failed tests', reported('failed', ['passed', 'failed', 'failed']), { passed: 1, failed: 2 }],
    ['a file that could not be loaded', reported('failed', []), { passed: 0, failed: 1 }],
    ['a hook that failed after good tests', reported('failed', ['passed', 'passed']), { passed: 2, failed: 1 }],
    ['a test that never ended', reported('pending', ['passed', 'pending']), { passed: 1, failed: 1 }],
    ['a file that was never begun', reported('queued', []), { passed: 0, failed: 1 }],
    ['nothing but skipped tests', reported('skipped', ['skipped']), { passed: 0, failed: 0 }],
  ])('counts %s', (_, module, counts) => {
    expect(summarize([module], 0)).toMatchObject(counts);
  });

  it('adds up the files, and errors that belong to none', () => {
    expect(summarize([reported('passed', ['passed']), reported('failed', ['failed'])], 3)).toMatchObject({
      passed: 1,
      failed: 4,
    });
  });

  it('names skipped tests with their file', () => {
    expect(summarize([reported('passed', ['passed', 'skipped'])], 0).skipped).toEqual([
      'test/unit/passed.test.ts > case 1',
    ]);
  });

  it('lists the ten slowest files, slowest first', () => {
    const modules = Array.from({ length: 15 }, (_, index) => reported('passed', ['passed'], index));
    const { slowest } = summarize(modules, 0);
    expect(slowest.map(({ seconds }) => seconds)).toEqual([14.2, 13.2, 12.2, 11.2, 10.2, 9.2, 8.2, 7.2, 6.2, 5.2]);
  });
});
