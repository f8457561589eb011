import {
  type Client,
  isGrpcServiceError,
  ServiceError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { CodedError } from '../domain/errors.ts';

export interface TemporalCalls {
  /**
   * Makes one call, at most `timeoutMs` long for its caller.
   * @throws CodedError `temporal_unavailable` when the server is away or does not answer in time
   */
  make<Result>(timeoutMs: number, call: () => Promise<Result>): Promise<Result>;
  /**
   * Resolves when no call is on its way any more, also none that was given up. Only then may the connection be closed: the
   * client tries again from a timer of its own, and one that finds the connection closed throws where nobody can catch it.
   */
  ended(): Promise<void>;
}

/** The client's deadline can be overrun by one of its pauses between tries, so a timer of ours stands behind it. */
const OVERRUN_MS = 250;

export function createTemporalCalls(client: Client): TemporalCalls {
  const onTheirWay = new Set<Promise<unknown>>();
  return {
    make: async (timeoutMs, call) => {
      const called = client.withDeadline(Date.now() + timeoutMs, call).catch((error: unknown) => {
        throw translate(error);
      });
      const over = called.then(ignore, ignore).finally(() => onTheirWay.delete(over));
      onTheirWay.add(over);
      return inTime(called, timeoutMs + OVERRUN_MS);
    },
    ended: async () => {
      await Promise.all(onTheirWay);
    },
  };
}

function ignore(): void {}

async function inTime<Result>(called: Promise<Result>, timeoutMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new CodedError('temporal_unavailable')), timeoutMs);
  });
  try {
    return await Promise.race([called, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whatever else the server says to a call that is right in itself, to the caller it is away. */
function translate(error: unknown): unknown {
  const isServerAway =
    error instanceof ServiceError ||
    error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
    isGrpcServiceError(error);
  return isServerAway ? new CodedError('temporal_unavailable', undefined, { cause: error }) : error;
}
