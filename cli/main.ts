import { Command } from 'commander';
import packageDescription from '../package.json' with { type: 'json' };

await new Command('paidonce').description(packageDescription.description).version(packageDescription.version).parseAsync();
