import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { PROJECT_FOLDER } from './rules/source-files.ts';

const CONFIGURATION = join(PROJECT_FOLDER, '.dependency-cruiser.cjs');
const CRUISER = join(PROJECT_FOLDER, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs');

interface Violation {
  readonly rule: { readonly name: string };
  readonly from: string;
}

/** Runs dependency-cruiser in a folder by this project's rules and returns the rules broken, as `rule: file`. */
function findViolations(folder: string): string[] {
  const parameters = [CRUISER, '--config', CONFIGURATION, '--output-type', 'json', '.'];
  const { stdout, stderr } = spawnSync(process.execPath, parameters, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (stdout === '') throw new Error(`dependency-cruiser said nothing: ${stderr}`);
  const { summary } = JSON.parse(stdout) as { summary: { violations: Violation[]; totalCruised: number } };
  if (summary.totalCruised === 0) throw new Error('dependency-cruiser found no file');
  return summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`);
}

it('no import of this project goes against an arrow, and there is no cycle', () => {
  expect(findViolations(PROJECT_FOLDER)).toEqual([]);
});

describe('each rule can fail:', () => {
  /** For each rule a file that breaks it; the files that are imported exist below. */
  const BAD_FILES: Readonly<Record<string, readonly [path: string, text: string]>> = {
    'domain-arrows': ['domain/bad.ts', "import { readFileSync } from 'node:fs';"],
    'workflows-arrows': ['workflows/bad.ts', "import type { Charge } from '../activities/charge.ts';"],
    'activities-arrows': ['activities/bad.ts', "import { purchase } from '../workflows/index.ts';"],
    'gateways-arrows': ['gateways/bad.ts', "import { orders } from '../store/orders.ts';"],
    'store-arrows': ['store/bad.ts', "import { http } from '../gateways/http.ts';"],
    'process-arrows': ['process/bad.ts', "import { orders } from '../store/orders.ts';"],
    'api-arrows': ['api/bad.ts', "import { http } from '../gateways/http.ts';"],
    'worker-arrows': ['worker/bad.ts', "import { api } from '../api/main.ts';"],
    'embedded-arrows': ['embedded/bad.ts', "import { orders } from '../store/orders.ts';"],
    'cli-arrows': ['cli/bad.ts', "import { helper } from '../test/helper.ts';"],
    'pg-has-an-owner': ['api/bad-pg.ts', "import pg from 'pg';"],
    'fastify-has-an-owner': ['worker/bad-fastify.ts', "import { fastify } from 'fastify';"],
    'undici-has-an-owner': ['store/bad-undici.ts', "import { request } from 'undici';"],
    'temporal-workflow-has-an-owner': ['activities/bad-sdk.ts', "import { sleep } from '@temporalio/workflow';"],
    'temporal-activity-has-an-owner': ['api/bad-sdk.ts', "import { Context } from '@temporalio/activity';"],
    'temporal-worker-has-an-owner': ['api/bad-worker.ts', "import { Worker } from '@temporalio/worker';"],
    'temporal-client-has-an-owner': ['activities/bad-client.ts', "import { Client } from '@temporalio/client';"],
    'no-cycles': ['domain/cycle-back.ts', "import type { Cycle } from './cycle.ts';\nexport type Back = Cycle;"],
    'no-unknown-folder': ['helpers/bad.ts', "import { money } from '../domain/money.ts';"],
    'tests-are-not-imported': ['store/bad-test.ts', "import { helper } from '../test/helper.ts';"],
    'gateways-are-separate': ['gateways/stripe/bad.ts', "import { adapter } from '../simulator/adapter.ts';"],
    'simulator-is-an-outside-program': [
      'worker/bad-ledger.ts',
      "import { l } from '../gateways/simulator/server/main.ts';",
    ],
    'simulator-knows-no-product': ['gateways/simulator/server/bad.ts', "import { adapter } from '../adapter.ts';"],
    'no-unresolvable': ['domain/lost.ts', "import { nothing } from './nowhere.ts';"],
    'no-development-package-in-the-product': ['store/bad-dev.ts', "import { check } from 'fast-check';"],
  };

  const OTHER_FILES: Readonly<Record<string, string>> = {
    'domain/money.ts': 'export const money = 1;',
    'domain/cycle.ts': "import type { Back } from './cycle-back.ts';\nexport type Cycle = Back;",
    'activities/charge.ts': 'export type Charge = 1;',
    'workflows/index.ts': 'export const purchase = 1;',
    'store/orders.ts': "import pg from 'pg';\nexport const orders = pg;",
    'gateways/http.ts': "import { request } from 'undici';\nexport const http = request;",
    'gateways/simulator/adapter.ts': "import { http } from '../http.ts';\nexport const adapter = http;",
    'gateways/simulator/server/main.ts': "import { fastify } from 'fastify';\nexport const l = fastify;",
    'api/main.ts': "import { orders } from '../store/orders.ts';\nexport const api = orders;",
    'cli/good.ts': "import { api } from '../api/main.ts';\nexport const cli = api;",
    'test/helper.ts': "import { check } from 'fast-check';\nexport const helper = check;",
    'tsconfig.json': '{}',
    'package.json': JSON.stringify({
      type: 'module',
      dependencies: Object.fromEntries(
        [
          'pg',
          'fastify',
          'undici',
          '@temporalio/workflow',
          '@temporalio/activity',
          '@temporalio/worker',
          '@temporalio/client',
        ].map((name) => [name, '1.0.0']),
      ),
      devDependencies: { 'fast-check': '1.0.0' },
    }),
  };

  const folder = mkdtempSync(join(tmpdir(), 'paidonce-house-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }

  for (const [path, text] of [...Object.values(BAD_FILES), ...Object.entries(OTHER_FILES)]) write(path, text);
  const { dependencies, devDependencies } = JSON.parse(OTHER_FILES['package.json']!) as Record<string, object>;
  for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' }));
    write(`node_modules/${name}/index.js`, 'module.exports = {};');
  }
  const violations = findViolations(folder);

  it.each(Object.entries(BAD_FILES))('%s', (rule, [path]) => {
    expect(violations).toContain(`${rule}: ${path}`);
  });

  it('and only the bad files are found', () => {
    const bad = new Set(Object.values(BAD_FILES).map(([path]) => path));
    expect(violations.filter((violation) => !bad.has(violation.split(': ')[1]!))).toEqual([]);
  });

  it('and no rule is without such a proof', () => {
    const { forbidden } = createRequire(import.meta.url)(CONFIGURATION) as { forbidden: { name: string }[] };
    expect(forbidden.map(({ name }) => name).sort()).toEqual(Object.keys(BAD_FILES).sort());
  });
});
