import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { PROJECT_FOLDER, SetupError, say } from './project.mjs';
import { lastLine, run } from './run.mjs';

const STAMP_NAME = '.paidonce-lock';

/**
 * Installs the locked packages when they are missing or other than locked, and puts the `paidonce` command among them.
 * Costs a few milliseconds when all is in place.
 * @throws SetupError when npm is missing or fails
 */
export async function installPackages(folder = PROJECT_FOLDER) {
  if (!arePackagesFresh(folder)) {
    await withLock(join(folder, '.paidonce', 'setup.lock'), async () => {
      // Another process may have installed while this one waited.
      if (!arePackagesFresh(folder)) await install(folder);
    });
  }
  linkCommand(folder);
}

/** Whether node_modules holds what package-lock.json says, for this platform. Writes the stamp that makes the next look fast. */
export function arePackagesFresh(folder = PROJECT_FOLDER) {
  const lock = readFileSync(join(folder, 'package-lock.json'));
  const expected = `${createHash('sha256').update(lock).digest('hex')} ${process.platform}-${process.arch}\n`;
  const stamp = join(folder, 'node_modules', STAMP_NAME);
  const found = readIfThere(stamp);
  if (found === expected) return true;
  // Another platform's packages (a folder copied into a container) carry the same versions but other binaries.
  if (found !== null && found.split(' ')[1] !== expected.split(' ')[1]) return false;
  // No stamp, or an older one: `npm install` by hand is as good as ours when npm's own record says the same.
  if (!isAsLocked(JSON.parse(lock.toString()), readIfThere(join(folder, 'node_modules', '.package-lock.json'))))
    return false;
  writeFileSync(stamp, expected);
  return true;
}

function isAsLocked(lock, record) {
  if (record === null) return false;
  const installed = JSON.parse(record).packages;
  return Object.entries(lock.packages).every(([place, locked]) => {
    if (place === '') return true;
    const present = installed[place];
    // Optional packages are those of other platforms, which npm leaves out.
    return present === undefined ? locked.optional === true : present.version === locked.version;
  });
}

async function install(folder) {
  say('installing the locked packages with npm ci (about a minute, once)');
  const [command, ...first] = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
  // --include: an npm set to leave out development packages would leave out what runs the TypeScript.
  const parameters = [
    ...first,
    'ci',
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  const { code, output } = await run(command, parameters, { folder, show: true, environment: withoutProductionMode() });
  if (code === null) throw new SetupError('npm was not found; install it (it comes with Node.js) and run this again.');
  if (code !== 0)
    throw new SetupError(
      `npm ci failed (${lastLine(output)}); check the network or the npm registry setting and run this again.`,
    );
  if (!arePackagesFresh(folder)) {
    throw new SetupError(
      'npm ci ended well, but node_modules is not what package-lock.json says; delete node_modules and run this again.',
    );
  }
}

function withoutProductionMode() {
  const { NODE_ENV: _, ...rest } = process.env;
  return rest;
}

/**
 * Makes `npx paidonce` work in the checkout. npm 11 finds a project's own command by package.json, if it is executable;
 * older ones and package scripts look into node_modules/.bin only.
 */
function linkCommand(folder) {
  const target = join('..', '..', 'cli', 'paidonce.mjs');
  const link = join(folder, 'node_modules', '.bin', 'paidonce');
  if (linkTarget(link) === target) return;
  mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true });
  chmodSync(join(folder, 'cli', 'paidonce.mjs'), 0o755);
  rmSync(link, { force: true });
  try {
    symlinkSync(target, link);
  } catch (error) {
    // Two processes made the link at once: the other one's is as good.
    if (error.code !== 'EEXIST') throw error;
  }
}

function linkTarget(path) {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : null;
  } catch {
    return null;
  }
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}
