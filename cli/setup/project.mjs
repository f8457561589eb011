import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the checkout. Not from `import.meta.dirname`: an older Node must get as far as being told that it is too old. */
export const PROJECT_FOLDER = outsideBuild(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

/** The build puts a copy of this into dist/, and what belongs to the project is one folder further up then. */
function outsideBuild(folder) {
  return basename(folder) === 'dist' ? dirname(folder) : folder;
}

/** Everything that paidonce makes by itself and that may be deleted. Ignored by Git. */
const STATE_FOLDER = join(PROJECT_FOLDER, '.paidonce');

/** Where fetched programs are kept; several checkouts may share one through PAIDONCE_CACHE. */
export function programsFolder(environment = process.env) {
  return environment.PAIDONCE_CACHE ? resolve(environment.PAIDONCE_CACHE) : join(STATE_FOLDER, 'programs');
}

/** A set-up that cannot go on, as one sentence that says what to do. Shown without a stack trace. */
export class SetupError extends Error {
  constructor(message) {
    super(message);
    this.name = 'SetupError';
  }
}

/** One line about work that is being done. On standard error: standard output belongs to results. */
export function say(line) {
  process.stderr.write(`paidonce set-up: ${line}\n`);
}
