import type { GatewayCapabilities, RepeatProtection } from '../../domain/capabilities.ts';
import type { PreparedRefund, RefundInquiry } from '../../domain/gateway.ts';
import type { Money } from '../../domain/money.ts';
import type { GatewayOutcome, InquiryAnswer } from '../../domain/outcome.ts';
import type { ScriptedGateway, ScriptedInquiry } from './scripted-gateway.ts';

/** What one request for a refund does: whether money moves, and what (or when) the caller is told; `true`: the truth. */
export interface ScriptedRefund {
  readonly moves: boolean;
  readonly answers: 'truth' | GatewayOutcome | (() => Promise<GatewayOutcome>);
}

export interface RefundingGateway extends ScriptedGateway {
  /** Money given back, by refund reference: the judge. */
  readonly refundLedger: Map<string, number>;
  readonly refundRequests: PreparedRefund[];
  readonly answersToRefundInquiries: ScriptedInquiry[];
}

export const REFUNDS: ScriptedRefund = { moves: true, answers: 'truth' };
const LOST = { kind: 'unknown', reason: 'the connection was cut', raw: '' } as const;
export const REFUND_ANSWER_LOST: ScriptedRefund = { moves: true, answers: LOST };
export const REFUND_NEVER_ARRIVES: ScriptedRefund = { moves: false, answers: LOST };
export const REFUND_UNREACHABLE: ScriptedRefund = {
  moves: false,
  answers: { kind: 'not_processed', declineCode: 'gateway_unreachable', reason: 'connection refused', raw: '' },
};
export const REFUND_REFUSED: ScriptedRefund = {
  moves: false,
  answers: { kind: 'declined', decline: { code: 'other', retriable: false }, raw: 'refused' },
};

/** Gives a scripted gateway refunds whose every answer is written beforehand; the last step repeats. */
export function withRefunds(
  gateway: ScriptedGateway,
  script: { refunds?: ScriptedRefund[]; inquiries?: ScriptedInquiry[]; repeat?: RepeatProtection } = {},
): RefundingGateway {
  const { refunds = [REFUNDS], inquiries = ['truth'], repeat = { by: 'reference', onRepeat: 'refused' } } = script;
  const amounts = new Map<string, Money>();
  const refundLedger = new Map<string, number>();
  const capabilities: GatewayCapabilities = { ...gateway.capabilities, refund: { partial: true, repeat } };
  const refunding: RefundingGateway = {
    ...gateway,
    capabilities,
    refundLedger,
    refundRequests: [],
    answersToRefundInquiries: [...inquiries],
    prepareRefund: ({ refundReference, charge, amount }) => ({
      refundReference,
      requestKey: refundReference,
      body: JSON.stringify({ refundReference, charge, amount }),
    }),
    async refund(prepared) {
      const { refundReference, body } = prepared;
      const { amount } = JSON.parse(body) as { readonly amount: Money };
      refunding.refundRequests.push(prepared);
      amounts.set(refundReference, amount);
      if (refundLedger.has(refundReference) && repeat.by !== 'nothing') return approved(amount);
      const step = refunds.length > 1 ? refunds.shift() : refunds[0];
      if (step === undefined) throw new Error('The script of the refunds is empty');
      if (step.moves) refundLedger.set(refundReference, (refundLedger.get(refundReference) ?? 0) + 1);
      if (step.answers === 'truth') return approved(amount);
      return typeof step.answers === 'function' ? step.answers() : step.answers;
    },
    inquireRefund: async (inquiry) => inquire(refunding, amounts, inquiry),
  };
  return refunding;
}

function inquire(
  { answersToRefundInquiries: answers, refundLedger }: RefundingGateway,
  amounts: ReadonlyMap<string, Money>,
  { refundReference, amount }: RefundInquiry,
): InquiryAnswer {
  const answer = answers.length > 1 ? answers.shift() : answers[0];
  if (answer !== undefined && answer !== 'truth') return answer;
  if (!refundLedger.has(refundReference)) return { kind: 'absent', raw: 'not found' };
  return { kind: 'found', outcome: approved(amounts.get(refundReference) ?? amount) };
}

function approved(amount: Money): GatewayOutcome & { readonly kind: 'approved' } {
  return { kind: 'approved', amount, raw: 'refunded' };
}
