import type { WorkflowHandle } from '@temporalio/client';
import { commandsOf, historyFile } from './histories.ts';
import { waitUntil } from './stack.ts';

/** Waits until the workflow has made this command, in the words of `commandsOf`. */
export function untilCommand(
  handle: WorkflowHandle,
  command: string,
  passTime: () => Promise<void> = async () => undefined,
): Promise<void> {
  return waitUntil(command, async () => {
    await passTime();
    return commandsOf(historyFile(await handle.fetchHistory())).includes(command);
  });
}
