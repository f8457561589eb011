export interface Timed {
  /** One for each job, in the order in which they ended. */
  readonly milliseconds: readonly number[];
  readonly elapsedMs: number;
}

/**
 * Does the jobs with so many in flight at any time: as soon as one is over the next begins, as a shop with that many
 * customers at once. The first job that fails fails the whole, because a rate over failures means nothing.
 */
export async function timeAll<Job>(
  jobs: readonly Job[],
  inFlight: number,
  carryOut: (job: Job) => Promise<void>,
): Promise<Timed> {
  const milliseconds: number[] = [];
  const waiting = jobs[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (const job of waiting) {
      const began = performance.now();
      await carryOut(job);
      milliseconds.push(performance.now() - began);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: inFlight }, lane));
  return { milliseconds, elapsedMs: performance.now() - began };
}
