import { running, now as virtualNow } from './virtual.ts';

/**
 * What workflows find in the place of @temporalio/workflow: the handful of functions that they use, on a workflow that
 * lives in this process and can be played again from what was recorded of it.
 */
export { ApplicationFailure } from '@temporalio/common';

export type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

export type Command =
  | { readonly kind: 'timer'; readonly seq: number; readonly milliseconds: number }
  | { readonly kind: 'cancel'; readonly seq: number }
  | {
      readonly kind: 'local' | 'activity';
      readonly seq: number;
      readonly name: string;
      readonly input: unknown;
      readonly options: ActivityOptions;
    }
  | { readonly kind: 'update_done'; readonly id: number; readonly outcome: Outcome }
  | { readonly kind: 'update_refused'; readonly id: number; readonly outcome: Outcome }
  | { readonly kind: 'end'; readonly outcome: Outcome };

export interface ActivityOptions {
  readonly startToCloseTimeout?: number;
  readonly retry?: {
    readonly initialInterval?: number;
    readonly backoffCoefficient?: number;
    readonly maximumInterval?: number;
    readonly maximumAttempts?: number;
  };
}

export type Input =
  | { readonly kind: 'begin'; readonly type: (input: unknown) => Promise<unknown>; readonly input: unknown }
  | { readonly kind: 'resolved'; readonly seq: number; readonly outcome: Outcome }
  | { readonly kind: 'signal'; readonly name: string; readonly inputs: readonly unknown[] }
  | { readonly kind: 'update'; readonly id: number; readonly name: string; readonly inputs: readonly unknown[] };

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A workflow as it lives in a worker's memory. */
export interface Live {
  now: number;
  readonly runId: string;
  readonly workflowId: string;
  readonly commands: Command[];
  readonly pending: Map<number, Waiting>;
  readonly conditions: Set<{ readonly test: () => boolean; readonly met: () => void }>;
  readonly handlers: Map<
    string,
    {
      readonly run: (...inputs: readonly unknown[]) => unknown;
      readonly validator: ((...inputs: readonly unknown[]) => void) | undefined;
    }
  >;
  readonly early: (Input & { kind: 'signal' })[];
  nextSeq: number;
  busy: number;
  /** How many recorded tasks it has gone through. */
  position: number;
}

export function createLive(workflowId: string, runId: string): Live {
  return {
    now: virtualNow(),
    runId,
    workflowId,
    commands: [],
    pending: new Map(),
    conditions: new Set(),
    handlers: new Map(),
    early: [],
    nextSeq: 1,
    busy: 0,
    position: 0,
  };
}

/** Hands one input over. The promises that it wakes go on afterwards. */
export function take(live: Live, input: Input): void {
  running.run({ kind: 'workflow', live, scope: null }, () => {
    if (input.kind === 'begin') begin(live, input);
    else if (input.kind === 'resolved') settle(live, input.seq, input.outcome);
    else if (input.kind === 'signal') signal(live, input);
    else update(live, input);
  });
}

/** Wakes those whose condition holds; whether there were any. */
export function wake(live: Live): boolean {
  const met = [...live.conditions].filter(({ test }) => test());
  for (const one of met) {
    live.conditions.delete(one);
    one.met();
  }
  return met.length > 0;
}

function begin(live: Live, { type, input }: Input & { kind: 'begin' }): void {
  const end = (outcome: Outcome): void => void live.commands.push({ kind: 'end', outcome });
  type(input).then(
    (value) => end({ ok: true, value }),
    (error: unknown) => end({ ok: false, error }),
  );
}

function settle(live: Live, seq: number, outcome: Outcome): void {
  const waiting = live.pending.get(seq);
  live.pending.delete(seq);
  if (outcome.ok) waiting?.resolve(outcome.value);
  else waiting?.reject(outcome.error);
}

function signal(live: Live, input: Input & { kind: 'signal' }): void {
  const handler = live.handlers.get(input.name);
  if (handler === undefined) live.early.push(input);
  else void track(live, () => handler.run(...input.inputs));
}

function update(live: Live, { id, name, inputs }: Input & { kind: 'update' }): void {
  const handler = live.handlers.get(name);
  const refuse = (error: unknown): void =>
    void live.commands.push({ kind: 'update_refused', id, outcome: { ok: false, error } });
  if (handler === undefined) {
    refuse(new Error(`No handler for ${name}`));
    return;
  }
  try {
    handler.validator?.(...inputs);
  } catch (error) {
    refuse(error);
    return;
  }
  const done = (outcome: Outcome): void => void live.commands.push({ kind: 'update_done', id, outcome });
  track(live, () => handler.run(...inputs)).then(
    (value) => done({ ok: true, value }),
    (error: unknown) => done({ ok: false, error }),
  );
}

async function track(live: Live, run: () => unknown): Promise<unknown> {
  live.busy += 1;
  try {
    return await run();
  } finally {
    live.busy -= 1;
  }
}

function current(): Live {
  const what = running.getStore();
  if (what?.kind !== 'workflow') throw new Error('This is called outside of a workflow');
  return what.live as Live;
}

