import { looksLikeCardNumber } from '../../domain/card-number.ts';
import { ORDER_TRANSITIONS } from '../../domain/order.ts';
import type { ChargeInLedger, OrderFacts, Row } from './facts.ts';

export interface Invariant {
  readonly id: string;
  readonly says: string;
  readonly reads: readonly (keyof OrderFacts)[];
  /** @returns what is wrong, in sentences; nothing where it holds */
  readonly check: (facts: OrderFacts) => readonly string[];
}

export interface Violation {
  readonly invariant: string;
  readonly orderId: string;
  readonly sentence: string;
}

/** Judges one order by every invariant. */
export function judge(facts: OrderFacts): Violation[] {
  return INVARIANTS.flatMap(({ id, check }) =>
    check(facts).map((sentence) => ({ invariant: id, orderId: String(facts.order.id), sentence })),
  );
}

const sum = (rows: readonly Row[], column: string): number => rows.reduce((all, row) => all + Number(row[column]), 0);
const unless = (holds: boolean, sentence: string): string[] => (holds ? [] : [sentence]);
const OPEN = ['processing', 'unknown', 'requires_action', 'authorized'];
const WITHOUT_MONEY = ['failed', 'cancelled', 'expired', 'voided'];
const status = ({ order }: OrderFacts): string => String(order.status);
const taken = ({ charges }: OrderFacts): ChargeInLedger[] => charges.filter((charge) => charge.status === 'approved');
const isExact = ({ minorUnits, currency }: ChargeInLedger, { order }: OrderFacts): boolean =>
  minorUnits === Number(order.amount_minor_units) && currency === order.currency;

function oneCharge(facts: OrderFacts): string[] {
  const money = taken(facts);
  const explained = facts.overPayments.length;
  const isOpen = OPEN.includes(status(facts)) || facts.order.needs_review === true || explained > 0;
  return [
    ...unless(money.length <= 1, `${money.length} charges moved money`),
    ...unless(
      money.every((charge) => isExact(charge, facts)),
      'a charge moved another amount than the order has',
    ),
    ...unless(
      facts.stage === 'during' || money.length === 0 || status(facts) === 'paid' || isOpen,
      `money moved, and the order is ${status(facts)} with nothing that explains it`,
    ),
  ];
}

function oneRequestAnAttempt(facts: OrderFacts): string[] {
  const several = facts.requests.filter(({ keys, bodies }) => keys.length > 1 || bodies.length > 1);
  const stored = new Map(facts.attempts.map((row) => [row.merchant_reference, row]));
  const others = facts.requests.filter(({ reference, keys }) => {
    const key = stored.get(reference)?.request_key;
    return typeof key === 'string' && !keys.includes(key);
  });
  const last = facts.attempts.reduce(
    (most, { attempt_number, sends }) => (Number(sends) > 0 ? Math.max(most, Number(attempt_number)) : most),
    0,
  );
  const alive = facts.charges.filter(
    (charge) => charge.status !== 'declined' && Number(charge.reference.slice(-2)) < last,
  );
  return [
    ...several.map(({ reference }) => `requests under ${reference} differ in key or body`),
    ...others.map(({ reference }) => `the gateway saw another key under ${reference} than is stored`),
    ...alive.map(({ reference }) => `attempt ${last} was sent although ${reference} is alive at the gateway`),
  ];
}

function paidIsTrue(facts: OrderFacts): string[] {
  if (status(facts) !== 'paid') return [];
  return unless(
    taken(facts).some((charge) => isExact(charge, facts)),
    'the order is paid, and the ledger does not hold its money',
  );
}

function unpaidIsTrue(facts: OrderFacts): string[] {
  if (!WITHOUT_MONEY.includes(status(facts))) return [];
  return unless(
    taken(facts).length <= facts.overPayments.length,
    `the order is ${status(facts)}, and the ledger holds money for it`,
  );
}

function movesAlongTheGraph({ statuses }: OrderFacts): string[] {
  return statuses.flatMap((to, index) => {
    const from = statuses[index - 1];
    const allowed: readonly string[] =
      from === undefined ? ['created', to] : (ORDER_TRANSITIONS[from as keyof typeof ORDER_TRANSITIONS] ?? []);
    return unless(from === to || allowed.includes(to), `the order went from ${from} to ${to}`);
  });
}

