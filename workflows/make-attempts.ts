import { sleep, workflowInfo } from '@temporalio/workflow';
import { isToBeCancelled } from './cancel.ts';
import type { Standing } from './contracts.ts';
import type { AttemptRequest, PurchaseInput } from './messages.ts';
import type { OperatorView } from './operator-view.ts';
import { local } from './steps.ts';

/**
 * How long to wait before each further attempt when a request could not leave: the gateway's port is closed, so nothing
 * was sent and trying again is safe with any gateway. About four minutes in all; after that the customer is told, for
 * nobody expects to be charged long after they went away.
 */
const UNREACHABLE_RETRY_SECONDS: readonly number[] = [1, 2, 5, 10, 20, 30, 60, 120];

/**
 * Carries out one wish to pay: claim, charge, and further attempts only for as long as nothing left this machine. Returns
 * how the order stands then, which may be "nobody knows".
 */
export async function makeAttempts(
  input: PurchaseInput,
  request: AttemptRequest,
  view: OperatorView,
): Promise<Standing> {
  const { orderId, settings } = input;
  const { handoverAfterMs } = settings;
  const run = workflowInfo().firstExecutionRunId;
  let attemptNumber = request.attemptNumber;
  for (const wait of [...UNREACHABLE_RETRY_SECONDS, undefined]) {
    const attempt = { ...request, attemptNumber };
    const anotherFollowsIfNotProcessed = wait !== undefined;
    const standing = await local.makeAttempt({ orderId, attempt, run, handoverAfterMs, anotherFollowsIfNotProcessed });
    const anotherIsDue = standing.orderStatus === 'processing' && standing.attemptStatus === 'not_processed';
    if (!anotherIsDue || wait === undefined || isToBeCancelled(standing)) return standing;
    view.show(standing, `The gateway cannot be reached; nothing was sent. Tries again in ${wait} s.`);
    await sleep(wait * 1_000);
    attemptNumber = standing.attemptNumber + 1;
  }
  throw new Error('unreachable: the last try returns');
}
