/**
 * The gateway calls that this process has on their way. A call outlives the activity that began it: the activity hands
 * over after some seconds, while the call goes on to the gateway's own time-out and writes down whatever comes.
 */
export interface CallsInFlight {
  /**
   * Starts a call and waits for its end at most `waitMs`. Resolves `true` when the call ended in time; otherwise `false`,
   * and `afterHandover` follows once the call has ended. Neither may reject: a call turns every failure into an outcome.
   */
  run(call: () => Promise<void>, waitMs: number, afterHandover: () => Promise<void>): Promise<boolean>;
  /** Resolves when no call is on its way any more: a worker that shuts down waits here, so that no answer is lost. */
  drain(): Promise<void>;
  count(): number;
}

export function createCallsInFlight(): CallsInFlight {
  const calls = new Set<Promise<void>>();
  return {
    async run(call, waitMs, afterHandover) {
      let handedOver = false;
      const called = call();
      const running = called
        .then(() => (handedOver ? afterHandover() : undefined))
        .finally(() => calls.delete(running));
      calls.add(running);
      const timer = startTimer(waitMs);
      handedOver = !(await Promise.race([called.then(() => true), timer.over.then(() => false)]));
      timer.stop();
      return !handedOver;
    },
    async drain() {
      while (calls.size > 0) await Promise.all(calls);
    },
    count: () => calls.size,
  };
}

function startTimer(milliseconds: number): { readonly over: Promise<void>; readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  return { over, stop: () => clearTimeout(timer) };
}
