import { after, newId, now, pause, random, running, seam } from './virtual.ts';

/** What the product's code finds in the place of the machine's clock, timers, random numbers and points. */
const RealDate = globalThis.Date;

class VirtualDate extends RealDate {
  constructor(...values: readonly unknown[]) {
    super(...((values.length === 0 ? [now()] : values) as [number]));
  }
  static override now(): number {
    return now();
  }
}

export { VirtualDate as Date };

export const setTimeout = (act: () => void, milliseconds = 0): { cancel(): void } => after(milliseconds, act);
export const clearTimeout = (timer: { cancel(): void } | undefined): void => timer?.cancel();

/** `setTimeout` of node:timers/promises. */
export { pause };

export const VirtualMath: typeof globalThis.Math = Object.assign(Object.create(globalThis.Math), { random });

export const v7 = newId;
export const randomUUID = newId;

/** A point is where the process that runs may die. */
export function reach(name: string): Promise<void> {
  const what = running.getStore();
  return what?.kind === 'activity' ? seam(what.process, name) : Promise.resolve();
}
