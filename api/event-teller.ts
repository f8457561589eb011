import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { CodedError } from '../domain/errors.ts';
import { applyEventWorkflowId, purchaseWorkflowId, TASK_QUEUE } from '../workflows/ids.ts';
import { APPLY_EVENT_WORKFLOW, EVENT_STORED_SIGNAL } from '../workflows/messages.ts';
import { createTemporalCalls, type TemporalCalls } from './temporal-calls.ts';

interface StoredEvent {
  readonly id: string;
  readonly orderId: string;
}

/** Has stored events of gateways applied. Nothing is lost when it fails: inquiries and the sweeper look for them too. */
export interface EventTeller {
  /**
   * Tells the order's workflow that an event waits, or starts a short workflow that applies it when no such workflow runs:
   * before the first pay, and after the order's end.
   * @throws CodedError `temporal_unavailable`
   */
  tell(event: StoredEvent): Promise<void>;
  /** Resolves when no call is on its way any more; before that the connection must not be closed. */
  ended(): Promise<void>;
}

const CALL_TIMEOUT_MS = 5_000;
/** Events come in bursts after an outage; told all at once, they would keep the gateways waiting for their answers. */
const CALLS_MAX = 4;
/** Beyond this the sweeper tells, rather than that we keep the words of an outage in memory. */
const WAITING_MAX = 1_000;

export function createEventTeller(client: Client, taskQueue: string = TASK_QUEUE): EventTeller {
  const calls = createTemporalCalls(client);
  const lanes = createLanes(CALLS_MAX);
  return {
    tell: (event) => lanes.run(() => tell({ client, calls, taskQueue }, event)),
    ended: async () => {
      await lanes.ended();
      await calls.ended();
    },
  };
}

interface Telling {
  readonly client: Client;
  readonly calls: TemporalCalls;
  readonly taskQueue: string;
}

async function tell({ client, calls, taskQueue }: Telling, { id, orderId }: StoredEvent): Promise<void> {
  try {
    const handle = client.workflow.getHandle(purchaseWorkflowId(orderId));
    await calls.make(CALL_TIMEOUT_MS, () => handle.signal(EVENT_STORED_SIGNAL));
    return;
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
  const options = {
    workflowId: applyEventWorkflowId(id),
    taskQueue,
    args: [{ inboxEventId: id }],
    // Applying is marked on the event's row, so a second run does nothing; a replay needs one.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'FAIL',
    staticSummary: `Applies a gateway's event to order ${orderId}`,
  } as const;
  try {
    await calls.make(CALL_TIMEOUT_MS, () => client.workflow.start(APPLY_EVENT_WORKFLOW, options));
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

interface Lanes {
  run(task: () => Promise<void>): Promise<void>;
  ended(): Promise<void>;
}

/** Runs at most so many tasks at once, the others in the order in which they came. */
function createLanes(count: number): Lanes {
  const waiting: (() => void)[] = [];
  const all = new Set<Promise<void>>();
  let running = 0;
  const take = async (): Promise<void> => {
    if (running >= count) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
  };
  const give = (): void => {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };
  return {
    run(task) {
      if (waiting.length >= WAITING_MAX) return Promise.reject(new CodedError('temporal_unavailable'));
      const run = take().then(task).finally(give);
      const over = run.catch(() => undefined).finally(() => all.delete(over));
      all.add(over);
      return run;
    },
    ended: async () => {
      await Promise.all(all);
    },
  };
}
