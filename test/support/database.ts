import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, inject } from 'vitest';
import { createDatabase, type Database } from '../../store/database.ts';
import type { TestDatabases } from './global-setup.ts';

export interface TestDatabase {
  readonly name: string;
  readonly url: string;
  readonly database: Database;
  /** Fails when a connection was left open, then removes the database. Safe to call again. */
  readonly drop: () => Promise<void>;
}

export interface TestDatabaseOptions {
  readonly poolSize?: number;
  /** Without any table; otherwise a copy of the migrated template (some 40 ms). */
  readonly empty?: boolean;
}

/** Time for the server to notice that a connection was closed. */
const CLOSING_MS = 3_000;

/**
 * A fresh database for this test file, on the real server of the test run. Call it at the top of the file or of a
 * describe block: `const { database } = await createTestDatabase();`. It is removed after the block if all passed, and kept
 * and named in the output if a test failed. A file that leaves a connection open fails.
 */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const created = await createLooseDatabase(options);
  let failed = false;
  afterEach(({ task }) => {
    failed ||= task.result?.state === 'fail';
  });
  afterAll(async () => {
    if (!failed) return created.drop();
    await created.database.close();
    console.error(
      `Kept for a look at the failure: database ${created.name} (on a server of your own: TEST_DATABASE_URL)`,
    );
  });
  return created;
}

/** The same for use inside one test, which has to call `drop` itself. */
export async function createLooseDatabase({
  poolSize = 10,
  empty = false,
}: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { adminUrl, template, prefix } = testDatabases();
  const name = `${prefix}${randomBytes(6).toString('hex')}`;
  await asAdmin((admin) =>
    admin.query(empty ? `create database ${name}` : `create database ${name} template ${template}`),
  );
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  const database = createDatabase({ url: url.href, poolSize, applicationName: 'paidonce-test' });
  let dropped = false;
  return {
    name,
    url: url.href,
    database,
    drop: async () => {
      if (dropped) return;
      dropped = true;
      const { busy } = database.connections();
      if (busy > 0) throw new Error(`${busy} connections of the pool were never given back`);
      await database.close();
      await asAdmin(async (admin) => {
        await refuseLeaks(admin, name);
        await admin.query(`drop database ${name} with (force)`);
      });
    },
  };
}

function testDatabases(): TestDatabases {
  const databases = inject('testDatabases') as TestDatabases | undefined;
  if (databases === undefined)
    throw new Error('Add test/support/global-setup.ts to globalSetup of this vitest project');
  return databases;
}

async function asAdmin(work: (admin: Database) => Promise<unknown>): Promise<void> {
  const admin = createDatabase({
    url: testDatabases().adminUrl,
    poolSize: 1,
    applicationName: 'paidonce-test-admin',
    statementTimeoutMs: 60_000,
  });
  try {
    await work(admin);
  } finally {
    await admin.close();
  }
}

async function refuseLeaks(admin: Database, name: string): Promise<void> {
  const deadline = Date.now() + CLOSING_MS;
  for (;;) {
    const { rows } = await admin.query<{ application_name: string; query: string }>(
      `select application_name, query from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
      [name],
    );
    if (rows.length === 0) return;
    if (Date.now() > deadline) {
      await admin.query(`drop database ${name} with (force)`);
      throw new Error(`Connections to ${name} were left open: ${JSON.stringify(rows)}`);
    }
    await pause(20);
  }
}
