import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `npm test`: sets the checkout up, runs every test (or those that the arguments name) and ends with the line
 * `N passed, N failed`, alone and last, whatever happened before it. Uses Node's own modules only, because on a fresh
 * clone there are no others yet.
 */
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');

const scratch = mkdtempSync(join(tmpdir(), 'paidonce-test-run-'));
const summaryFile = join(scratch, 'summary.json');

try {
  await main(process.argv.slice(2));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function main(parameters) {
  const setUp = await run([join(ROOT, 'cli', 'setup.mjs')]);
  if (setUp !== 0) return close({ passed: 0, failed: 1, skipped: [], slowest: [] }, setUp);
  const exitCode = await run([VITEST, 'run', ...parameters]);
  close(readSummary(), exitCode, parameters);
}

/** Runs one Node program to its end and hands on what stops it, so that Vitest can tear down what it started. */
function run(parameters) {
  const child = spawn(process.execPath, parameters, { cwd: ROOT, stdio: 'inherit', env: environment() });
  const pass = (signal) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, pass);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeListener(name, pass);
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

/** The colour library takes CI=true for a terminal, so a log file would be full of escape codes. */
function environment() {
  const colours = process.stdout.isTTY ? {} : { NO_COLOR: '1' };
  return { ...process.env, ...colours, PAIDONCE_TEST_SUMMARY: summaryFile };
}

/** No file means that Vitest itself did not get to its end: that counts as one failure. */
function readSummary() {
  try {
    return JSON.parse(readFileSync(summaryFile, 'utf8'));
  } catch {
    return { passed: 0, failed: 1, skipped: [], slowest: [] };
  }
}

function close({ passed, failed, skipped, slowest }, exitCode, parameters = []) {
  const chosenByName = parameters.some((parameter) => parameter === '-t' || parameter.startsWith('--testNamePattern'));
  const lines = ['', 'Slowest files:', ...slowest.map(({ file, seconds }) => `  ${seconds.toFixed(1)} s  ${file}`)];
  if (!chosenByName && skipped.length > 0) lines.push('', 'Skipped:', ...skipped.map((name) => `  ${name}`));
  // Vitest may fail without a failed test: a teardown that does not end, or no test at all.
  const failures = failed === 0 && exitCode !== 0 ? 1 : failed;
  process.stdout.write(`${lines.join('\n')}\n\n${passed} passed, ${failures} failed\n`);
  process.exitCode = failures > 0 || passed === 0 ? 1 : 0;
}
