import { startStack } from '../../embedded/stack.ts';
import { createLog } from '../../process/log.ts';

/** A process that starts a stack, tells of it, and stops it on SIGTERM or dies of SIGKILL. */
const [dataFolder = '', temporalProgram = ''] = process.argv.slice(2);
const stack = await startStack({
  dataFolder,
  temporalProgram,
  searchAttributes: { OrderStatus: 'Keyword' },
  log: createLog('silent', 'starter'),
  applicationEntry: new URL('./stub-application.ts', import.meta.url),
});
process.once('SIGTERM', () => void stack.stop().then(() => process.exit(0)));
process.stdout.write(`${JSON.stringify({ addresses: stack.addresses, processIds: stack.processIds() })}\n`);
