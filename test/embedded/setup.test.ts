import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { withLock } from '../../cli/setup/lock.mjs';
import { arePackagesFresh } from '../../cli/setup/packages.mjs';
import { PROJECT_FOLDER } from '../../cli/setup/project.mjs';
import { checkNode, SetupError } from '../../cli/setup.mjs';
import { scratchFolder } from './scratch.ts';

const run = promisify(execFile);
const SETUP = join(PROJECT_FOLDER, 'cli', 'setup.mjs');
/** What the issue allows a second run to cost; a quiet machine needs a twentieth of it. */
const SECOND_RUN_MS = 2_000;

describe('the set-up as a whole', () => {
  it('costs less than two seconds when everything is in place, also for several at once', async () => {
    const began = performance.now();
    const { stderr } = await run(process.execPath, [SETUP]);
    expect(stderr).toBe('paidonce set-up: everything is in place\n');
    expect(performance.now() - began).toBeLessThan(SECOND_RUN_MS);
    const together = await Promise.all([1, 2, 3].map(() => run(process.execPath, [SETUP])));
    expect(together.map(({ stderr: said }) => said)).toEqual(
      Array(3).fill('paidonce set-up: everything is in place\n'),
    );
  });

  it('uses Node’s own modules only, since it runs before there are others', () => {
    const files = [
      'setup.mjs',
      ...execFileSync('ls', [join(PROJECT_FOLDER, 'cli', 'setup')], { encoding: 'utf8' }).split('\n'),
    ];
    const sources = files.filter((file) => file.endsWith('.mjs') && !file.endsWith('.d.mts'));
    const imported = sources.flatMap((file) => {
      const path = file === 'setup.mjs' ? SETUP : join(PROJECT_FOLDER, 'cli', 'setup', file);
      return [...readFileSync(path, 'utf8').matchAll(/from '([^']+)'/g)].map(([, name]) => name);
    });
    expect(imported.length).toBeGreaterThan(20);
    expect(imported.filter((name) => !/^(node:|\.\.?\/)/.test(name ?? ''))).toEqual([]);
  });

  it.each(['18.20.4', '20.18.3'])('says in one sentence that Node %s is too old', (version) => {
    expect(() => checkNode(version)).toThrow(/^paidonce needs Node\.js 20\.19 or newer, and this is [\d.]+; install /);
  });

  it.each(['20.19.0', '22.0.0', '24.11.1'])('takes Node %s', (version) => {
    expect(() => checkNode(version)).not.toThrow();
  });

  it('makes the paidonce command run in the checkout', async () => {
    const { stdout } = await run(join(PROJECT_FOLDER, 'node_modules', '.bin', 'paidonce'), ['--version']);
    expect(stdout.trim()).toBe(JSON.parse(readFileSync(join(PROJECT_FOLDER, 'package.json'), 'utf8')).version);
  });
});

describe('locked packages', () => {
  const locked = {
    '': {},
    'node_modules/a': { version: '1.0.0' },
    'node_modules/other-platform': { version: '2.0.0', optional: true },
  };

  function project(installed: object | null): string {
    const folder = scratchFolder();
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: locked }));
    if (installed === null) return folder;
    mkdirSync(join(folder, 'node_modules'));
    writeFileSync(join(folder, 'node_modules', '.package-lock.json'), JSON.stringify({ packages: installed }));
    return folder;
  }

  it('are missing when nothing was installed', () => {
    expect(arePackagesFresh(project(null))).toBe(false);
  });

  it('are fresh when npm’s own record says the same, and known to be so from then on', () => {
    const folder = project({ 'node_modules/a': { version: '1.0.0' } });
    expect(arePackagesFresh(folder)).toBe(true);
    writeFileSync(join(folder, 'node_modules', '.package-lock.json'), 'no longer read');
    expect(arePackagesFresh(folder)).toBe(true);
  });

  it('are stale when a version differs, one is missing, or the lock file changed after the install', () => {
    expect(arePackagesFresh(project({ 'node_modules/a': { version: '0.9.0' } }))).toBe(false);
    expect(arePackagesFresh(project({}))).toBe(false);
    const folder = project({ 'node_modules/a': { version: '1.0.0' } });
    expect(arePackagesFresh(folder)).toBe(true);
    const changed = { ...locked, 'node_modules/b': { version: '1.0.0' } };
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: changed }));
    expect(arePackagesFresh(folder)).toBe(false);
  });

  it('are stale when they were installed for another platform', () => {
    const folder = project({ 'node_modules/a': { version: '1.0.0' } });
    arePackagesFresh(folder);
    const stamp = join(folder, 'node_modules', '.paidonce-lock');
    writeFileSync(stamp, readFileSync(stamp, 'utf8').replace(process.platform, 'plan9'));
    expect(arePackagesFresh(folder)).toBe(false);
  });
});

describe('the set-up’s lock', () => {
  it('lets one in at a time', async () => {
    const path = join(scratchFolder(), 'setup.lock');
    let inside = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 4 }, () =>
        withLock(path, async () => {
          inside += 1;
          most = Math.max(most, inside);
          await new Promise((resolve) => setTimeout(resolve, 20));
          inside -= 1;
        }),
      ),
    );
    expect(most).toBe(1);
    expect(existsSync(path)).toBe(false);
  });

  it('is taken over from a dead holder by exactly one of those who wait', async () => {
    const path = join(scratchFolder(), 'setup.lock');
    writeFileSync(path, `${await deadProcessId()} left-behind`);
    const order: string[] = [];
    const enter = (name: string) =>
      withLock(path, async () => {
        order.push(`${name} in`);
        await new Promise((resolve) => setTimeout(resolve, 20));
        order.push(`${name} out`);
      });
    await Promise.all([enter('a'), enter('b')]);
    expect([order[0]?.[0], order[2]?.[0]]).toEqual([order[1]?.[0], order[3]?.[0]]);
    expect(order).toHaveLength(4);
  });

  it('is given back when the work fails', async () => {
    const path = join(scratchFolder(), 'setup.lock');
    await expect(withLock(path, () => Promise.reject(new SetupError('no')))).rejects.toThrow('no');
    expect(existsSync(path)).toBe(false);
  });
});

async function deadProcessId(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await new Promise((resolve) => child.once('exit', resolve));
  return child.pid ?? 0;
}
