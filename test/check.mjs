import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * `npm run check`: everything that can be said about the code without running it. Prints a line for each check, the whole
 * output of those that failed, and ends with the line `N passed, N failed`.
 */
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const AT_ONCE = 2;

/** The slow ones first, so that two at a time end together. docs/decisions/0003-house-rules.md says what each is for. */
const CHECKS = [
  { name: 'lint (eslint)', program: 'eslint/bin/eslint.js', parameters: ['.', '--max-warnings', '0'] },
  { name: 'types (tsc)', program: 'typescript/bin/tsc', parameters: ['-p', 'tsconfig.json'] },
  {
    name: 'types of workflows, without Node (tsc)',
    program: 'typescript/bin/tsc',
    parameters: ['-p', 'workflows/tsconfig.json'],
  },
  { name: 'unused code and packages (knip)', program: 'knip/bin/knip.js', parameters: ['--no-progress'] },
  {
    name: 'arrows between folders (dependency-cruiser)',
    program: 'dependency-cruiser/bin/dependency-cruise.mjs',
    parameters: ['--config', '.dependency-cruiser.cjs', '.'],
  },
  {
    name: 'format and imports (biome)',
    program: '@biomejs/biome/bin/biome',
    parameters: ['check', '--error-on-warnings', '--max-diagnostics=50', '.'],
  },
];

await main();

async function main() {
  const waiting = [...CHECKS];
  const outcomes = [];
  const worker = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const outcome = await carryOut(check);
      report(check.name, outcome);
      outcomes.push(outcome);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const failed = outcomes.filter(({ passed }) => !passed).length;
  process.stdout.write(`\n${outcomes.length - failed} passed, ${failed} failed\n`);
  process.exitCode = failed > 0 ? 1 : 0;
}

async function carryOut({ program, parameters }) {
  const began = performance.now();
  const { exitCode, output } = await run([join(ROOT, 'node_modules', program), ...parameters]);
  return { passed: exitCode === 0, output, seconds: (performance.now() - began) / 1_000 };
}

function run(parameters) {
  const colours = process.stdout.isTTY ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' };
  const child = spawn(process.execPath, parameters, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...colours },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ exitCode: 1, output: String(error) }));
    child.once('close', (code) => resolve({ exitCode: code ?? 1, output }));
  });
}

function report(name, { passed, output, seconds }) {
  process.stdout.write(`${passed ? 'ok    ' : 'failed'}  ${seconds.toFixed(1).padStart(5)} s  ${name}\n`);
  if (!passed) process.stdout.write(`${output.trimEnd()}\n\n`);
}
