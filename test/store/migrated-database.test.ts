import { describe, expect, it } from 'vitest';
import { createLog } from '../../process/log.ts';
import { migrate } from '../../store/migrations.ts';
import { waitForMigratedDatabase } from '../../worker/migrated-database.ts';
import { createLooseDatabase, type TestDatabase } from '../support/database.ts';

const log = createLog('silent', 'test');

async function withDatabase(empty: boolean, work: (test: TestDatabase) => Promise<void>): Promise<void> {
  const test = await createLooseDatabase({ empty });
  try {
    await work(test);
  } finally {
    await test.drop();
  }
}

describe('a worker at its start', () => {
  it('goes on with a database of its own version', () =>
    withDatabase(false, ({ url }) => expect(waitForMigratedDatabase(url, log)).resolves.toBeUndefined()));

  it('refuses one that was not migrated, or not far enough, and says what to do', () =>
    withDatabase(true, async ({ url, database }) => {
      await expect(waitForMigratedDatabase(url, log)).rejects.toMatchObject({
        code: 'database_not_migrated',
        message: expect.stringContaining('Run "paidonce migrate"'),
      });
      await migrate(url);
      await database.query('delete from schema_migrations where number = (select max(number) from schema_migrations)');
      await expect(waitForMigratedDatabase(url, log)).rejects.toMatchObject({
        code: 'database_not_migrated',
        message: expect.stringContaining('lacks 1 migration,'),
      });
    }));

  it('refuses one that a newer version has migrated', () =>
    withDatabase(false, async ({ url, database }) => {
      await database.query(
        `insert into schema_migrations select max(number) + 1, 'of-tomorrow', 'x', now() from schema_migrations`,
      );
      await expect(waitForMigratedDatabase(url, log)).rejects.toMatchObject({ code: 'database_ahead_of_code' });
    }));

  it('waits for one that is away', () =>
    withDatabase(false, ({ url, name }) =>
      withDatabase(true, async ({ database }) => {
        const away = new URL(url);
        away.pathname = `/${name}_later`;
        let over = false;
        const waiting = waitForMigratedDatabase(away.href, log).finally(() => {
          over = true;
        });
        expect(over).toBe(false);
        // A copy, so that it comes with all its migrations in one moment.
        await database.query(`create database ${name}_later template ${name}`);
        await expect(waiting).resolves.toBeUndefined();
        await database.query(`drop database ${name}_later with (force)`);
      }),
    ));
});
