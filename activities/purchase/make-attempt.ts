import { reach } from '../../process/points.ts';
import type { MakeAttemptCommand, Standing } from '../../workflows/contracts.ts';
import type { Tools } from '../tools.ts';
import { charge } from './charge.ts';
import { claim } from './claim.ts';

/**
 * Claims an attempt and charges it. One step for Temporal and not two, because each step costs a round trip through the
 * sandbox, a tenth of a purchase; what keeps it right when it runs again is on the rows, after the claim as before it.
 */
export async function makeAttempt(tools: Tools, command: MakeAttemptCommand): Promise<Standing> {
  const { attemptNumber } = command.attempt;
  await reach('attempt_begun', command.orderId);
  const claimed = await claim(tools, command);
  await reach('claim_committed', command.orderId);
  return claimed.kind === 'claimed' ? charge(tools, { ...command, attemptNumber }) : claimed.standing;
}
