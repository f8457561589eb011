import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { POINTS, type PointName, reach } from '../../process/points.ts';
import { listSourceFiles, PROJECT_FOLDER } from '../house/rules/source-files.ts';

/** Where each point is placed: once, and where its name says. */
const PLACES: Readonly<Record<PointName, string>> = {
  pay_received: 'api/routes/pay.ts',
  start_due: 'api/pay.ts',
  attempt_begun: 'activities/purchase/make-attempt.ts',
  claim_committed: 'activities/purchase/make-attempt.ts',
  send_permitted: 'activities/purchase/charge.ts',
  answer_received: 'activities/purchase/send.ts',
  answer_recorded: 'activities/purchase/charge.ts',
  inquiry_answered: 'activities/purchase/inquire.ts',
  commit_due: 'store/transaction.ts',
  committed: 'store/transaction.ts',
};

const product = listSourceFiles().filter(({ path }) => path.endsWith('.ts') && !path.startsWith('test/'));
const folder = mkdtempSync(join(tmpdir(), 'paidonce-points-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the points along an order', () => {
  it.each(Object.keys(POINTS))('%s is placed once, where the table says', (name) => {
    const places = product.flatMap(({ path, text }) =>
      text
        .split(`await reach('${name}'`)
        .slice(1)
        .map(() => path),
    );
    expect(places).toEqual([PLACES[name as PointName]]);
  });

  it('no other call of reach is in the product', () => {
    const calls = product.flatMap(({ text }) => [...text.matchAll(/\breach\('/g)]);
    expect(calls).toHaveLength(Object.keys(POINTS).length);
  });

  it('do nothing unless the process was started with a folder of plans', async () => {
    const plan = join(folder, 'claim_committed@idle');
    writeFileSync(plan, '{"do":"throw","message":"struck"}');
    await reach('claim_committed', 'idle');
    expect(existsSync(plan)).toBe(true);
  });
});

/** Comes to a point in a process of its own. */
function come(subject: string, variables: Readonly<Record<string, string>> = {}) {
  const module = pathToFileURL(join(PROJECT_FOLDER, 'process', 'points.ts')).href;
  const code = `const { reach } = await import('${module}'); await reach('claim_committed', '${subject}'); console.log('on');`;
  return spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
    cwd: PROJECT_FOLDER,
    env: { ...process.env, TEST_FAULTS_FOLDER: folder, ...variables },
    encoding: 'utf8',
  });
}

describe('a plan', () => {
  it('strikes the one order that it names, once', () => {
    writeFileSync(join(folder, 'claim_committed@one'), '{"do":"kill"}');
    expect(come('another').stdout).toBe('on\n');
    expect(come('one').signal).toBe('SIGKILL');
    expect(existsSync(join(folder, 'claim_committed@one.reached'))).toBe(true);
    expect(come('one').stdout).toBe('on\n');
  });

  it('can raise the error of a lost connection', () => {
    writeFileSync(join(folder, 'claim_committed@two'), '{"do":"throw","message":"cut","code":"ECONNRESET"}');
    expect(come('two').stderr).toContain("code: 'ECONNRESET'");
  });

  it('is refused in production', () => {
    expect(come('three', { NODE_ENV: 'production' }).stderr).toContain('unset it in production');
  });
});
