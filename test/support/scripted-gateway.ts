import type { GatewayCapabilities } from '../../domain/capabilities.ts';
import type { CallScope, Gateway, InquiryCommand, PreparedCharge } from '../../domain/gateway.ts';
import type { Money } from '../../domain/money.ts';
import type { GatewayOutcome, InquiryAnswer } from '../../domain/outcome.ts';

/** What one request does at the scripted gateway: whether money moves, and what (or when) the caller is told. */
export interface ScriptedCharge {
  readonly moves: boolean;
  readonly answers: GatewayOutcome | ((prepared: PreparedCharge) => Promise<GatewayOutcome>);
}

export type ScriptedInquiry = InquiryAnswer | 'truth';

/**
 * A gateway inside the test's process whose every answer is written beforehand, with a ledger of its own. For tests in
 * virtual time, where a real server's clock would not follow; everywhere else the simulator is the gateway.
 */
export interface ScriptedGateway extends Gateway {
  /** Money moved, by merchant reference: the judge. */
  readonly ledger: Map<string, number>;
  readonly requests: PreparedCharge[];
  readonly inquiries: InquiryCommand[];
  /** The references that were closed; requests for them are refused. */
  readonly closed: Set<string>;
  /** The steps still to come; the last one repeats. */
  readonly charges: ScriptedCharge[];
  readonly answersToInquiries: ScriptedInquiry[];
}

const SCRIPTED_CAPABILITIES: GatewayCapabilities = {
  repeat: { by: 'reference', onRepeat: 'refused' },
  inquiry: { by: ['merchant_reference'], absentConclusiveAfterSeconds: 60 },
  savesGatewayReferenceFirst: false,
  webhooks: 'none',
  statements: false,
  closing: { by: [] },
  authorize: null,
  refund: null,
  callTimeoutSeconds: 10,
  reference: { lengthMax: 30, pattern: '^[0-9A-Z]+$' },
  currencyDecimals: {},
  timeZone: 'UTC',
};

export function createScriptedGateway(
  script: {
    charges?: ScriptedCharge[];
    inquiries?: ScriptedInquiry[];
    capabilities?: Partial<GatewayCapabilities>;
  } = {},
): ScriptedGateway {
  const ledger = new Map<string, number>();
  const amounts = new Map<string, Money>();
  const seen = new Map<string, GatewayOutcome>();
  const gateway: ScriptedGateway = {
    name: 'scripted',
    capabilities: { ...SCRIPTED_CAPABILITIES, ...script.capabilities },
    ledger,
    requests: [],
    inquiries: [],
    closed: new Set(),
    charges: script.charges ?? [CHARGES],
    answersToInquiries: script.inquiries ?? ['truth'],
    prepareCharge: ({ merchantReference, amount, paymentMethod }) => ({
      merchantReference,
      requestKey: merchantReference,
      body: JSON.stringify({ merchantReference, amount, paymentMethod }),
    }),
    async charge(prepared: PreparedCharge, _scope: CallScope) {
      gateway.requests.push(prepared);
      const { amount } = JSON.parse(prepared.body) as { amount: Money };
      amounts.set(prepared.merchantReference, amount);
      if (gateway.closed.has(prepared.merchantReference)) return unknown('reference closed');
      const first = seen.get(prepared.merchantReference);
      if (first !== undefined && gateway.capabilities.repeat.by === 'key') return first;
      if (first !== undefined && gateway.capabilities.repeat.by === 'reference')
        return unknown('reference already used');
      const step = next(gateway.charges);
      if (step.moves) ledger.set(prepared.merchantReference, (ledger.get(prepared.merchantReference) ?? 0) + 1);
      if (step.moves) seen.set(prepared.merchantReference, approved(amount));
      return typeof step.answers === 'function' ? step.answers(prepared) : resolveAmount(step.answers, amount);
    },
    async close({ merchantReference }: InquiryCommand) {
      gateway.closed.add(merchantReference);
      const amount = amounts.get(merchantReference);
      if (!ledger.has(merchantReference) || amount === undefined) return { kind: 'closed', raw: 'closed' };
      return { kind: 'found', outcome: approved(amount) as Extract<InquiryAnswer, { kind: 'found' }>['outcome'] };
    },
    async inquire(command: InquiryCommand) {
      gateway.inquiries.push(command);
      const answer = next(gateway.answersToInquiries);
      if (answer !== 'truth')
        return answer.kind === 'found'
          ? { ...answer, outcome: resolveAmount(answer.outcome, command.amount) as typeof answer.outcome }
          : answer;
      const amount = amounts.get(command.merchantReference);
      if (!ledger.has(command.merchantReference) || amount === undefined) return { kind: 'absent', raw: 'not found' };
      return { kind: 'found', outcome: approved(amount) as Extract<InquiryAnswer, { kind: 'found' }>['outcome'] };
    },
  };
  return gateway;
}

/** Stands for "the order's own amount" in scripts, which are written before there is an order. */
const SAME_AMOUNT: Money = { minorUnits: -1, currency: 'EUR' };

export const approvedAnswer: GatewayOutcome = { kind: 'approved', amount: SAME_AMOUNT, raw: 'approved' };
const declinedAnswer: GatewayOutcome = {
  kind: 'declined',
  decline: { code: 'card_declined', retriable: true },
  raw: 'declined',
};

export const CHARGES: ScriptedCharge = { moves: true, answers: approvedAnswer };
export const DECLINES: ScriptedCharge = { moves: false, answers: declinedAnswer };
export const ANSWER_LOST: ScriptedCharge = { moves: true, answers: unknown('the connection was cut') };
export const NEVER_ARRIVES: ScriptedCharge = { moves: false, answers: unknown('the connection was cut') };
export const UNREACHABLE: ScriptedCharge = {
  moves: false,
  answers: { kind: 'not_processed', declineCode: 'gateway_unreachable', reason: 'connection refused', raw: '' },
};

export function unknown(reason: string): GatewayOutcome {
  return { kind: 'unknown', reason, raw: '' };
}

function approved(amount: Money): GatewayOutcome {
  return { kind: 'approved', amount, raw: 'approved' };
}

function resolveAmount(outcome: GatewayOutcome, amount: Money): GatewayOutcome {
  return outcome.kind === 'approved' && outcome.amount === SAME_AMOUNT ? { ...outcome, amount } : outcome;
}

function next<Step>(steps: Step[]): Step {
  const step = steps.length > 1 ? steps.shift() : steps[0];
  if (step === undefined) throw new Error('The script of the gateway is empty');
  return step;
}