function currentScope(): CancellationScope | null {
  const what = running.getStore();
  return what?.kind === 'workflow' ? (what.scope as CancellationScope | null) : null;
}

const RealDate = globalThis.Date;

/** Time stands still inside a task, and is the recorded one when the task is played again. */
export class WorkflowDate extends RealDate {
  constructor(...values: readonly unknown[]) {
    super(...((values.length === 0 ? [current().now] : values) as [number]));
  }
  static override now(): number {
    return current().now;
  }
}

function request(live: Live, command: (seq: number) => Command): { promise: Promise<unknown>; seq: number } {
  const seq = live.nextSeq;
  live.nextSeq += 1;
  const promise = new Promise((resolve, reject) => live.pending.set(seq, { resolve, reject }));
  live.commands.push(command(seq));
  return { promise, seq };
}

function cancel(live: Live, seq: number): void {
  const waiting = live.pending.get(seq);
  if (waiting === undefined) return;
  live.pending.delete(seq);
  live.commands.push({ kind: 'cancel', seq });
  waiting.reject(Object.assign(new Error('cancelled'), { isCancellation: true }));
}

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};

function toMs(duration: number | string): number {
  if (typeof duration === 'number') return duration;
  const [, count, unit = ''] = /^([\d.]+)\s*([a-z]+?)s?$/.exec(duration) ?? [];
  return Number(count) * (UNITS_MS[unit] ?? Number.NaN);
}

export async function sleep(duration: number | string): Promise<void> {
  const live = current();
  const { promise, seq } = request(live, (timer) => ({ kind: 'timer', seq: timer, milliseconds: toMs(duration) }));
  currentScope()?.members.add(() => cancel(live, seq));
  await promise;
}

export function condition(test: () => boolean): Promise<void>;
export function condition(test: () => boolean, timeout: number | string): Promise<boolean>;
export async function condition(test: () => boolean, timeout?: number | string): Promise<unknown> {
  const live = current();
  if (test()) return true;
  const met = new Promise<boolean>((resolve) => live.conditions.add({ test, met: () => resolve(true) }));
  if (timeout === undefined) return met;
  const { promise, seq } = request(live, (timer) => ({ kind: 'timer', seq: timer, milliseconds: toMs(timeout) }));
  const first = await Promise.race([met, promise.then(() => false).catch(() => true)]);
  if (first) cancel(live, seq);
  return first;
}

type Steps = Readonly<Record<string, (input: unknown) => Promise<unknown>>>;

function proxy<T>(kind: 'local' | 'activity', options: ActivityOptions): T {
  const call = (name: string) => (input: unknown) => {
    const live = current();
    const { promise, seq } = request(live, (step) => ({ kind, seq: step, name, input, options }));
    currentScope()?.members.add(() => cancel(live, seq));
    return promise;
  };
  return new Proxy({} as Steps, { get: (_target, name) => call(String(name)) }) as T;
}

export const proxyActivities = <T>(options: ActivityOptions): T => proxy<T>('activity', options);
export const proxyLocalActivities = <T>(options: ActivityOptions): T => proxy<T>('local', options);
export const ActivityCancellationType = {
  TRY_CANCEL: 'TRY_CANCEL',
  WAIT_CANCELLATION_COMPLETED: 'WAIT',
  ABANDON: 'ABANDON',
};

export class CancellationScope {
  readonly members = new Set<() => void>();
  run<T>(work: () => Promise<T>): Promise<T> {
    return running.run({ kind: 'workflow', live: current(), scope: this }, work);
  }
  cancel(): void {
    for (const member of this.members) member();
  }
  static cancellable<T>(work: () => Promise<T>): Promise<T> {
    return new CancellationScope().run(work);
  }
  static nonCancellable<T>(work: () => Promise<T>): Promise<T> {
    return new CancellationScope().run(work);
  }
}

export function isCancellation(error: unknown): boolean {
  return error instanceof Error && 'isCancellation' in error;
}

export const defineSignal = (name: string): string => name;
export const defineUpdate = (name: string): string => name;
export const defineQuery = (name: string): string => `query ${name}`;

export function setHandler(
  name: string,
  run: (...inputs: readonly unknown[]) => unknown,
  options?: { readonly validator?: (...inputs: readonly unknown[]) => void },
): void {
  const live = current();
  live.handlers.set(name, { run, validator: options?.validator });
  for (const input of live.early.splice(0)) signal(live, input);
}

export const allHandlersFinished = (): boolean => current().busy === 0;
export const workflowInfo = () => {
  const { runId, workflowId } = current();
  return { workflowId, runId, firstExecutionRunId: runId };
};
export const setCurrentDetails = (): void => undefined;
export const upsertSearchAttributes = (): void => undefined;
export const patched = (): boolean => true;
export const deprecatePatch = (): void => undefined;
export const log = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };

const absent = (name: string) => (): never => {
  throw new Error(`${name} is not in the simulation yet`);
};

/** What workflows outside of the simulated paths import. */
export const continueAsNew = absent('continueAsNew');
export const executeChild = absent('executeChild');
export const startChild = absent('startChild');
export const getExternalWorkflowHandle = absent('getExternalWorkflowHandle');
export const uuid4 = absent('uuid4');
