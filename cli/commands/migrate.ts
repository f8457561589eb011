import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { readDatabaseUrl } from '../../process/config.ts';
import { createDatabase } from '../../store/database.ts';
import { findMigrationsFolder, migrate, migrationStatus } from '../../store/migrations.ts';
import { dumpSchema } from '../../store/schema.ts';
import { print, printJson, table } from '../output.ts';

interface MigrateOptions {
  readonly status?: boolean;
  readonly dumpSchema?: boolean;
  readonly json?: boolean;
}

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('bring the database of DATABASE_URL up to date')
    .option('--status', 'only say what was applied and what is to come')
    .option('--dump-schema', 'migrate, then write migrations/schema.sql')
    .option('--json', 'print JSON')
    .action(run);
}

async function run(options: MigrateOptions): Promise<void> {
  const url = readDatabaseUrl(process.env);
  if (options.status === true) return showStatus(url, options);
  const result = await migrate(url);
  if (options.dumpSchema === true) await writeSchema(url);
  if (options.json === true) return printJson(result);
  for (const name of result.applied) print(`applied ${name}`);
  print(`${result.applied.length} applied, ${result.alreadyThere} were there already.`);
}

async function showStatus(url: string, { json }: MigrateOptions): Promise<void> {
  const status = await migrationStatus(url);
  if (json === true) return printJson(status);
  const rows = status.map(({ number, name, appliedAt }) => [String(number), name, appliedAt ?? 'to come']);
  print(table([['NUMBER', 'NAME', 'APPLIED'], ...rows]));
}

async function writeSchema(url: string): Promise<void> {
  const database = createDatabase({ url, poolSize: 1, applicationName: 'paidonce-migrate' });
  try {
    writeFileSync(join(findMigrationsFolder(), 'schema.sql'), await dumpSchema(database));
  } finally {
    await database.close();
  }
}
