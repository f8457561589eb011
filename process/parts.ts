import { CodedError } from '../domain/errors.ts';
import type { Logger } from './log.ts';

const RETRY_PAUSE_MS_MAX = 5_000;

/**
 * Waits for a part that may be away when the process starts (a container that is still coming up), saying so in the log
 * instead of ending: whoever restarts us would only start us into the same absence.
 * @throws CodedError at once when `connect` does: that is a mistake, which waiting does not mend
 */
export async function waitForPart<Part>(name: string, connect: () => Promise<Part>, log: Logger): Promise<Part> {
  for (let pauseMs = 250; ; pauseMs = Math.min(2 * pauseMs, RETRY_PAUSE_MS_MAX)) {
    try {
      return await connect();
    } catch (cause) {
      if (cause instanceof CodedError) throw cause;
      log.warn({ err: cause, retryAfterMs: pauseMs }, `${name} cannot be reached yet`);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/** Runs `stop` once when the process is asked to end, and then lets it end by itself. */
export function stopOnSignal(stop: () => Promise<void>, log: Logger): void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    stop().catch((cause: unknown) => {
      log.error({ err: cause }, 'the process could not be stopped in good order');
      process.exitCode = 1;
    });
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
}
