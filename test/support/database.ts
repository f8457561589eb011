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
 * for a day and named in the output if a test failed. A file that leaves a connection open fails.
 */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const created = await createLooseDatabase(options);
  let failed = false;
  afterEach(({ task }) => {
    failed ||= task.result?.state === 'fail';
  });
  afterAll(async () => {
    if (!failed) return created.drop();
    console.error(
      `Database ${created.name} is not dropped; on a server of your own (TEST_DATABASE_URL) it can be looked at.`,
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
      const leak = (await findUnreturned(database)) ?? (await closeAndFindSessions(database, name));
      await asAdmin((admin) => admin.query(`drop database ${name} with (force)`));
      if (leak !== undefined) throw new Error(leak);
    },
  };
}

function testDatabases(): TestDatabases {
  const databases = inject('testDatabases') as TestDatabases | undefined;
  if (databases === undefined)
    throw new Error('Add test/support/global-setup.ts to globalSetup of this vitest project');
  return databases;
}

async function asAdmin<Result>(work: (admin: Database) => Promise<Result>): Promise<Result> {
  const admin = createDatabase({
    url: testDatabases().adminUrl,
    poolSize: 1,
    applicationName: 'paidonce-test-admin',
    statementTimeoutMs: 60_000,
  });
  try {
    return await work(admin);
  } finally {
    await admin.close();
  }
}

/** A connection that is still lent out when all tests have ended; what is merely on its way back is waited for. */
async function findUnreturned(database: Database): Promise<string | undefined> {
  const deadline = Date.now() + CLOSING_MS;
  while (database.connections().busy > 0) {
    if (Date.now() > deadline) return `${database.connections().busy} connections of the pool were never given back`;
    await pause(20);
  }
  return undefined;
}

/** Connections to the database other than those of its own pool; the server takes a moment to notice that one has ended. */
async function closeAndFindSessions(database: Database, name: string): Promise<string | undefined> {
  await database.close();
  const deadline = Date.now() + CLOSING_MS;
  for (;;) {
    const sessions = await asAdmin(async (admin) => {
      const { rows } = await admin.query<{ application_name: string; query: string }>(
        `select application_name, query from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
        [name],
      );
      return rows;
    });
    if (sessions.length === 0) return undefined;
    if (Date.now() > deadline) return `Connections to the test database were left open: ${JSON.stringify(sessions)}`;
    await pause(50);
  }
}
