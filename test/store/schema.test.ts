import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findMigrationsFolder } from '../../store/migrations.ts';
import { dumpSchema } from '../../store/schema.ts';
import { createTestDatabase } from '../support/database.ts';

const { database } = await createTestDatabase();
const empty = await createTestDatabase({ empty: true });

const snapshot = await readFile(join(findMigrationsFolder(), 'schema.sql'), 'utf8');

test('schema.sql shows what the migrations make (after a change: npm run schema:dump)', async () => {
  expect(await dumpSchema(database)).toBe(snapshot);
});

test('schema.sql can be run, and makes what it shows', async () => {
  await empty.database.query(snapshot);
  expect(await dumpSchema(empty.database)).toBe(snapshot);
});

test('an object that the snapshot could not show is an error, not an omission', async () => {
  await empty.database.query('create sequence counter');
  await expect(dumpSchema(empty.database)).rejects.toThrow('counter');
});
