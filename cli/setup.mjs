#!/usr/bin/env node
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { provideProgram } from './setup/fetch-programs.mjs';
import { installPackages } from './setup/packages.mjs';
import { SetupError } from './setup/project.mjs';

export { findPrograms } from './setup/find-programs.mjs';
export { SetupError } from './setup/project.mjs';

const OLDEST_NODE = [20, 19];
const PROGRAMS = ['temporal', 'temporalTestServer'];

/**
 * Brings a checkout to where everything else can run: the right Node, the locked packages, the Temporal programs. Uses
 * Node's own modules only, because it runs before there are any others. Says on standard error what it installs; says
 * nothing when all is in place, unless `quiet` is false.
 * @param options.needs which Temporal programs must be there: of 'temporal' and 'temporalTestServer', by default both
 * @throws SetupError one sentence that says what is missing and how to get it
 */
export async function setUp({ quiet = true, needs = PROGRAMS } = {}) {
  checkNode(process.versions.node);
  await installPackages();
  for (const name of needs) await provideProgram(name);
  if (!quiet) process.stderr.write('paidonce set-up: everything is in place\n');
}

/** @throws SetupError when this Node cannot run the project */
export function checkNode(version) {
  const [major, minor] = version.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw new SetupError(
    `paidonce needs Node.js ${OLDEST_NODE.join('.')} or newer, and this is ${version}; install a newer one from nodejs.org.`,
  );
}

/** Runs set-up as a command: exit code 0 or 1, and a sentence instead of a stack trace for what a person can put right. */
async function main() {
  try {
    await setUp({ quiet: false });
  } catch (error) {
    process.stderr.write(error instanceof SetupError ? `paidonce set-up: ${error.message}\n` : `${error.stack}\n`);
    process.exitCode = 1;
  }
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await main();
