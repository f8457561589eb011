import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { nodeProgram } from '../../embedded/processes.ts';
import { entryFile } from '../../embedded/project-layout.ts';
import type { Stack } from '../../embedded/stack.ts';

export interface SpawnedWorker {
  readonly processId: number;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/** Another worker process on a running stack, with the same settings as the application's own worker. */
export async function spawnWorker(stack: Stack): Promise<SpawnedWorker> {
  const { command, parameters } = nodeProgram(entryFile('worker/main'));
  const child = spawn(command, parameters, { env: environmentOf(stack), stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    ended.then(() => ['']),
  ])) as [string];
  if (line === '' || child.pid === undefined) throw new Error('The second worker did not start');
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await ended;
  };
  return { processId: child.pid, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}

/** A worker must be told exactly what the application was told, so that is read from the running process itself. */
function environmentOf(stack: Stack): NodeJS.ProcessEnv {
  const application = stack.processIds().application;
  if (application === undefined) throw new Error('The application does not run');
  const entries = readFileSync(`/proc/${application}/environ`, 'utf8')
    .split('\0')
    .filter((entry) => entry !== '');
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  );
}
