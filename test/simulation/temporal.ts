import { ApplicationFailure } from '@temporalio/common';
import {
  after,
  between,
  chance,
  newId,
  now,
  pause,
  pick,
  running,
  type SimulatedProcess,
  seam,
} from './runtime/virtual.ts';
import {
  type ActivityOptions,
  type Command,
  createLive,
  type Input,
  type Live,
  type Outcome,
  take,
  wake,
} from './runtime/workflow.ts';

export type WorkflowType = (input: unknown) => Promise<unknown>;
export type ActivityTable = Readonly<Record<string, (input: unknown) => Promise<unknown>>>;

/** A worker process: its activities, and the workflows that it holds in its memory. */
export interface SimulatedWorker {
  readonly process: SimulatedProcess;
  readonly activities: ActivityTable;
  readonly cache: Map<string, Live>;
}

/** One workflow task as it was recorded: enough to play it again. */
interface TaskRecord {
  readonly time: number;
  readonly inputs: Input[];
  readonly locals: { readonly seq: number; readonly outcome: Outcome; readonly time: number }[];
  readonly commands: string[];
}

interface Step {
  readonly command: LocalCommand;
  readonly scheduledAt: number;
  attempt: number;
  over: boolean;
}

interface Task {
  inputs: Input[];
  worker: SimulatedWorker | undefined;
}

export interface Execution {
  readonly id: string;
  readonly runId: string;
  status: 'open' | 'completed' | 'failed';
  result: unknown;
  readonly history: TaskRecord[];
  readonly inputs: Input[];
  readonly timers: Map<number, { cancel(): void }>;
  readonly steps: Map<number, Step>;
  task: Task | null;
  sticky: SimulatedWorker | null;
}

export interface Temporal {
  /** @throws Error while Temporal is away @returns whether it was started by this call */
  start(id: string, type: WorkflowType, input: unknown): boolean;
  /** @throws Error while Temporal is away, and when the workflow is not open */
  signal(id: string, name: string, ...inputs: readonly unknown[]): void;
  update(id: string, name: string, ...inputs: readonly unknown[]): Promise<unknown>;
  executions(): ReadonlyMap<string, Execution>;
  /** Nobody is served until then. */
  beginOutage(until: number): void;
  /** Workflows whose replay did not give the commands that were recorded. */
  readonly strays: string[];
}

const TASK_TIMEOUT_MS = 5_000;
const HEARTBEAT_MS = 4_000;

/** The part of a Temporal server that the product leans on, in virtual time. */
export function createTemporal(workers: () => readonly SimulatedWorker[], evictions: number): Temporal {
  const executions = new Map<string, Execution>();
  const server: Server = { workers, evictions, awayUntil: 0, updates: new Map(), strays: [] };
  const open = (id: string): Execution => {
    if (now() < server.awayUntil) throw new Error('Temporal is away');
    const execution = executions.get(id);
    if (execution === undefined || execution.status !== 'open') throw new Error(`There is no open workflow ${id}`);
    return execution;
  };
  return {
    start(id, type, input) {
      if (now() < server.awayUntil) throw new Error('Temporal is away');
      if (executions.has(id)) return false;
      const execution: Execution = {
        id,
        runId: newId(),
        status: 'open',
        result: undefined,
        history: [],
        inputs: [],
        timers: new Map(),
        steps: new Map(),
        task: null,
        sticky: null,
      };
      executions.set(id, execution);
      give(server, execution, { kind: 'begin', type, input });
      return true;
    },
    signal: (id, name, ...inputs) => give(server, open(id), { kind: 'signal', name, inputs }),
    update: (id, name, ...inputs) =>
      new Promise((resolve, reject) => {
        const execution = open(id);
        const update = server.updates.size + 1;
        server.updates.set(update, { resolve, reject });
        give(server, execution, { kind: 'update', id: update, name, inputs });
      }),
    executions: () => executions,
    beginOutage: (until) => {
      server.awayUntil = Math.max(server.awayUntil, until);
    },
    strays: server.strays,
  };
}

