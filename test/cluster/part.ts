import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nodeProgram, notReady, type RunningProcess, startProcess } from '../../embedded/processes.ts';

/** One kind of process of the production shape: how it is started, again and again. */
export interface PartPlan {
  readonly name: string;
  /** The entry file without its ending, from the project's folder: `worker/main`. */
  readonly entry: string;
  /** What to run: the folder that `npm run build` made, as production does, or the checkout, from source. */
  readonly programs: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Where its log is kept. */
  readonly folder: string;
}

export interface Part {
  readonly name: string;
  /** Resolves with the line that it prints when it is ready; rejects when it ends before. */
  readonly ready: Promise<Readonly<Record<string, unknown>>>;
  readonly process: RunningProcess;
}

/** A worker drains its calls at the gateway before it ends; it gets the time that docker-compose.yml gives it. */
const STOP_WITHIN_MS = 60_000;

/** Starts it and does not wait for it to be ready: what it stands on may be away. */
export async function startPart({ name, entry, programs, environment, folder }: PartPlan): Promise<Part> {
  const source = join(programs, `${entry}.ts`);
  const file = existsSync(source) ? source : join(programs, `${entry}.js`);
  const child = await startProcess({
    name,
    ...nodeProgram(pathToFileURL(file)),
    environment: { PATH: process.env.PATH, HOME: process.env.HOME, TZ: 'UTC', ...environment },
    folder,
    stopSignal: 'SIGTERM',
    stopWithinMs: STOP_WITHIN_MS,
  });
  const ready = child.firstLine.then(async (line) => {
    if (line === null) throw await notReady(child, `${name} (${file})`);
    return JSON.parse(line) as Record<string, unknown>;
  });
  // Whoever kills a part before it is ready is not interested in that any more.
  ready.catch(() => undefined);
  return { name, ready, process: child };
}
