import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { createCallsInFlight as CreateCallsInFlight } from '../../activities/calls-in-flight.ts';
import type { createActivities as CreateActivities } from '../../activities/create-activities.ts';
import type { Change } from '../support/changed-workflows.ts';
import type { WorkflowType } from './temporal.ts';

/** The product's own code, as the simulation runs it. */
export interface Product {
  readonly createActivities: typeof CreateActivities;
  readonly workflows: Readonly<Record<string, WorkflowType>>;
  readonly createCallsInFlight: typeof CreateCallsInFlight;
  readonly inquiryScheduleSeconds: readonly number[];
}

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDERS = ['workflows', 'activities', 'store', 'domain', 'process', 'gateways'];
const ENTRIES = [
  'workflows/index.ts',
  'domain/inquiry-schedule.ts',
  'activities/create-activities.ts',
  'activities/calls-in-flight.ts',
];
const RUNTIME = (file: string): string => pathToFileURL(join(import.meta.dirname, 'runtime', file)).href;

/** Imports of the machine and of Temporal, and what stands in their place. Everything else of the product stays as it is. */
const REPLACED: Readonly<Record<string, string>> = {
  '@temporalio/workflow': RUNTIME('workflow.ts'),
  '@temporalio/activity': RUNTIME('activity.ts'),
  'node:timers/promises': RUNTIME('timers.ts'),
  uuid: RUNTIME('globals.ts'),
};

const MACHINE = `import { Date, setTimeout, clearTimeout, VirtualMath as Math } from '${RUNTIME('globals.ts')}'; `;
const WORKFLOW = `import { WorkflowDate as Date } from '${RUNTIME('workflow.ts')}'; `;
/** Folders whose code reads a clock, and which. Domain code is pure. */
const CLOCKS: Readonly<Record<string, string>> = { workflows: WORKFLOW, activities: MACHINE, store: MACHINE };

/**
 * Loads the product from a copy in which only the imports of Temporal and of the machine's clock are exchanged.
 * @param bug text of the product that is changed, to see whether the oracle notices
 */
export async function loadProduct(bug: readonly Change[] = []): Promise<Product> {
  const cache = join(ROOT, '.paidonce', 'cache');
  mkdirSync(cache, { recursive: true });
  const copy = mkdtempSync(join(cache, 'simulated-'));
  try {
    for (const folder of FOLDERS) cpSync(join(ROOT, folder), join(copy, folder), { recursive: true });
    for (const change of bug) apply(copy, change);
    for (const folder of FOLDERS) exchange(join(copy, folder), CLOCKS[folder] ?? '');
    writeFileSync(join(copy, 'process', 'points.ts'), `export { reach } from '${RUNTIME('globals.ts')}';\n`);
    const load = (path: string): Promise<Record<string, unknown>> => import(pathToFileURL(join(copy, path)).href);
    const [workflows, inquiries, ...others] = await Promise.all(ENTRIES.map(load));
    return {
      ...(Object.assign({}, ...others) as Omit<Product, 'workflows' | 'inquiryScheduleSeconds'>),
      workflows: workflows as Product['workflows'],
      inquiryScheduleSeconds: inquiries?.INQUIRY_SCHEDULE_SECONDS as readonly number[],
    };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function apply(copy: string, { file, from, to }: Change): void {
  const path = join(copy, file);
  const pieces = readFileSync(path, 'utf8').split(from);
  if (pieces.length !== 2) throw new Error(`${file} holds ${pieces.length - 1} times, not once: ${from}`);
  writeFileSync(path, pieces.join(to));
}

function exchange(folder: string, prelude: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const path = join(folder, name);
    const text = readFileSync(path, 'utf8').replaceAll(/from '([^']+)'/g, (whole, from: string) =>
      from in REPLACED ? `from '${REPLACED[from]}'` : whole,
    );
    writeFileSync(path, prelude + text);
  }
}
