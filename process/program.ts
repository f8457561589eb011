import { CodedError } from '../domain/errors.ts';
import { type Config, readConfig } from './config.ts';
import { createLog, type Logger } from './log.ts';

/**
 * Runs the main part of a process. When it fails, the log says why: a mistake that a person can put right in its own
 * sentence, anything else with its stack. The process then ends with exit code 1, whatever it still holds open.
 * @param name as it stands in the log, such as `paidonce-worker`
 */
export async function runProgram(name: string, main: (config: Config, log: Logger) => Promise<void>): Promise<void> {
  let log = createLog('info', name);
  try {
    const config = readConfig(process.env);
    log = createLog(config.LOG_LEVEL, name);
    await main(config, log);
  } catch (error) {
    if (error instanceof CodedError) log.fatal({ code: error.code }, error.message);
    else log.fatal({ err: error }, 'the process cannot go on');
    process.exit(1);
  }
}
