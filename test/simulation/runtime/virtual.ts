import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Virtual time: a queue of things to happen, carried out one after the other. Between two of them every promise that can
 * go on does go on, so a run depends on its seed and on nothing else.
 */
interface Happening {
  readonly at: number;
  readonly order: number;
  readonly act: () => void;
}

/** A process of the simulation; what runs in one that has died never goes on. */
export interface SimulatedProcess {
  readonly name: string;
  alive: boolean;
  pausedUntil: number;
}

/** What runs right now, for code that asks. */
export type Running =
  | { readonly kind: 'workflow'; readonly live: unknown; readonly scope: unknown }
  | { readonly kind: 'activity'; readonly process: SimulatedProcess; readonly info: ActivityFacts };

export interface ActivityFacts {
  readonly attempt: number;
  readonly scheduledTimestampMs: number;
}

export const running = new AsyncLocalStorage<Running>();

const BEGINNING = Date.UTC(2026, 0, 1);

const state = {
  now: BEGINNING,
  order: 0,
  heap: [] as Happening[],
  random: () => 0,
  ids: 0,
  seam: (_process: SimulatedProcess, _place: string): Promise<void> => Promise.resolve(),
};

/** Begins anew. @param seam what may happen to a process where it could die or stand still */
export function reset(random: () => number, seam: typeof state.seam): void {
  Object.assign(state, { now: BEGINNING, order: 0, heap: [], random, ids: 0, seam });
}

export const now = (): number => state.now;
export const random = (): number => state.random();
export const seam = (process: SimulatedProcess, place: string): Promise<void> => state.seam(process, place);

/** A number from `low` to below `high`. */
export const between = (low: number, high: number): number => low + random() * (high - low);
export const chance = (probability: number): boolean => random() < probability;
export function pick<T>(items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('There is nothing to pick from');
  return item;
}

export function after(milliseconds: number, act: () => void): { cancel(): void } {
  let cancelled = false;
  state.order += 1;
  push({
    at: state.now + Math.max(0, Math.ceil(milliseconds)),
    order: state.order,
    act: () => {
      if (!cancelled) act();
    },
  });
  return {
    cancel: () => {
      cancelled = true;
    },
  };
}

export const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => after(milliseconds, resolve));

/** Carries out what happens until then. `look` is called after each thing. */
export async function runUntil(end: number, look: () => void): Promise<void> {
  for (let next = state.heap[0]; next !== undefined && next.at <= end; next = state.heap[0]) {
    pop();
    state.now = Math.max(state.now, next.at);
    next.act();
    await new Promise((resolve) => setImmediate(resolve));
    look();
  }
  state.now = Math.max(state.now, end);
}

function isBefore(left: Happening, right: Happening): boolean {
  return left.at < right.at || (left.at === right.at && left.order < right.order);
}

function push(happening: Happening): void {
  const { heap } = state;
  let place = heap.push(happening) - 1;
  while (place > 0) {
    const parent = (place - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || isBefore(above, happening)) break;
    heap[place] = above;
    place = parent;
  }
  heap[place] = happening;
}

function pop(): void {
  const { heap } = state;
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let place = 0;
  for (;;) {
    let child = 2 * place + 1;
    const [left, right] = [heap[child], heap[child + 1]];
    if (left === undefined) break;
    if (right !== undefined && isBefore(right, left)) child += 1;
    const below = heap[child];
    if (below === undefined || !isBefore(below, last)) break;
    heap[place] = below;
    place = child;
  }
  heap[place] = last;
}

/** A number in [0, 1) from a seed, the same for ever. */
export function createRandom(seed: number): () => number {
  let a = (seed ^ 0x9e3779b9) >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A version 7 UUID in virtual time. */
export function newId(): string {
  state.ids += 1;
  const time = Math.floor(state.now).toString(16).padStart(12, '0');
  const tail = Math.floor(random() * 2 ** 44)
    .toString(16)
    .padStart(11, '0');
  const count = (state.ids % 4_096).toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-8${tail.slice(0, 3)}-${tail.slice(3)}${'0000'}`.slice(0, 36);
}
