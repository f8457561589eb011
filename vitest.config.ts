import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './test/support/summary-reporter.ts';

const DATABASE = ['./test/support/global-setup.ts'];

interface ProjectPlan {
  readonly name: string;
  /** Groups run one after the other, so that a storm in one test never lengthens a time another one measures. */
  readonly group: number;
  readonly files: 'side_by_side' | 'one_by_one';
  readonly timeoutSeconds: number;
  readonly globalSetup?: readonly string[];
}

/** One project per folder below test/. Only the folders that need Postgres start it. */
const PLANS: readonly ProjectPlan[] = [
  { name: 'unit', group: 0, files: 'side_by_side', timeoutSeconds: 20 },
  { name: 'house', group: 0, files: 'side_by_side', timeoutSeconds: 120 },
  { name: 'gateways', group: 1, files: 'side_by_side', timeoutSeconds: 60 },
  { name: 'store', group: 2, files: 'side_by_side', timeoutSeconds: 30, globalSetup: DATABASE },
  { name: 'api', group: 2, files: 'side_by_side', timeoutSeconds: 30, globalSetup: DATABASE },
  { name: 'embedded', group: 3, files: 'one_by_one', timeoutSeconds: 90 },
  { name: 'workflows', group: 4, files: 'one_by_one', timeoutSeconds: 90, globalSetup: DATABASE },
  // Two processes of its own, each as busy as a core allows.
  { name: 'simulation', group: 6, files: 'one_by_one', timeoutSeconds: 400 },
  { name: 'end-to-end', group: 5, files: 'one_by_one', timeoutSeconds: 180, globalSetup: DATABASE },
];

const summaryFile = process.env.PAIDONCE_TEST_SUMMARY;

export default defineConfig({
  test: {
    reporters: ['default', ...(summaryFile === undefined ? [] : [new SummaryReporter(summaryFile)])],
    teardownTimeout: 30_000,
    projects: PLANS.map(({ name, group, files, timeoutSeconds, globalSetup = [] }) => ({
      test: {
        name,
        include: [`test/${name}/**/*.test.ts`],
        exclude: ['**/node_modules/**', '**/dist/**', '**/.paidonce/**'],
        // Never threads: Temporal's native part and process.kill work on whole processes.
        pool: 'forks' as const,
        maxWorkers: files === 'side_by_side' ? 2 : 1,
        sequence: { groupOrder: group },
        testTimeout: timeoutSeconds * 1_000,
        hookTimeout: Math.max(timeoutSeconds, 60) * 1_000,
        globalSetup: [...globalSetup],
      },
    })),
  },
});
