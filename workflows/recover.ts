import { continueAsNew, sleep } from '@temporalio/workflow';
import type { AskWaitingResult } from './contracts.ts';
import type { RecoverInput } from './messages.ts';
import { sweeping } from './steps.ts';

/** How many orders are told to ask in one wave, and the pause after it: 50 questions a second is what a gateway takes that is just back. */
const WAVE = 50;
const PAUSE_MS = 1_000;
/** Waves in one history. */
const WAVES_MAX = 400;

/**
 * After a gateway's outage: has every order that waits for it ask now, in bounded waves, because its own schedule may say
 * "in hours" (promise R4). Returns how many were told.
 */
export async function recover({ gateway, after: first }: RecoverInput): Promise<number> {
  let after = first;
  let told = 0;
  for (let wave = 0; wave < WAVES_MAX; wave += 1) {
    const result: AskWaitingResult = await sweeping.askWaitingOrders({ gateway, after, limit: WAVE });
    told += result.told;
    after = result.next;
    if (after === null) return told;
    await sleep(PAUSE_MS);
  }
  return continueAsNew<typeof recover>({ gateway, after });
}
