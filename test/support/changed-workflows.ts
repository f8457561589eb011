import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';

/** A piece of text that stands exactly once in a file of workflows/ or domain/, and what is put in its place. */
export interface Change {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const ROOT = join(import.meta.dirname, '..', '..');
const SOURCE_FOLDERS = ['workflows', 'domain'];
const ignore = (): void => undefined;
const SILENT = { log: ignore, trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

/**
 * Builds the workflows with some text changed, as a careless deployment would. The copy stands inside the project,
 * where the packages that it imports are found, and is gone afterwards.
 */
export async function changedBundle(changes: readonly Change[]): Promise<{ readonly code: string }> {
  const cache = join(ROOT, '.paidonce', 'cache');
  mkdirSync(cache, { recursive: true });
  const copy = mkdtempSync(join(cache, 'changed-workflows-'));
  try {
    for (const folder of SOURCE_FOLDERS) cpSync(join(ROOT, folder), join(copy, folder), { recursive: true });
    for (const change of changes) apply(copy, change);
    const { code } = await bundleWorkflowCode({
      workflowsPath: join(copy, 'workflows', 'index.ts'),
      logger: SILENT,
    });
    return { code };
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
