import { expect, test } from 'vitest';
import { findMigrationsFolder, migrationStatus, readMigrations } from '../../store/migrations.ts';
import { createTestDatabase } from '../support/database.ts';

const { url } = await createTestDatabase();

test('the copied template has every migration applied', async () => {
  const status = await migrationStatus(url);
  expect(status).toHaveLength((await readMigrations(findMigrationsFolder())).length);
  expect(status.filter(({ appliedAt }) => appliedAt === null)).toEqual([]);
});
