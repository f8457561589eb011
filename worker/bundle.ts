import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { bundlePath, WORKFLOWS_ENTRY } from './bundle-path.ts';

/**
 * The workflows' code as one file for the sandbox, built once and kept. Building takes three seconds and 150 MB, so a worker
 * takes the kept file when its name says that nothing has changed.
 */
export async function workflowBundle(cacheFolder: string): Promise<{ readonly codePath: string }> {
  const codePath = bundlePath(cacheFolder);
  if (existsSync(codePath)) return { codePath };
  const { code } = await bundleWorkflowCode({ workflowsPath: WORKFLOWS_ENTRY, logger: silent });
  mkdirSync(dirname(codePath), { recursive: true });
  // Written aside and renamed: a process that starts at the same moment must never read half a file.
  const unfinished = `${codePath}.${process.pid}`;
  writeFileSync(unfinished, code);
  renameSync(unfinished, codePath);
  return { codePath };
}

const ignore = (): void => undefined;
const silent = { log: ignore, trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
