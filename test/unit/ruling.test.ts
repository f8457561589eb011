import { describe, expect, it } from 'vitest';
import { ATTEMPT_STATUSES, ATTEMPT_TRANSITIONS, type AttemptStatus, isSettled } from '../../domain/attempt.ts';
import { type Money, money } from '../../domain/money.ts';
import { canMove, needsEvidence, ORDER_STATUSES, type OrderStatus } from '../../domain/order.ts';
import { type GatewayOutcome, OUTCOME_KINDS, type OutcomeKind } from '../../domain/outcome.ts';
import { type AttemptOnTrial, type Ruling, ruleOn } from '../../domain/ruling.ts';

const AMOUNT = money(1_999, 'EUR');

function outcomeOf(kind: OutcomeKind, amount: Money = AMOUNT): GatewayOutcome {
  const raw = '{}';
  switch (kind) {
    case 'approved':
      return { kind, amount, gatewayReference: 'ch_1', raw };
    case 'declined':
      return { kind, decline: { code: 'card_declined', retriable: true }, raw };
    case 'requires_action':
      return { kind, action: { kind: 'redirect', url: 'https://bank.example/3ds' }, raw };
    case 'pending':
      return { kind, raw };
    case 'not_processed':
      return { kind, declineCode: 'gateway_unreachable', reason: 'connection refused', raw };
    case 'unknown':
      return { kind, reason: 'no answer in time', raw };
  }
}

function trial(overrides: Partial<AttemptOnTrial> = {}): AttemptOnTrial {
  return {
    orderStatus: 'processing',
    orderAmount: AMOUNT,
    attemptStatus: 'sent',
    gatewayReference: null,
    gatewayReferenceTaken: false,
    overPaymentKnown: false,
    ...overrides,
  };
}

interface Case {
  readonly attempt: AttemptOnTrial;
  readonly outcome: GatewayOutcome;
  readonly anotherFollows: boolean;
  readonly ruling: Ruling;
}

/** Every order status with every attempt status, every outcome, and every doubt: also those that should never meet. */
const CASES: readonly Case[] = ORDER_STATUSES.flatMap((orderStatus) =>
  ATTEMPT_STATUSES.flatMap((attemptStatus) =>
    OUTCOME_KINDS.flatMap((kind) =>
      [AMOUNT, money(1_998, 'EUR'), money(1_999, 'USD')].flatMap((amount) =>
        [false, true].flatMap((gatewayReferenceTaken) =>
          [false, true].map((anotherFollows) => {
            const attempt = trial({ orderStatus, attemptStatus, gatewayReferenceTaken });
            const outcome = outcomeOf(kind, amount);
            return { attempt, outcome, anotherFollows, ruling: ruleOn(attempt, outcome, anotherFollows) };
          }),
        ),
      ),
    ),
  ),
);

/** The cases for which the claim does not hold, in words; empty when it holds for all. */
function exceptions(claim: (item: Case) => boolean): string[] {
  return CASES.filter((item) => !claim(item)).map(
    ({ attempt, outcome, ruling }) =>
      `order ${attempt.orderStatus}, attempt ${attempt.attemptStatus}, ${outcome.kind}: ${JSON.stringify(ruling)}`,
  );
}

const written = ({ attempt, ruling }: Case) => (ruling.kind === 'nothing_new' ? attempt : ruling);

