import { setTimeout as sleep } from 'node:timers/promises';
import { startMark } from './process-identity.ts';
import type { Backing } from './stack-backing.ts';
import type { ReadyProcess, StackProgress } from './stack-parts.ts';

export type PartName = StackProgress['part'];

const KILL_WITHIN_MS = 10_000;
const POLL_MS = 20;

/** Process ids of the parts that are ours and run. */
export function runningParts(
  { database, temporal, simulator }: Backing,
  application: ReadyProcess | null,
): Partial<Record<PartName, number>> {
  return {
    ...(application === null ? {} : { application: application.process.processId }),
    simulator: simulator.process.processId,
    ...(temporal.server === null ? {} : { temporal: temporal.server.processId }),
    ...(database.server === null ? {} : { database: database.server.processId }),
  };
}

/** Resolves with the first part below the application that ends by itself, until endings are expected. */
export function whenLost({ temporal, simulator }: Backing): { readonly lost: Promise<PartName>; expect(): void } {
  let isExpected = false;
  const watched: [PartName, Promise<unknown> | undefined][] = [
    ['simulator', simulator.process.ended],
    ['temporal', temporal.server?.process.ended],
  ];
  const lost = new Promise<PartName>((resolve) => {
    for (const [part, ended] of watched) {
      void ended?.then(() => {
        if (!isExpected) resolve(part);
      });
    }
  });
  return {
    lost,
    expect: () => {
      isExpected = true;
    },
  };
}

/**
 * The last resort for a process that exits without having stopped its stack (an error nobody caught): asks every part to
 * end, without being able to wait. SIGINT is what Postgres understands as "now, but orderly".
 */
export function stopOnExit(processIds: () => Partial<Record<PartName, number>>): { release(): void } {
  const onExit = (): void => {
    for (const [part, processId] of Object.entries(processIds()))
      signal(processId, part === 'database' ? 'SIGINT' : 'SIGTERM');
  };
  process.once('exit', onExit);
  return { release: () => process.removeListener('exit', onExit) };
}

export async function killAll({ database, temporal, simulator }: Backing): Promise<void> {
  await Promise.all([
    simulator.process.kill(),
    temporal.server?.process.kill(),
    database.server === null ? undefined : killDaemon(database.server.processId),
  ]);
}

/** Postgres is not a child of this process, so its end can only be looked for. */
async function killDaemon(processId: number): Promise<void> {
  signal(processId, 'SIGKILL');
  const deadline = Date.now() + KILL_WITHIN_MS;
  while (startMark(processId) !== null && Date.now() < deadline) await sleep(POLL_MS);
}

function signal(processId: number, name: NodeJS.Signals): void {
  try {
    process.kill(processId, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
