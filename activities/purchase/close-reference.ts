import { canClose, mayRepeat } from '../../domain/after-unknown.ts';
import type { CloseAnswer } from '../../domain/outcome.ts';
import type { AttemptRow } from '../../store/orders/standing.ts';
import { isOwnCallOver, secondsBetween } from '../clock.ts';
import { type Finding, found, type Subject } from '../finding.ts';
import type { Tools } from '../tools.ts';

const CLOSE_TIMEOUT_MS = 10_000;

/** When an action that waits for its customer has to end: with the order, or sooner where a time-out for actions is set. */
export function endOfAction(
  { actionSeconds }: Pick<Tools, 'actionSeconds'>,
  { attempt, expiresAt }: { readonly attempt: Pick<AttemptRow, 'firstSentAt'>; readonly expiresAt: string },
): number {
  const end = Date.parse(expiresAt);
  if (actionSeconds === undefined || attempt.firstSentAt === null) return end;
  return Math.min(end, Date.parse(attempt.firstSentAt) + actionSeconds * 1_000);
}

/** The shop has cancelled, or the customer has left an action alone until its time was over: the attempt has to end. */
export function isToBeEnded(tools: Pick<Tools, 'actionSeconds'>, subject: Subject): boolean {
  const { row, gateway, attempt, time } = subject;
  // Time alone ends only what waits for the customer; a payment that the gateway works on may take longer than an order lives.
  const isLeftAlone = attempt.status === 'requires_action' && endOfAction(tools, subject) <= time.getTime();
  const isOver = row.cancelRequested || isLeftAlone;
  return isOver && isClosable({ gateway, attempt }) && isOwnCallOver(gateway, attempt, time);
}

function isClosable({ gateway, attempt }: Pick<Subject, 'gateway' | 'attempt'>): boolean {
  return canClose({ capabilities: gateway.capabilities, gatewayReferenceKnown: attempt.gatewayReference !== null });
}

/**
 * Closing as a fence: where the request may not be sent again, an unknown reference is not waited for but shut, and then
 * nothing can come of it, however late it arrives.
 */
export function isFenceDue({ gateway, attempt, time }: Subject): boolean {
  const { capabilities } = gateway;
  const secondsSinceFirstSent = secondsBetween(attempt.firstSentAt ?? '', time);
  return (
    isClosable({ gateway, attempt }) &&
    !mayRepeat({ capabilities, secondsSinceFirstSent }) &&
    isOwnCallOver(gateway, attempt, time)
  );
}

/**
 * Shuts the attempt's reference at the gateway. Asked twice it answers the same, so a lost answer is found out by closing again;
 * and a charge that was quicker is what counts.
 */
export async function closeReference(tools: Tools, subject: Subject): Promise<Finding> {
  const answer = await closeSafely(tools, subject);
  await tools.watch.asked(subject.gateway.name, answer.kind !== 'unavailable');
  switch (answer.kind) {
    case 'unavailable':
      return { kind: 'unavailable', reason: `The gateway did not close the reference: ${answer.reason}.` };
    case 'found':
      return found(answer.outcome);
    case 'closed': {
      const decline = { code: 'closed_at_gateway', retriable: true } as const;
      const reason = 'The reference is closed at the gateway; nothing can come of it any more.';
      return { kind: 'news', outcome: { kind: 'declined', decline, raw: answer.raw }, reason };
    }
  }
}

async function closeSafely(tools: Tools, { row, attempt, gateway }: Subject): Promise<CloseAnswer> {
  if (gateway.close === undefined)
    throw new Error(`Gateway ${gateway.name} declares that it closes references and cannot`);
  const scope = { timeoutMs: CLOSE_TIMEOUT_MS, saveGatewayReference: () => Promise.resolve() };
  const { merchantReference, gatewayReference } = attempt;
  const command = { merchantReference, gatewayReference, amount: row.amount, firstSentAt: attempt.firstSentAt ?? '' };
  try {
    return await gateway.close(command, scope);
  } catch (cause) {
    tools.log.error({ orderId: row.orderId, err: cause }, 'A gateway adapter failed to close a reference.');
    return { kind: 'unavailable', reason: 'the adapter failed' };
  }
}
