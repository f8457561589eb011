import type { Command } from 'commander';
import { CodedError } from '../../domain/errors.ts';
import { readDatabaseUrl } from '../../process/config.ts';
import { API_KEY_ROLES, createApiKey, revokeApiKey } from '../../store/api-keys.ts';
import { createDatabase, type Database } from '../../store/database.ts';
import { print, printJson } from '../output.ts';

export function addApiKeysCommands(program: Command): void {
  const keys = program.command('api-keys').description('who may call the API (works on the database of DATABASE_URL)');
  keys
    .command('create')
    .description('make a key and show it, once')
    .requiredOption('--role <role>', API_KEY_ROLES.join(', '))
    .requiredOption('--name <name>', 'whose key it is')
    .option('--json', 'print JSON')
    .action(create);
  keys.command('revoke <id>').description('make a key worthless').option('--json', 'print JSON').action(revoke);
}

async function create(options: {
  readonly role: string;
  readonly name: string;
  readonly json?: boolean;
}): Promise<void> {
  const role = API_KEY_ROLES.find((known) => known === options.role);
  if (role === undefined)
    throw new CodedError('configuration_invalid', `--role must be one of ${API_KEY_ROLES.join(', ')}.`);
  const created = await withDatabase((database) => createApiKey(database, { role, name: options.name }));
  if (options.json === true) return printJson(created);
  print(created.key);
  print(`Its id is ${created.id}. The key is not stored and cannot be shown again.`);
}

async function revoke(id: string, options: { readonly json?: boolean }): Promise<void> {
  const revoked = await withDatabase((database) => revokeApiKey(database, id));
  if (!revoked) throw new CodedError('credentials_invalid', 'There is no key with this id that is still good.');
  if (options.json === true) return printJson({ revoked: id });
  print(`Revoked ${id}.`);
}

async function withDatabase<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
  const database = createDatabase({
    url: readDatabaseUrl(process.env),
    poolSize: 1,
    applicationName: 'paidonce-api-keys',
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
