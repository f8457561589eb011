#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const COMPILED = join(HERE, '..', 'dist', 'cli', 'main.js');
const SOURCE = join(HERE, 'main.ts');

/** A production image holds the compiled program and no TypeScript; it was set up when it was built. */
if (!existsSync(SOURCE) && existsSync(COMPILED)) {
  await import(COMPILED);
} else {
  await runFromSource();
}

async function runFromSource() {
  const { setUp, SetupError } = await import('./setup.mjs');
  try {
    // The programs are fetched by the commands that start them; asking for help or an order must not wait for 100 MB.
    await setUp({ needs: needsDevServer(process.argv, process.env) ? ['temporal'] : [] });
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`paidonce set-up: ${error.message}\n`);
    process.exit(1);
  }
  const { register } = await import('tsx/esm/api');
  register();
  await import('./main.ts');
}

function needsDevServer(parameters, environment) {
  const command = parameters.slice(2).find((parameter) => !parameter.startsWith('-'));
  return command === 'start' && !environment.TEMPORAL_ADDRESS && !parameters.includes('--help');
}