interface Server {
  readonly workers: () => readonly SimulatedWorker[];
  /** How often a worker forgets a workflow that it has just worked on. */
  readonly evictions: number;
  awayUntil: number;
  readonly updates: Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>;
  readonly strays: string[];
}

const isUp = ({ process }: SimulatedWorker): boolean => process.alive && process.pausedUntil <= now();

async function untilServed(server: Server): Promise<void> {
  while (now() < server.awayUntil) await pause(server.awayUntil - now() + between(10, 1_000));
}

function give(server: Server, execution: Execution, input: Input): void {
  if (execution.status !== 'open') return;
  execution.inputs.push(input);
  dispatch(server, execution);
}

/** @param again a task that was lost had begun steps whose end only another task can bring */
function dispatch(server: Server, execution: Execution, again = false): void {
  const isDue = again || execution.inputs.length > 0;
  if (execution.status !== 'open' || execution.task !== null || !isDue) return;
  const task: Task = { inputs: [], worker: undefined };
  execution.task = task;
  after(between(1, 15), () => void hand(server, execution, task));
}

async function hand(server: Server, execution: Execution, task: Task): Promise<void> {
  await untilServed(server);
  const { sticky } = execution;
  let worker = sticky !== null && isUp(sticky) ? sticky : undefined;
  while (worker === undefined) {
    const up = server.workers().filter(isUp);
    if (up.length > 0) worker = pick(up);
    else await pause(500);
  }
  if (execution.task !== task) return;
  task.worker = worker;
  task.inputs = execution.inputs.splice(0);
  watch(server, execution, task);
  await work(server, execution, { task, worker });
}

/** A worker that is gone or stands still loses its task after the time-out; one that lives keeps it by its heartbeats. */
function watch(server: Server, execution: Execution, task: Task): void {
  after(TASK_TIMEOUT_MS, () => {
    if (execution.task !== task || execution.status !== 'open') return;
    if (task.worker !== undefined && isUp(task.worker)) return watch(server, execution, task);
    execution.task = null;
    execution.sticky = null;
    execution.inputs.unshift(...task.inputs);
    dispatch(server, execution, true);
  });
}

interface Work {
  readonly task: Task;
  readonly worker: SimulatedWorker;
}

async function work(server: Server, execution: Execution, { task, worker }: Work): Promise<void> {
  await seam(worker.process, 'task_begun');
  const cached = worker.cache.get(execution.id);
  const isFresh = cached?.position === execution.history.length;
  const { live, begun } = isFresh ? { live: cached, begun: [] } : await replay(server, execution);
  worker.cache.delete(execution.id);
  let record: TaskRecord = { time: now(), inputs: task.inputs, locals: [], commands: [] };
  await activate(live, record.inputs, record.time);
  const locals = createLocals(worker);
  for (const command of begun) locals.start(command);
  const outgoing: Command[] = [];
  for (;;) {
    for (const command of live.commands.splice(0)) {
      if (command.kind === 'local') locals.start(command);
      else outgoing.push(command);
      record.commands.push(wordFor(command));
    }
    if (locals.count() === 0) break;
    const ended = await locals.next(HEARTBEAT_MS);
    if (ended !== undefined) {
      record.locals.push({ ...ended, time: now() });
      await activate(live, [{ kind: 'resolved', ...ended }], now());
      continue;
    }
    await seam(worker.process, 'heartbeat');
    await untilServed(server);
    if (!commit(server, execution, { task, record, commands: outgoing.splice(0) })) return;
    task.inputs = execution.inputs.splice(0);
    record = { time: now(), inputs: task.inputs, locals: [], commands: [] };
    await activate(live, record.inputs, record.time);
  }
  await seam(worker.process, 'task_done');
  await untilServed(server);
  if (!commit(server, execution, { task, record, commands: outgoing })) return;
  execution.task = null;
  live.position = execution.history.length;
  if (chance(server.evictions)) execution.sticky = null;
  else {
    worker.cache.set(execution.id, live);
    execution.sticky = worker;
  }
  dispatch(server, execution);
}

