import { afterProvenAbsence, isAbsenceConclusive, stepsAfterUnknown } from '../../domain/after-unknown.ts';
import type { InquiryAnswer } from '../../domain/outcome.ts';
import { markSentAgain } from '../../store/orders/sends.ts';
import type { PurchaseRow } from '../../store/orders/standing.ts';
import { isOwnCallOver, secondsBetween } from '../clock.ts';
import { type Finding, found, nothing, type Subject } from '../finding.ts';
import type { Tools } from '../tools.ts';
import { closeReference, isFenceDue, isToBeEnded } from './close-reference.ts';
import { nudgeWorkflow, sendAndRecord } from './send.ts';

const INQUIRY_TIMEOUT_MS = 10_000;
/** How long a repeat may take before the activity leaves it to itself; the call goes on and records what comes. */
const REPEAT_HANDOVER_MS = 15_000;
/** The first request and two repeats: a gateway that loses three is not helped by a fourth. */
const SENDS_MAX = 3;

/** Takes the best step that the gateway's capabilities allow for an attempt whose outcome is not known. */
export async function findOut(tools: Tools, row: PurchaseRow, expiresAt: string): Promise<Finding> {
  const gateway = tools.gateways.get(row.gateway);
  const { attempt } = row;
  if (attempt?.firstSentAt == null || attempt.lastSentAt === null) return nothing('The attempt was not sent yet.');
  const time = await tools.clock();
  const subject = { row, attempt, gateway, expiresAt, time };
  if (isToBeEnded(tools, subject)) return closeReference(tools, subject);
  const facts = {
    capabilities: gateway.capabilities,
    secondsSinceFirstSent: secondsBetween(attempt.firstSentAt, time),
    gatewayReferenceKnown: attempt.gatewayReference !== null,
  };
  const [step] = stepsAfterUnknown(facts);
  switch (step) {
    case 'inquire_by_gateway_reference':
    case 'inquire_by_merchant_reference':
      return ask(tools, subject);
    case 'replay_same_request':
      return isOwnCallOver(gateway, attempt, time)
        ? repeat(tools, subject)
        : nothing('Our own call is still on its way.');
    case 'close_reference':
      return isOwnCallOver(gateway, attempt, time)
        ? closeReference(tools, subject)
        : nothing('Our own call is still on its way.');
    case 'wait_for_word':
      return nothing('This gateway cannot be asked; a webhook or a statement will tell.');
    case 'ask_a_person':
      return isOwnCallOver(gateway, attempt, time)
        ? { kind: 'needs_a_person', reason: 'Nothing but a person can find out what happened here.' }
        : nothing('Our own call is still on its way.');
  }
}

async function ask(tools: Tools, subject: Subject): Promise<Finding> {
  const answer = await askSafely(tools, subject);
  await tools.watch.asked(subject.gateway.name, answer.kind !== 'unavailable');
  switch (answer.kind) {
    case 'unavailable':
      return { kind: 'unavailable', reason: `The gateway did not answer the inquiry: ${answer.reason}.` };
    case 'found':
      return found(answer.outcome);
    case 'absent':
      return absent(tools, subject, answer.raw);
  }
}

async function askSafely(tools: Tools, { row, attempt, gateway }: Subject): Promise<InquiryAnswer> {
  if (gateway.inquire === undefined) throw new Error(`Gateway ${gateway.name} declares inquiries and has none`);
  const scope = { timeoutMs: INQUIRY_TIMEOUT_MS, saveGatewayReference: () => Promise.resolve() };
  const { merchantReference, gatewayReference } = attempt;
  const command = { merchantReference, gatewayReference, amount: row.amount, firstSentAt: attempt.firstSentAt ?? '' };
  try {
    return await gateway.inquire(command, scope);
  } catch (cause) {
    tools.log.error({ orderId: row.orderId, err: cause }, 'A gateway adapter failed at an inquiry.');
    return { kind: 'unavailable', reason: 'the adapter failed' };
  }
}

/** "Not found" is not "failed": until absence is conclusive, all it means is "ask again". */
async function absent(tools: Tools, subject: Subject, raw: string): Promise<Finding> {
  const { attempt, gateway, time } = subject;
  const { capabilities } = gateway;
  const secondsSinceLastSent = secondsBetween(attempt.lastSentAt ?? '', time);
  if (attempt.status === 'pending' || attempt.status === 'requires_action') {
    return nothing('The gateway does not find a charge that it has told us of.');
  }
  if (!isAbsenceConclusive({ capabilities, secondsSinceLastSent })) {
    if (isFenceDue(subject)) return closeReference(tools, subject);
    return nothing('The gateway does not know the reference yet; a request may still be on its way.');
  }
  const secondsSinceFirstSent = secondsBetween(attempt.firstSentAt ?? '', time);
  if (afterProvenAbsence({ capabilities, secondsSinceFirstSent }) === 'send_again' && mayStillCharge(subject)) {
    return repeat(tools, subject);
  }
  const reason = 'The gateway does not know the reference, and no request can be on its way any more.';
  return { kind: 'news', outcome: { kind: 'not_processed', declineCode: 'never_arrived', reason, raw }, reason };
}

/** A repeat can become the charge itself, so it is made only while the customer can still be expected to want it. */
function mayStillCharge({ row, attempt, expiresAt, time }: Subject): boolean {
  return !row.cancelRequested && attempt.sends < SENDS_MAX && time.getTime() < Date.parse(expiresAt);
}

async function repeat(tools: Tools, subject: Subject): Promise<Finding> {
  const { row, attempt, gateway, time } = subject;
  const { orderId, attemptNumber } = row;
  if (!mayStillCharge(subject))
    return nothing('No repeat is permitted any more; a webhook, a statement or a person will tell.');
  if (attempt.requestKey === null || attempt.requestBody === null)
    throw new Error(`Order ${orderId} was sent without its request stored`);
  const permitted = await markSentAgain(tools.database, {
    orderId,
    attemptNumber,
    sendsBefore: attempt.sends,
    now: time.toISOString(),
  });
  if (!permitted) return nothing('Another process is repeating the request.');
  const prepared = {
    merchantReference: attempt.merchantReference,
    requestKey: attempt.requestKey,
    body: attempt.requestBody,
  };
  const send = { gateway, prepared, orderId, attemptNumber, permittedAt: time, isFirst: false, anotherFollows: false };
  await tools.calls.run(
    () => sendAndRecord(tools, send),
    REPEAT_HANDOVER_MS,
    () => nudgeWorkflow(tools, orderId),
  );
  return nothing('The same request was sent again, which the gateway cannot take for a second charge.');
}