function nothingIsForgotten(facts: OrderFacts): string[] {
  const known = new Set(facts.attempts.map(({ merchant_reference }) => merchant_reference));
  const orphans = facts.charges.filter(({ reference }) => !known.has(reference));
  const isLeft = facts.stage === 'after' && OPEN.includes(status(facts));
  return [
    ...orphans.map(({ reference }) => `the ledger's charge ${reference} belongs to no attempt`),
    ...unless(
      !isLeft || facts.order.needs_review === true,
      `the order is still ${status(facts)}, and nobody is to look at it`,
    ),
    ...unless(
      !isLeft || facts.workflow === null || facts.workflow.status === 'open',
      `the order is ${status(facts)} without a workflow`,
    ),
  ];
}

const FAILED = ['failed'];

function refundsFit(facts: OrderFacts): string[] {
  const alive = facts.refunds.filter((refund) => !FAILED.includes(String(refund.status)));
  const ordinary = alive.filter((refund) => (refund.over_payment_id ?? null) === null);
  const numbers = facts.refunds
    .map(({ gateway_reference }) => gateway_reference ?? null)
    .filter((number) => number !== null);
  const perOverPayment = facts.overPayments.filter(
    ({ id }) => alive.filter((refund) => refund.over_payment_id === id).length > 1,
  );
  const captured = Number(facts.order.captured_minor_units ?? 0);
  return [
    ...unless(sum(ordinary, 'amount_minor_units') <= captured, 'the refunds are larger than what was captured'),
    ...unless(new Set(numbers).size === numbers.length, 'two refunds carry one number of the gateway'),
    ...perOverPayment.map(() => 'an over-payment is refunded twice'),
  ];
}

function goodChargeStays(facts: OrderFacts): string[] {
  const good = facts.attempts.find((attempt) => attempt.status === 'approved');
  const wrong = facts.refunds.filter(
    (refund) =>
      refund.over_payment_id != null &&
      refund.charge_gateway_reference != null &&
      refund.charge_gateway_reference === good?.gateway_reference,
  );
  return wrong.map(() => 'the charge that makes the order paid is refunded by itself');
}

function toldOnce(facts: OrderFacts): string[] {
  const paid = facts.outbox.filter(({ kind }) => kind === 'order.paid').length;
  const kinds = facts.entitlements.map(({ kind }) => kind);
  return [
    ...unless(paid <= 1, `order.paid is told ${paid} times`),
    ...unless(
      (paid === 1) === (status(facts) === 'paid'),
      `the order is ${status(facts)}, and order.paid is told ${paid} times`,
    ),
    ...unless(new Set(kinds).size === kinds.length, 'an entitlement is granted twice'),
  ];
}

function eventsStay(facts: OrderFacts): string[] {
  if (facts.stage === 'during') return [];
  const left = facts.inbox.filter(({ applied_at, status: how }) => applied_at === null && how === undefined);
  return left.map(({ event_id }) => `the stored event ${String(event_id)} was never applied nor explained`);
}

function journalBalances({ journal }: OrderFacts): string[] {
  const totals = new Map<string, number>();
  for (const { movement, currency, amount_minor_units } of journal) {
    const place = `${String(movement)} ${String(currency)}`;
    totals.set(place, (totals.get(place) ?? 0) + Number(amount_minor_units));
  }
  return [...totals].flatMap(([place, total]) =>
    unless(total === 0, `the journal's lines of ${place} add up to ${total}`),
  );
}

function sameQuestionSameAnswer({ told }: OrderFacts): string[] {
  const first = new Map<string, (typeof told)[number]>();
  return told.flatMap((answer) => {
    const before = first.get(answer.key);
    if (before === undefined || answer.key === '') {
      first.set(answer.key, answer);
      return [];
    }
    return unless(
      before.body !== answer.body || before.answer === answer.answer,
      `one key got two answers: ${before.answer} and ${answer.answer}`,
    );
  });
}

function amountsAreWhole(facts: OrderFacts): string[] {
  const amount = Number(facts.order.amount_minor_units);
  const sent = facts.attempts.flatMap(({ request_body }) =>
    typeof request_body === 'string' ? [amountIn(request_body)] : [],
  );
  return [
    ...unless(Number.isSafeInteger(amount) && amount > 0, `the order's amount ${amount} is not a whole number`),
    ...sent.flatMap((asked) =>
      unless(asked === undefined || asked === amount, `${asked} was asked of the gateway, not ${amount}`),
    ),
  ];
}

