import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { findMigrationsFolder, migrate, migrationStatus, readMigrations } from '../../store/migrations.ts';
import { createLooseDatabase, type TestDatabase } from '../support/database.ts';

const REAL_FOLDER = findMigrationsFolder();
const scratch = await mkdtemp(join(tmpdir(), 'paidonce-migrations-'));
afterAll(() => rm(scratch, { recursive: true }));

/** A folder of its own with these files; names as in `migrations/`. */
async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(scratch, 'folder-'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

const FIRST = 'create table first (id integer);\n';
const SECOND = 'create table second (id integer);\n';

async function withEmptyDatabase(work: (empty: TestDatabase) => Promise<void>): Promise<void> {
  const empty = await createLooseDatabase({ empty: true });
  try {
    await work(empty);
  } finally {
    await empty.drop();
  }
}

async function tablesOf({ database }: TestDatabase): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
  );
  return rows.map(({ name }) => name);
}

test('a fresh database gets every migration, and a second run does no harm', () =>
  withEmptyDatabase(async ({ url }) => {
    const names = (await readMigrations(REAL_FOLDER)).map(
      ({ number, name }) => `${String(number).padStart(4, '0')}-${name}.sql`,
    );
    expect(await migrate(url)).toEqual({ applied: names, alreadyThere: 0 });
    expect(await migrate(url)).toEqual({ applied: [], alreadyThere: names.length });
    expect((await migrationStatus(url)).filter(({ appliedAt }) => appliedAt === null)).toEqual([]);
  }));

test('five processes at once apply each migration once', () =>
  withEmptyDatabase(async ({ url, database }) => {
    const script = `import { migrate } from '${join(REAL_FOLDER, '../store/migrations.ts')}';
      console.log(JSON.stringify(await migrate(process.argv[1])));`;
    const run = () =>
      promisify(execFile)(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script, url]);
    const outputs = await Promise.all([run(), run(), run(), run(), run()]);
    const results = outputs.map(({ stdout }) => JSON.parse(stdout) as { applied: string[]; alreadyThere: number });
    const { length } = await readMigrations(REAL_FOLDER);
    expect(results.map(({ applied }) => applied.length).sort()).toEqual([0, 0, 0, 0, length]);
    const { rows } = await database.query<{ count: number }>('select count(*) as count from schema_migrations');
    expect(rows).toEqual([{ count: length }]);
  }));

test('the status of an empty database is that everything is still to come, and asking changes nothing', () =>
  withEmptyDatabase(async (empty) => {
    const status = await migrationStatus(empty.url);
    expect(status.map(({ appliedAt }) => appliedAt)).toEqual(status.map(() => null));
    expect(status.length).toBeGreaterThan(2);
    expect(await tablesOf(empty)).toEqual([]);
  }));

test('a migration that fails leaves nothing of itself, and the next run goes on from there', () =>
  withEmptyDatabase(async (empty) => {
    const folder = await folderOf({ '0001-a.sql': FIRST, '0002-b.sql': `${SECOND}select 1 / 0;` });
    await expect(migrate(empty.url, folder)).rejects.toThrow('division by zero');
    expect(await tablesOf(empty)).toEqual(['first', 'schema_migrations']);
    await writeFile(join(folder, '0002-b.sql'), SECOND);
    expect(await migrate(empty.url, folder)).toEqual({ applied: ['0002-b.sql'], alreadyThere: 1 });
  }));

test('a migration that cannot be written down is not applied either', () =>
  withEmptyDatabase(async (empty) => {
    const folder = await folderOf({ '0001-a.sql': FIRST, '0002-b.sql': `${SECOND}drop table schema_migrations;` });
    await expect(migrate(empty.url, folder)).rejects.toThrow('schema_migrations');
    expect(await tablesOf(empty)).toEqual(['first', 'schema_migrations']);
  }));

test('an applied file that was edited is refused, and nothing after it is applied', () =>
  withEmptyDatabase(async (empty) => {
    await migrate(empty.url, await folderOf({ '0001-a.sql': FIRST }));
    const edited = await folderOf({ '0001-a.sql': `${FIRST}-- edited`, '0002-b.sql': SECOND });
    await expect(migrate(empty.url, edited)).rejects.toMatchObject({ code: 'migration_edited' });
    await expect(migrationStatus(empty.url, edited)).rejects.toMatchObject({ code: 'migration_edited' });
    expect(await tablesOf(empty)).toEqual(['first', 'schema_migrations']);
  }));

test('line ends of another system are not an edit', () =>
  withEmptyDatabase(async ({ url }) => {
    await migrate(url, await folderOf({ '0001-a.sql': FIRST }));
    const checkedOutOnWindows = await folderOf({ '0001-a.sql': FIRST.replaceAll('\n', '\r\n') });
    expect(await migrate(url, checkedOutOnWindows)).toEqual({ applied: [], alreadyThere: 1 });
  }));

test('a database that a newer version has migrated is refused', () =>
  withEmptyDatabase(async ({ url }) => {
    await migrate(url, await folderOf({ '0001-a.sql': FIRST, '0002-b.sql': SECOND }));
    const older = await folderOf({ '0001-a.sql': FIRST });
    await expect(migrate(url, older)).rejects.toMatchObject({ code: 'database_ahead_of_code' });
  }));

test('a database that lacks a migration in the middle is refused', () =>
  withEmptyDatabase(async ({ url, database }) => {
    const folder = await folderOf({ '0001-a.sql': FIRST, '0002-b.sql': SECOND });
    await migrate(url, folder);
    await database.query('delete from schema_migrations where number = 1');
    await expect(migrate(url, folder)).rejects.toMatchObject({ code: 'migration_gap' });
  }));

describe('a folder is refused', () => {
  const faults: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'with a gap': { '0001-a.sql': FIRST, '0003-c.sql': SECOND },
    'with a number twice': { '0001-a.sql': FIRST, '0001-b.sql': SECOND },
    'that does not begin at 1': { '0002-b.sql': SECOND },
    'with a name of another form': { '0001-a.sql': FIRST, '2_b.sql': SECOND },
    'without a migration': {},
  };
  for (const [fault, files] of Object.entries(faults)) {
    test(fault, async () => {
      await expect(readMigrations(await folderOf(files))).rejects.toMatchObject({ code: 'migration_gap' });
    });
  }
});

describe('the migrations folder is found', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(scratch, 'package-'));
    await mkdir(join(root, 'dist', 'store'), { recursive: true });
    await copyFile(join(dirname(REAL_FOLDER), 'package.json'), join(root, 'package.json'));
  });

  test('from source and from the build alike', () => {
    expect(findMigrationsFolder(join(root, 'dist', 'store'))).toBe(join(root, 'migrations'));
    expect(findMigrationsFolder(root)).toBe(join(root, 'migrations'));
  });

  test('and holds files that are all numbered, but for the snapshot', async () => {
    const files = (await readdir(REAL_FOLDER)).filter((file) => !/^\d{4}-[a-z0-9-]+\.sql$/.test(file));
    expect(files).toEqual(['schema.sql']);
    for (const { sql } of await readMigrations(REAL_FOLDER)) {
      expect(sql.startsWith('-- '), 'every migration begins with a paragraph of why').toBe(true);
      expect(/^\s*(begin|commit|rollback)\s*;/im.exec(sql)?.[0], 'the runner owns the transaction').toBeUndefined();
    }
    expect(await readFile(join(REAL_FOLDER, 'schema.sql'), 'utf8')).not.toBe('');
  });
});
