import type { TestProject } from 'vitest/node';
import { createDatabase, type Database } from '../../store/database.ts';
import { migrate } from '../../store/migrations.ts';
import { startTestServer } from './postgres-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    testDatabases: TestDatabases;
  }
}

/** What each test file needs to make a database of its own. */
export interface TestDatabases {
  readonly adminUrl: string;
  /** The name of a migrated database that is copied for each test file; nobody connects to it. */
  readonly template: string;
  /** What the names of all databases of this run begin with. */
  readonly prefix: string;
}

interface SharedServer {
  users: number;
  readonly databases: TestDatabases;
  readonly stop: () => Promise<void>;
}

/** Vitest loads this file once per project, but all in one process: the first starts the server, the last one stops it. */
const shared = globalThis as typeof globalThis & { paidonceTestServer?: Promise<SharedServer> };

/** Starts one Postgres for the whole run, or uses the server of TEST_DATABASE_URL, and migrates a database to copy from. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.paidonceTestServer ??= start();
  const server = await shared.paidonceTestServer;
  server.users += 1;
  project.provide('testDatabases', server.databases);
  return async () => {
    server.users -= 1;
    if (server.users > 0) return;
    delete shared.paidonceTestServer;
    await server.stop();
  };
}

async function start(): Promise<SharedServer> {
  const given = process.env.TEST_DATABASE_URL;
  const server = given === undefined ? await startTestServer() : { url: given, stop: () => Promise.resolve() };
  const prefix = `paidonce_test_${Math.floor(Date.now() / 1000)}_${process.pid}_`;
  const template = `${prefix}template`;
  const admin = createDatabase({ url: server.url, poolSize: 1, applicationName: 'paidonce-test-setup' });
  try {
    if (given !== undefined) await dropOldDatabases(admin);
    await admin.query(`create database ${template}`);
    await migrate(urlOf(server.url, template));
    // A copy fails while anybody is connected to the original.
    await admin.query(`alter database ${template} allow_connections false`);
  } catch (error) {
    await admin.close();
    await server.stop();
    throw error;
  }
  return {
    users: 0,
    databases: { adminUrl: server.url, template, prefix },
    stop: async () => {
      try {
        if (given !== undefined) await admin.query(`drop database ${template}`);
      } finally {
        await admin.close();
        await server.stop();
      }
    },
  };
}

/** Databases of runs that were killed, or that were kept for a look at a failure, by the time in their name. */
async function dropOldDatabases(admin: Database): Promise<void> {
  const { rows } = await admin.query<{ datname: string }>(
    `select datname from pg_database
     where datname ~ '^paidonce_test_[0-9]+_' and split_part(datname, '_', 3)::bigint < extract(epoch from now()) - 86400`,
  );
  for (const { datname } of rows) await admin.query(`drop database if exists ${datname} with (force)`);
}

function urlOf(serverUrl: string, databaseName: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${databaseName}`;
  return url.href;
}