function amountIn(body: string): number | undefined {
  const { amount } = JSON.parse(body) as { amount?: { minorUnits?: number; minor_units?: number } };
  return amount?.minorUnits ?? amount?.minor_units;
}

function workflowIsSound({ workflow }: OrderFacts): string[] {
  if (workflow === null) return [];
  return [
    ...unless(workflow.status !== 'failed', 'the workflow failed'),
    ...workflow.strays.map((stray) => `a replay went astray: ${stray}`),
  ];
}

function noCardNumber(facts: OrderFacts): string[] {
  if (facts.stage === 'during') return [];
  const texts = [...facts.evidence, facts.order].flatMap((row) => [row.detail, row.description]);
  return texts.flatMap((text) =>
    unless(
      text == null || !looksLikeCardNumber(typeof text === 'string' ? text : JSON.stringify(text)),
      'a card number is in the database',
    ),
  );
}

function neverLessThanPaid({ told }: OrderFacts): string[] {
  const paidAt = told.findIndex((answer) => answer.status === 'paid');
  if (paidAt < 0) return [];
  return told
    .slice(paidAt)
    .flatMap((answer) => unless(answer.status === 'paid', `a caller was told paid, and later ${answer.status}`));
}

/** What must hold of every order, by the numbers of docs/reliability.md. Statement lines (I11) come with reconciliation. */
export const INVARIANTS: readonly Invariant[] = [
  {
    id: 'I1',
    says: 'At most one charge of an order moves money, for exactly its amount.',
    reads: ['charges', 'order', 'overPayments'],
    check: oneCharge,
  },
  {
    id: 'I2',
    says: 'One attempt has one key and one body; the next one is sent only when the one before is dead.',
    reads: ['requests', 'attempts', 'charges'],
    check: oneRequestAnAttempt,
  },
  {
    id: 'I3',
    says: 'Paid means that the ledger holds exactly that money.',
    reads: ['charges', 'order'],
    check: paidIsTrue,
  },
  {
    id: 'I4',
    says: 'Failed, cancelled, expired and voided mean that the ledger holds none.',
    reads: ['charges', 'order', 'overPayments'],
    check: unpaidIsTrue,
  },
  { id: 'I5', says: 'Statuses move only along the published graph.', reads: ['statuses'], check: movesAlongTheGraph },
  {
    id: 'I6',
    says: 'Nothing stays open unseen, and each charge in the ledger belongs to an attempt.',
    reads: ['attempts', 'charges', 'order', 'workflow'],
    check: nothingIsForgotten,
  },
  {
    id: 'I7',
    says: 'Refunds never exceed what was captured, and an over-payment is refunded once.',
    reads: ['refunds', 'overPayments', 'order'],
    check: refundsFit,
  },
  {
    id: 'I8',
    says: 'The charge that makes an order paid is never refunded by itself.',
    reads: ['refunds', 'attempts'],
    check: goodChargeStays,
  },
  {
    id: 'I9',
    says: 'The world is told once that an order is paid, exactly when it is.',
    reads: ['outbox', 'entitlements', 'order'],
    check: toldOnce,
  },
  { id: 'I10', says: 'Each stored event is applied or explained.', reads: ['inbox'], check: eventsStay },
  { id: 'I12', says: 'The journal of each movement adds up to zero.', reads: ['journal'], check: journalBalances },
  {
    id: 'I13',
    says: 'The same request under the same key gets the same answer.',
    reads: ['told'],
    check: sameQuestionSameAnswer,
  },
  {
    id: 'I14',
    says: 'Amounts are whole numbers of minor units, the same here and at the gateway.',
    reads: ['order', 'attempts'],
    check: amountsAreWhole,
  },
  {
    id: 'I15',
    says: 'No workflow fails, and a replay gives the recorded commands.',
    reads: ['workflow'],
    check: workflowIsSound,
  },
  { id: 'I16', says: 'No card number is stored.', reads: ['evidence', 'outbox', 'order'], check: noCardNumber },
  { id: 'I17', says: 'Who was told paid is never told less.', reads: ['told'], check: neverLessThanPaid },
];