describe('whatever the gateway says,', () => {
  it('a settled attempt never changes, and neither does its order', () => {
    expect(
      exceptions((item) => {
        if (!isSettled(item.attempt.attemptStatus)) return true;
        const { attemptStatus, orderStatus } = written(item);
        return attemptStatus === item.attempt.attemptStatus && orderStatus === item.attempt.orderStatus;
      }),
    ).toEqual([]);
  });

  it('an attempt only moves where its table lets it', () => {
    expect(
      exceptions((item) => {
        const [from, to] = [item.attempt.attemptStatus, written(item).attemptStatus];
        return from === to || ATTEMPT_TRANSITIONS[from].includes(to);
      }),
    ).toEqual([]);
  });

  it('an order only moves where its table lets it', () => {
    expect(
      exceptions((item) => {
        const [from, to] = [item.attempt.orderStatus, written(item).orderStatus];
        return from === to || canMove(from, to);
      }),
    ).toEqual([]);
  });

  it('an order becomes paid only by an approval of exactly its amount under a reference of its own', () => {
    const good = { kind: 'approved', amount: AMOUNT };
    expect(
      exceptions((item) => {
        if (item.attempt.orderStatus === 'paid' || written(item).orderStatus !== 'paid') return true;
        expect(item.outcome).toMatchObject(good);
        return item.ruling.kind === 'applied' && !item.attempt.gatewayReferenceTaken;
      }),
    ).toEqual([]);
  });

  it('money that came in always makes its order paid, goes back, or is put before a person', () => {
    expect(
      exceptions(({ attempt, outcome, ruling }) => {
        if (outcome.kind !== 'approved' || attempt.attemptStatus === 'approved') return true;
        if (ruling.kind === 'doubted' || ruling.kind === 'over_paid') return true;
        return ruling.kind === 'applied' && ruling.orderStatus === 'paid';
      }),
    ).toEqual([]);
  });

  it("C76: only money of exactly the amount, that makes no order paid and is nobody else's, goes back by itself", () => {
    expect(
      exceptions(({ attempt, outcome, ruling }) => {
        if (ruling.kind !== 'over_paid') return true;
        expect(outcome).toMatchObject({ kind: 'approved', amount: AMOUNT });
        const isPayment = attempt.orderStatus === 'paid' && attempt.attemptStatus === 'approved';
        return !isPayment && !attempt.gatewayReferenceTaken && ruling.orderStatus === attempt.orderStatus;
      }),
    ).toEqual([]);
  });

  it('an order fails only by a decline or by proof that nothing was processed', () => {
    expect(
      exceptions((item) => {
        if (item.attempt.orderStatus === 'failed' || written(item).orderStatus !== 'failed') return true;
        return item.outcome.kind === 'declined' || item.outcome.kind === 'not_processed';
      }),
    ).toEqual([]);
  });

  it('what is settled or ended is proven, and nothing else is', () => {
    expect(
      exceptions(({ attempt, ruling }) => {
        if (ruling.kind !== 'applied') return true;
        const settled = isSettled(ruling.attemptStatus) ? ruling.attemptStatus : null;
        const moved = ruling.orderStatus !== attempt.orderStatus;
        const ended = moved && needsEvidence(ruling.orderStatus) ? ruling.orderStatus : null;
        return ruling.provesAttemptStatus === settled && ruling.provesOrderStatus === ended;
      }),
    ).toEqual([]);
  });

  it('a doubt leaves the order open and says why in a sentence', () => {
    expect(
      exceptions(({ attempt, ruling }) => {
        if (ruling.kind !== 'doubted') return true;
        expect(ruling.reason).toMatch(/^The gateway .+\.$/);
        return ruling.orderStatus === attempt.orderStatus || ruling.orderStatus === 'unknown';
      }),
    ).toEqual([]);
  });

  it('"we do not know" replaces nothing that is known', () => {
    expect(
      exceptions((item) => {
        if (item.outcome.kind !== 'unknown' || item.ruling.kind === 'doubted') return true;
        const known = item.attempt.attemptStatus !== 'sent';
        return known ? item.ruling.kind === 'nothing_new' : written(item).attemptStatus === 'unknown';
      }),
    ).toEqual([]);
  });

  it('the same said twice is nothing new', () => {
    expect(
      exceptions(({ attempt, outcome, anotherFollows, ruling }) => {
        if (ruling.kind !== 'applied') return true;
        const after = { ...attempt, attemptStatus: ruling.attemptStatus, orderStatus: ruling.orderStatus };
        return ruleOn(after, outcome, anotherFollows).kind === 'nothing_new';
      }),
    ).toEqual([]);
  });
});

describe('the usual course', () => {
  const USUAL: readonly (readonly [OutcomeKind, AttemptStatus, OrderStatus])[] = [
    ['approved', 'approved', 'paid'],
    ['declined', 'declined', 'failed'],
    ['not_processed', 'not_processed', 'failed'],
    ['requires_action', 'requires_action', 'requires_action'],
    ['pending', 'pending', 'processing'],
    ['unknown', 'unknown', 'unknown'],
  ];

  it.each(USUAL)('%s: the attempt is %s, the order %s', (kind, attemptStatus, orderStatus) => {
    expect(ruleOn(trial(), outcomeOf(kind))).toMatchObject({ kind: 'applied', attemptStatus, orderStatus });
  });

  it('a request that never left leaves the order in processing when another attempt follows by itself', () => {
    expect(ruleOn(trial(), outcomeOf('not_processed'), true)).toEqual({
      kind: 'applied',
      attemptStatus: 'not_processed',
      orderStatus: 'processing',
      provesAttemptStatus: 'not_processed',
      provesOrderStatus: null,
    });
  });

  it('an unknown order whose attempt is found pending stays unknown', () => {
    const ruling = ruleOn(trial({ orderStatus: 'unknown', attemptStatus: 'unknown' }), outcomeOf('pending'));
    expect(ruling).toMatchObject({ kind: 'applied', attemptStatus: 'pending', orderStatus: 'unknown' });
  });
});

