import { Command } from 'commander';
import { CodedError } from '../domain/errors.ts';
import packageDescription from '../package.json' with { type: 'json' };
import { addApiKeysCommands } from './commands/api-keys.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addOrdersCommands } from './commands/orders.ts';
import { addSimulatorCommands } from './commands/simulator.ts';
import { addStartCommand } from './commands/start.ts';
import { remark } from './output.ts';

const program = new Command('paidonce')
  .description(packageDescription.description)
  .version(packageDescription.version)
  .showSuggestionAfterError();
for (const add of [
  addStartCommand,
  addOrdersCommands,
  addMigrateCommand,
  addApiKeysCommands,
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
