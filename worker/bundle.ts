import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const HERE = dirname(fileURLToPath(import.meta.url));
const SOURCE_FOLDERS = ['workflows', 'domain'];

/**
 * The workflows' code as one file for the sandbox, built once and kept. Building takes three seconds and 150 MB, so a worker
 * takes the kept file when its name, a hash of all sources and of the SDK's version, says that nothing has changed.
 */
export async function workflowBundle(cacheFolder: string): Promise<{ readonly codePath: string }> {
  const codePath = join(cacheFolder, `workflows-${hashOfSources()}.js`);
  if (existsSync(codePath)) return { codePath };
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(HERE, '..', 'workflows', `index${extensionHere()}`),
    logger: silent,
  });
  mkdirSync(cacheFolder, { recursive: true });
  // Written aside and renamed: a process that starts at the same moment must never read half a file.
  const unfinished = `${codePath}.${process.pid}`;
  writeFileSync(unfinished, code);
  renameSync(unfinished, codePath);
  return { codePath };
}

function hashOfSources(): string {
  const hash = createHash('sha256').update(sdkVersion());
  for (const folder of SOURCE_FOLDERS) {
    const path = resolve(HERE, '..', folder);
    for (const file of readdirSync(path)
      .filter((name) => name.endsWith(extensionHere()))
      .sort()) {
      hash.update(file).update(readFileSync(join(path, file)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

/** `.ts` in a checkout, `.js` in a build. */
function extensionHere(): '.ts' | '.js' {
  return import.meta.url.endsWith('.ts') ? '.ts' : '.js';
}

function sdkVersion(): string {
  const manifest = createRequire(import.meta.url)('@temporalio/worker/package.json') as { readonly version: string };
  return manifest.version;
}

const ignore = (): void => undefined;
const silent = { log: ignore, trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