describe('put before a person, with the reason', () => {
  it.each([
    ['a wrong amount', trial(), outcomeOf('approved', money(1_998, 'EUR')), '19.98 EUR, the order is for 19.99 EUR'],
    ['a wrong currency', trial(), outcomeOf('approved', money(1_999, 'USD')), '19.99 USD, the order is for 19.99 EUR'],
    ["another attempt's reference", trial({ gatewayReferenceTaken: true }), outcomeOf('approved'), 'another attempt'],
    [
      'money of another amount after a decline',
      trial({ attemptStatus: 'declined', orderStatus: 'failed' }),
      outcomeOf('approved', money(1_998, 'EUR')),
      'of 19.98 EUR; the order is for 19.99 EUR',
    ],
    [
      'money after a decline, by the reference of another attempt',
      trial({ attemptStatus: 'declined', orderStatus: 'failed', gatewayReferenceTaken: true }),
      outcomeOf('approved'),
      'belongs to another attempt',
    ],
    [
      'a decline after the money',
      trial({ attemptStatus: 'approved', orderStatus: 'paid' }),
      outcomeOf('declined'),
      'settled as approved',
    ],
    ['an answer to nothing', trial({ attemptStatus: 'claimed' }), outcomeOf('approved'), 'never sent'],
    [
      'another amount for what is paid',
      trial({ attemptStatus: 'approved', orderStatus: 'paid' }),
      outcomeOf('approved', money(1_998, 'EUR')),
      'took 19.98 EUR',
    ],
    [
      'an event of another account',
      trial({ stranger: 'The gateway tells of another account.' }),
      outcomeOf('approved'),
      'another account',
    ],
  ])('%s', (_, attempt, outcome, reason) => {
    const ruling = ruleOn(attempt, outcome);
    expect(ruling).toMatchObject({ kind: 'doubted', reason: expect.stringContaining(reason) });
  });
});

describe('news that may be old', () => {
  const ruled = (attemptStatus: AttemptStatus, kind: OutcomeKind) =>
    ruleOn(trial({ attemptStatus, mayBeOld: true }), outcomeOf(kind)).kind;

  it('C36: never puts one step on the way in the place of another', () => {
    expect(ruled('requires_action', 'pending')).toBe('nothing_new');
    expect(ruled('pending', 'requires_action')).toBe('nothing_new');
  });

  it('tells what nobody knew, and how it ended', () => {
    expect(ruled('sent', 'requires_action')).toBe('applied');
    expect(ruled('unknown', 'pending')).toBe('applied');
    expect(ruled('requires_action', 'approved')).toBe('applied');
    expect(ruled('pending', 'declined')).toBe('applied');
  });
});

describe('money that the order does not need goes back', () => {
  it.each([
    ['after a decline', trial({ attemptStatus: 'declined', orderStatus: 'failed' }), 'declined'],
    ['C46: after a cancel', trial({ attemptStatus: 'not_processed', orderStatus: 'cancelled' }), 'not_processed'],
    ['after the end, for an attempt in doubt', trial({ attemptStatus: 'unknown', orderStatus: 'expired' }), 'approved'],
    ['of an order that another attempt paid', trial({ attemptStatus: 'declined', orderStatus: 'paid' }), 'declined'],
    [
      'C76: by a second charge under one merchant reference',
      trial({ attemptStatus: 'approved', orderStatus: 'paid', gatewayReference: 'ch_0' }),
      'approved',
    ],
  ] as const)('%s', (_, attempt, attemptStatus) => {
    const { orderStatus } = attempt;
    expect(ruleOn(attempt, outcomeOf('approved'))).toMatchObject({ kind: 'over_paid', attemptStatus, orderStatus });
  });

  it.each([
    ['the charge that made the order paid', { gatewayReference: 'ch_1' }],
    ['a charge that cannot be told from it', { gatewayReference: null }],
    ['money that is known already', { gatewayReference: 'ch_0', overPaymentKnown: true }],
  ])('but not %s', (_, known) => {
    const attempt = trial({ attemptStatus: 'approved', orderStatus: 'paid', ...known });
    expect(ruleOn(attempt, outcomeOf('approved'))).toEqual({ kind: 'nothing_new' });
  });
});

it('an order that has become unknown does not stay so when its request is found not to have left', () => {
  const unknown = {
    orderStatus: 'unknown',
    attemptStatus: 'unknown',
    orderAmount: { minorUnits: 1_000, currency: 'EUR' },
  } as Parameters<typeof ruleOn>[0];
  const outcome = { kind: 'not_processed', declineCode: 'gateway_unreachable', reason: 'refused', raw: '' } as const;
  expect(ruleOn(unknown, outcome, true)).toMatchObject({ orderStatus: 'failed', attemptStatus: 'not_processed' });
});
