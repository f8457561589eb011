import { CodedError } from '../domain/errors.ts';
import type { Logger } from '../process/log.ts';
import { waitForPart } from '../process/parts.ts';
import { migrationStatus } from '../store/migrations.ts';

/**
 * Waits while the database is away, then looks whether its schema is the one that this version was written for. On an
 * older one statements would fail half-way through an order; a newer one may mean something else by the same columns.
 * @throws CodedError `database_not_migrated`, `database_ahead_of_code`, `migration_edited`, `migration_gap`
 */
export function waitForMigratedDatabase(url: string, log: Logger): Promise<void> {
  return waitForPart('The database', () => demandMigrated(url), log);
}

async function demandMigrated(url: string): Promise<void> {
  const missing = (await migrationStatus(url)).filter(({ appliedAt }) => appliedAt === null);
  const [first] = missing;
  if (first === undefined) return;
  throw new CodedError(
    'database_not_migrated',
    `The database lacks ${missing.length} migration${missing.length === 1 ? '' : 's'}, the first being ${first.number} (${first.name}). Run "paidonce migrate", then start this again.`,
  );
}
