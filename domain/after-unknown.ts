import type { GatewayCapabilities } from './capabilities.ts';

/** What is known about a sent attempt whose outcome is not. Times are seconds since the first send. */
export interface UnknownAttempt {
  readonly capabilities: GatewayCapabilities;
  readonly secondsSinceFirstSent: number;
  readonly gatewayReferenceKnown: boolean;
}

export type ResolutionStep =
  | 'inquire_by_gateway_reference'
  | 'inquire_by_merchant_reference'
  /** Sends the stored bytes again: only where the gateway answers a repeat with the original. */
  | 'replay_same_request'
  /** Shuts the reference at the gateway, so that nothing can come of it any more. */
  | 'close_reference'
  /** A webhook or a statement line will tell; until then nothing is done. */
  | 'wait_for_word'
  | 'ask_a_person';

/**
 * May the stored request be sent again without any chance of a second charge? A key protects only inside its window, and
 * the repeat itself takes time: a request that leaves just before the end may arrive after it.
 */
export function mayRepeat({
  capabilities,
  secondsSinceFirstSent,
}: Omit<UnknownAttempt, 'gatewayReferenceKnown'>): boolean {
  const { repeat } = capabilities;
  if (repeat.by === 'reference') return true;
  if (repeat.by === 'nothing') return false;
  return secondsSinceFirstSent + 2 * capabilities.callTimeoutSeconds < repeat.windowSeconds;
}

/** A reference is shut under a name that the gateway takes: ours, or its own once we have heard it. */
export function canClose({
  capabilities,
  gatewayReferenceKnown,
}: Pick<UnknownAttempt, 'capabilities' | 'gatewayReferenceKnown'>): boolean {
  const { by } = capabilities.closing;
  return by.includes('merchant_reference') || (by.includes('gateway_reference') && gatewayReferenceKnown);
}

/**
 * What may be done about an attempt with an unknown outcome, best first and never empty. Asking comes before repeating,
 * because a question moves no money. Nothing here can ever name a new charge: that takes proof of absence first.
 */
export function stepsAfterUnknown(attempt: UnknownAttempt): readonly [ResolutionStep, ...ResolutionStep[]] {
  const { capabilities, gatewayReferenceKnown } = attempt;
  const steps: ResolutionStep[] = [];
  if (capabilities.inquiry.by.includes('gateway_reference') && gatewayReferenceKnown)
    steps.push('inquire_by_gateway_reference');
  if (capabilities.inquiry.by.includes('merchant_reference')) steps.push('inquire_by_merchant_reference');
  if (repeatTellsTheOutcome(capabilities) && mayRepeat(attempt)) steps.push('replay_same_request');
  if (canClose(attempt)) steps.push('close_reference');
  if (capabilities.webhooks !== 'none' || capabilities.statements) steps.push('wait_for_word');
  const [first = 'ask_a_person', ...rest] = steps;
  return first === 'ask_a_person' ? [first] : [first, ...rest, 'ask_a_person'];
}

/** A gateway that refuses a repeat says only that the first arrived, not how it ended. */
function repeatTellsTheOutcome({ repeat }: GatewayCapabilities): boolean {
  return repeat.by === 'key' || (repeat.by === 'reference' && repeat.onRepeat === 'returns_original');
}

/**
 * May "I do not know this reference" be believed? Only when our own call is over and the gateway's longest delivery time
 * has passed since then: a request can still be on its way when its sender has given up.
 */
export function isAbsenceConclusive({
  capabilities,
  secondsSinceLastSent,
}: {
  readonly capabilities: GatewayCapabilities;
  readonly secondsSinceLastSent: number;
}): boolean {
  const { absentConclusiveAfterSeconds } = capabilities.inquiry;
  if (absentConclusiveAfterSeconds === null) return false;
  return secondsSinceLastSent >= capabilities.callTimeoutSeconds + absentConclusiveAfterSeconds;
}

/**
 * What follows once absence is proven. Where a repeat is protected the same bytes go out again, so that even a first
 * request that arrives after all cannot become a second charge. Elsewhere the attempt is closed, and it is the
 * customer who decides about another one.
 */
export function afterProvenAbsence(
  attempt: Omit<UnknownAttempt, 'gatewayReferenceKnown'>,
): 'send_again' | 'close_attempt' {
  return mayRepeat(attempt) ? 'send_again' : 'close_attempt';
}
