import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const LARGEST_LOG_BYTES = 10 * 1024 * 1024;
const TAIL_LINES = 15;
const TAIL_CHARACTERS = 2_000;

/** A file's text, or null when there is no such file. */
export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Writes a file that only its owner may read, whole or not at all: a reader never sees half of it. */
export function writePrivateFile(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, content, { mode: 0o600 });
  renameSync(draft, path);
}

/** A random secret that is made on first use and then stays the same: what it protects outlives a restart. */
export function keptSecret(path: string, prefix = ''): string {
  const kept = readIfThere(path);
  if (kept !== null && kept !== '') return kept;
  const made = `${prefix}${randomBytes(32).toString('base64url')}`;
  writePrivateFile(path, made);
  return made;
}

/** Sets a log that has grown large aside, so that a stack that is started every day does not fill the disk. */
export function rotateLog(path: string): void {
  try {
    if (statSync(path).size > LARGEST_LOG_BYTES) renameSync(path, `${path}.old`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** The last lines of a log on one line, for the error that says why a part did not start. */
export function logTail(path: string): string {
  const text = readIfThere(path)?.trim() ?? '';
  return text === ''
    ? `its log ${path} is empty`
    : `its log ends: ${text.split('\n').slice(-TAIL_LINES).join(' | ').slice(-TAIL_CHARACTERS)}`;
}
