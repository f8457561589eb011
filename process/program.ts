import { CodedError } from '../domain/errors.ts';
import type { Config } from './config.ts';
import { createLog, type Logger } from './log.ts';

export interface Program<Settings> {
  /** As it stands in the log, such as `paidonce-worker`. */
  readonly name: string;
  readonly read: (variables: NodeJS.ProcessEnv) => Settings;
  readonly main: (config: Settings, log: Logger) => Promise<void>;
}

/**
 * Runs the main part of a process. When it fails, the log says why: a mistake that a person can put right in its own
 * sentence, anything else with its stack. The process then ends with exit code 1, whatever it still holds open.
 */
export async function runProgram<Settings extends Pick<Config, 'LOG_LEVEL'>>({
  name,
  read,
  main,
}: Program<Settings>): Promise<void> {
  let log = createLog('info', name);
  try {
    const config = read(process.env);
    log = createLog(config.LOG_LEVEL, name);
    await main(config, log);
  } catch (error) {
    if (error instanceof CodedError) log.fatal({ code: error.code }, error.message);
    else log.fatal({ err: error }, 'the process cannot go on');
    process.exit(1);
  }
}
