import type { InboxEventState } from '../domain/gateway-event.ts';
import type { ApplyEventInput } from './messages.ts';
import { local } from './steps.ts';

/**
 * Applies one stored event of a gateway where no purchase workflow runs: before the first pay, and after the order's end.
 * Ends with how the event stands.
 */
export async function applyEvent(input: ApplyEventInput): Promise<InboxEventState> {
  return local.applyEvent(input);
}
