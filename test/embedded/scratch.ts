import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder of this one test, removed when it ends. Every user may enter it: as root, Postgres runs as another one. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'paidonce-embedded-test-'));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));
  return folder;
}

/** Asks again and again until the answer is yes. @throws when it is still no after ten seconds */
export async function eventually(isTrue: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`Still not so after ten seconds: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
