import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const SOURCE_FOLDERS = ['workflows', 'domain'];

/** `.ts` in a checkout, `.js` in a build. */
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

/** The file that a bundle begins with. */
export const WORKFLOWS_ENTRY = join(HERE, '..', 'workflows', `index${EXTENSION}`);

/** Where the bundle of the present workflows is kept: its name is a hash of all their sources and of the SDK's version. */
export function bundlePath(cacheFolder: string): string {
  const hash = createHash('sha256').update(sdkVersion());
  for (const folder of SOURCE_FOLDERS) {
    const path = resolve(HERE, '..', folder);
    for (const file of readdirSync(path)
      .filter((name) => name.endsWith(EXTENSION))
      .sort()) {
      hash.update(file).update(readFileSync(join(path, file)));
    }
  }
  return join(cacheFolder, `workflows-${hash.digest('hex').slice(0, 16)}.js`);
}

function sdkVersion(): string {
  const manifest = createRequire(import.meta.url)('@temporalio/worker/package.json') as { readonly version: string };
  return manifest.version;
}
