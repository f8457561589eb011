import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { CodedError } from '../domain/errors.ts';
import { addApiKeysCommands } from './commands/api-keys.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addInboxCommands } from './commands/inbox.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addOrdersCommands } from './commands/orders.ts';
import { addRebuildCommand } from './commands/rebuild.ts';
import { addRefundsCommands } from './commands/refunds.ts';
import { addSimulatorCommands } from './commands/simulator.ts';
import { addStartCommand } from './commands/start.ts';
import { addWebhooksCommands } from './commands/webhooks.ts';
import { remark } from './output.ts';
import { PROJECT_FOLDER } from './setup/project.mjs';

// Read and not imported: the build would make a copy in dist/, and dist/ would pass for the folder of the package.
const { description, version } = JSON.parse(readFileSync(join(PROJECT_FOLDER, 'package.json'), 'utf8')) as {
  readonly description: string;
  readonly version: string;
};

const program = new Command('paidonce').description(description).version(version).showSuggestionAfterError();
for (const add of [
  addStartCommand,
  addOrdersCommands,
  addRefundsCommands,
  addMigrateCommand,
  addRebuildCommand,
  addApiKeysCommands,
  addInboxCommands,
  addWebhooksCommands,
  addSimulatorCommands,
  addDoctorCommand,
]) {
  add(program);
}

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CodedError)) throw error;
  remark(`paidonce: ${error.message} (${error.code})`);
  process.exitCode = 1;
}