type LocalCommand = Command & { kind: 'local' | 'activity' };

/** Plays what is recorded again, in a fresh memory, and compares the commands. */
async function replay(server: Server, execution: Execution): Promise<{ live: Live; begun: LocalCommand[] }> {
  const live = createLive(execution.id, execution.runId);
  const unresolved = new Map<number, LocalCommand>();
  for (const record of execution.history) {
    const words: string[] = [];
    const collect = (): void => {
      for (const command of live.commands.splice(0)) {
        words.push(wordFor(command));
        if (command.kind === 'local') unresolved.set(command.seq, command);
      }
    };
    await activate(live, record.inputs, record.time);
    collect();
    for (const { seq, outcome, time } of record.locals) {
      unresolved.delete(seq);
      await activate(live, [{ kind: 'resolved', seq, outcome }], time);
      collect();
    }
    if (words.join() !== record.commands.join())
      server.strays.push(`${execution.id}: ${record.commands.join()} and now ${words.join()}`);
  }
  return { live, begun: [...unresolved.values()] };
}

async function activate(live: Live, inputs: readonly Input[], time: number): Promise<void> {
  live.now = time;
  for (const input of inputs) {
    take(live, input);
    do await pause(0);
    while (wake(live));
  }
}

function wordFor(command: Command): string {
  return 'seq' in command ? `${command.kind} ${command.seq} ${'name' in command ? command.name : ''}` : command.kind;
}

interface Commit {
  readonly task: Task;
  readonly record: TaskRecord;
  readonly commands: readonly Command[];
}

/** What the server takes of a task; nothing when it has given the task to another worker. */
function commit(server: Server, execution: Execution, { task, record, commands }: Commit): boolean {
  if (execution.task !== task || execution.status !== 'open') return false;
  const refused = new Set(commands.flatMap((command) => (command.kind === 'update_refused' ? [command.id] : [])));
  const inputs = record.inputs.filter((input) => input.kind !== 'update' || !refused.has(input.id));
  execution.history.push({ ...record, inputs, commands: record.commands.filter((word) => word !== 'update_refused') });
  for (const command of commands) carryOut(server, execution, command);
  return true;
}

function carryOut(server: Server, execution: Execution, command: Command): void {
  switch (command.kind) {
    case 'timer': {
      const fire = (): void => {
        execution.timers.delete(command.seq);
        give(server, execution, { kind: 'resolved', seq: command.seq, outcome: { ok: true, value: undefined } });
      };
      execution.timers.set(command.seq, after(command.milliseconds, fire));
      return;
    }
    case 'cancel': {
      execution.timers.get(command.seq)?.cancel();
      execution.timers.delete(command.seq);
      const step = execution.steps.get(command.seq);
      if (step !== undefined) step.over = true;
      execution.steps.delete(command.seq);
      return;
    }
    case 'activity': {
      const step: Step = { command, scheduledAt: now(), attempt: 1, over: false };
      execution.steps.set(command.seq, step);
      void runStep(server, execution, step);
      return;
    }
    case 'update_done':
    case 'update_refused': {
      const { outcome } = command;
      const waiting = server.updates.get(command.id);
      if (outcome.ok) waiting?.resolve(outcome.value);
      else waiting?.reject(outcome.error);
      return;
    }
    case 'end':
      execution.status = command.outcome.ok ? 'completed' : 'failed';
      execution.result = command.outcome.ok ? command.outcome.value : command.outcome.error;
      for (const timer of execution.timers.values()) timer.cancel();
      for (const step of execution.steps.values()) step.over = true;
      return;
    case 'local':
      return;
  }
}

