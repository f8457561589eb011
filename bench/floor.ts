import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { v7 as newId } from 'uuid';
import { nodeProgram } from '../embedded/processes.ts';
import type { Timed } from './load.ts';

export interface FloorRequest {
  readonly workflowIds: readonly string[];
  readonly inFlight: number;
}

export type FloorAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'timed'; readonly timed: Timed }
  | { readonly kind: 'failed'; readonly reason: string };

/** The process that runs empty workflows (empty-workflow.ts). */
export interface Floor {
  readonly processId: number;
  run(count: number, inFlight: number): Promise<Timed>;
  stop(): Promise<void>;
}

export async function startFloor(temporal: { readonly address: string; readonly namespace: string }): Promise<Floor> {
  const { command, parameters } = nodeProgram(new URL('empty-workflow.ts', import.meta.url));
  const child = spawn(command, parameters, {
    env: { ...process.env, TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: temporal.namespace },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await nextAnswer(child);
  return {
    processId: child.pid ?? 0,
    async run(count, inFlight) {
      const request: FloorRequest = { workflowIds: Array.from({ length: count }, () => `empty-${newId()}`), inFlight };
      child.send(request);
      const answer = await nextAnswer(child);
      if (answer.kind !== 'timed') throw new Error(`The empty workflow answered "${answer.kind}" out of turn`);
      return answer.timed;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

/** @throws Error when the process failed, or ended instead of answering */
async function nextAnswer(child: ChildProcess): Promise<FloorAnswer> {
  const listening = new AbortController();
  const lost = once(child, 'exit', listening).then(([code, signal]): never => {
    throw new Error(`The process of the empty workflow ended with ${signal ?? code}`);
  });
  try {
    const [answer] = (await Promise.race([once(child, 'message', listening), lost])) as [FloorAnswer];
    if (answer.kind === 'failed') throw new Error(`The empty workflow failed: ${answer.reason}`);
    return answer;
  } finally {
    lost.catch(() => undefined);
    listening.abort();
  }
}
