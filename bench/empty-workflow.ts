import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { readTemporalTarget } from '../process/temporal.ts';
import { WORKER_LIMITS } from '../worker/run.ts';
import type { FloorAnswer, FloorRequest } from './floor.ts';
import { timeAll } from './load.ts';

/**
 * The floor, as a process of its own beside the idle application: worker and client together with the application's
 * settings, and a workflow that does nothing. Works on requests of its parent until the channel to it closes.
 */
const TASK_QUEUE = 'bench-empty';
const ignore = (): void => undefined;
const silent = { log: ignore, trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

Runtime.install({ logger: silent, telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } } });
const target = readTemporalTarget();
const connection = await NativeConnection.connect(target.connection);
const { namespace } = target;
const client = new Client({ connection, namespace });
const workflowsPath = fileURLToPath(new URL('workflows/empty.ts', import.meta.url));
const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: silent });
const worker = await Worker.create({ connection, namespace, taskQueue: TASK_QUEUE, workflowBundle, ...WORKER_LIMITS });
const running = worker.run();

process.on('message', (request: FloorRequest) => {
  answer(request).then(tell, (error: unknown) => tell({ kind: 'failed', reason: String(error) }));
});
process.once('disconnect', () => worker.shutdown());
tell({ kind: 'ready' });
await running;
await connection.close();

async function answer({ workflowIds, inFlight }: FloorRequest): Promise<FloorAnswer> {
  const timed = await timeAll(workflowIds, inFlight, async (workflowId) => {
    const start = { workflowId, taskQueue: TASK_QUEUE, args: [], requestEagerStart: true } as const;
    const handle = await client.workflow.start('empty', start);
    if (!handle.eagerlyStarted) throw new Error('The server did not hand the first task to the worker at once');
    await handle.result();
  });
  return { kind: 'timed', timed };
}

function tell(message: FloorAnswer): void {
  process.send?.(message);
}