async function runStep(server: Server, execution: Execution, step: Step): Promise<void> {
  await pause(between(1, 20));
  await untilServed(server);
  const up = server.workers().filter(isUp);
  if (step.over) return;
  if (up.length === 0) {
    await pause(500);
    return runStep(server, execution, step);
  }
  const { attempt, command } = step;
  const worker = pick(up);
  const limit = command.options.startToCloseTimeout ?? 60_000;
  const timer = after(limit, () => {
    if (step.attempt === attempt) again(server, execution, { step, error: new Error('start-to-close') });
  });
  const outcome = await call(worker, command, { attempt, scheduledTimestampMs: step.scheduledAt });
  await seam(worker.process, 'step_done');
  await untilServed(server);
  timer.cancel();
  if (step.over || step.attempt !== attempt) return;
  if (outcome.ok || isFinal(outcome.error)) finish(server, execution, { step, outcome });
  else again(server, execution, { step, error: outcome.error });
}

function finish(server: Server, execution: Execution, { step, outcome }: { step: Step; outcome: Outcome }): void {
  step.over = true;
  execution.steps.delete(step.command.seq);
  give(server, execution, { kind: 'resolved', seq: step.command.seq, outcome });
}

function again(server: Server, execution: Execution, { step, error }: { step: Step; error: unknown }): void {
  if (step.over) return;
  step.attempt += 1;
  after(delayOf(step.command.options, step.attempt - 1, error), () => void runStep(server, execution, step));
}

function delayOf({ retry = {} }: ActivityOptions, failures: number, error: unknown): number {
  if (error instanceof ApplicationFailure && error.nextRetryDelay != null) return Number(error.nextRetryDelay);
  const { initialInterval = 1_000, backoffCoefficient = 2, maximumInterval = 100 * initialInterval } = retry;
  return Math.min(maximumInterval, initialInterval * backoffCoefficient ** (failures - 1));
}

function isFinal(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.nonRetryable === true;
}

async function call(
  { process, activities }: SimulatedWorker,
  { name, input }: { readonly name: string; readonly input: unknown },
  info: { readonly attempt: number; readonly scheduledTimestampMs: number },
): Promise<Outcome> {
  await seam(process, 'step_begun');
  const activity = activities[name];
  if (activity === undefined) throw new Error(`No activity ${name}`);
  try {
    // What goes to a workflow and back is a copy, as through a payload.
    const value = await running.run({ kind: 'activity', process, info }, () => activity(structuredClone(input)));
    return { ok: true, value: value === undefined ? undefined : structuredClone(value) };
  } catch (error) {
    return { ok: false, error };
  }
}

interface Locals {
  start(command: Command & { kind: 'local' | 'activity' }): void;
  count(): number;
  /** The next one that ends, or undefined when none does for so long. */
  next(withinMs: number): Promise<{ readonly seq: number; readonly outcome: Outcome } | undefined>;
}

/** Local activities: run by the worker that holds the task, and tried again there. */
function createLocals(worker: SimulatedWorker): Locals {
  const ended: { seq: number; outcome: Outcome }[] = [];
  let count = 0;
  let notify = (): void => undefined;
  return {
    start(command) {
      count += 1;
      void runLocal(worker, command).then((outcome) => {
        ended.push({ seq: command.seq, outcome });
        notify();
      });
    },
    count: () => count,
    async next(withinMs) {
      if (ended.length === 0) {
        await new Promise<void>((resolve) => {
          notify = resolve;
          after(withinMs, resolve);
        });
      }
      const first = ended.shift();
      if (first !== undefined) count -= 1;
      return first;
    },
  };
}

async function runLocal(worker: SimulatedWorker, command: Command & { kind: 'local' | 'activity' }): Promise<Outcome> {
  const scheduledTimestampMs = now();
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await call(worker, command, { attempt, scheduledTimestampMs });
    if (outcome.ok || isFinal(outcome.error) || attempt === command.options.retry?.maximumAttempts) return outcome;
    await pause(delayOf(command.options, attempt, outcome.error));
    await seam(worker.process, 'local_again');
  }
}
