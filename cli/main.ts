import { Command } from 'commander';
import { CodedError } from '../domain/errors.ts';
import packageDescription from '../package.json' with { type: 'json' };
import { addStartCommand } from './commands/start.ts';
import { remark } from './output.ts';

const program = new Command('paidonce')
  .description(packageDescription.description)
  .version(packageDescription.version)
  .showSuggestionAfterError();
addStartCommand(program);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CodedError)) throw error;
  remark(`paidonce: ${error.message} (${error.code})`);
  process.exitCode = 1;
}
