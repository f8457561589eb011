import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ATTEMPT_STATUSES,
  ATTEMPT_TRANSITIONS,
  type AttemptStatus,
  isSettled,
  ORDER_STATUS_AFTER,
  SETTLED_ATTEMPT_STATUSES,
} from '../../domain/attempt.ts';
import { EVIDENCE_FOR_ORDER, EVIDENCE_KINDS } from '../../domain/evidence.ts';
import {
  ANSWERABLE_ORDER_STATUSES,
  canMove,
  EVIDENCED_ORDER_STATUSES,
  isAnswerable,
  isClosed,
  isPayable,
  needsEvidence,
  ORDER_STATUSES,
  ORDER_TRANSITIONS,
  type OrderStatus,
  PAYABLE_ORDER_STATUSES,
} from '../../domain/order.ts';

/** The page of states, written out a second time by hand: a slip in the one table must not pass by agreeing with itself. */
const ORDER_MOVES = new Set([
  'created > processing',
  'created > expired',
  'created > cancelled',
  'processing > paid',
  'processing > failed',
  'processing > unknown',
  'processing > requires_action',
  'processing > authorized',
  'requires_action > processing',
  'requires_action > paid',
  'requires_action > failed',
  'requires_action > unknown',
  'requires_action > expired',
  'authorized > paid',
  'authorized > voided',
  'authorized > expired',
  'authorized > unknown',
  'unknown > paid',
  'unknown > failed',
  'unknown > authorized',
  'failed > processing',
  'failed > expired',
  'failed > cancelled',
]);

const UNDECIDED: readonly AttemptStatus[] = ['requires_action', 'pending', 'unknown'];

const pairs = <Status>(statuses: readonly Status[]) =>
  statuses.flatMap((from) => statuses.map((to) => [from, to] as const));

describe('an order', () => {
  it.each(pairs(ORDER_STATUSES))('from %s to %s moves just as designed', (from, to) => {
    expect(canMove(from, to)).toBe(ORDER_MOVES.has(`${from} > ${to}`));
    expect(ORDER_TRANSITIONS[from].includes(to)).toBe(canMove(from, to));
  });

  it('has a row for every status, without doubles', () => {
    expect(Object.keys(ORDER_TRANSITIONS).sort()).toEqual([...ORDER_STATUSES].sort());
    for (const next of Object.values(ORDER_TRANSITIONS)) expect(new Set(next).size).toBe(next.length);
  });

  it('can reach every status from created', () => {
    const reached = new Set<OrderStatus>(['created']);
    for (const status of reached) for (const next of ORDER_TRANSITIONS[status]) reached.add(next);
    expect([...reached].sort()).toEqual([...ORDER_STATUSES].sort());
  });

  it('can reach an end from every status', () => {
    const ends = ORDER_STATUSES.filter(isClosed);
    expect(ends).toEqual(['paid', 'expired', 'cancelled', 'voided']);
    const leading = new Set<OrderStatus>(ends);
    for (let before = -1; before !== leading.size; ) {
      before = leading.size;
      for (const status of ORDER_STATUSES)
        if (ORDER_TRANSITIONS[status].some((next) => leading.has(next))) leading.add(status);
    }
    expect(leading.size).toBe(ORDER_STATUSES.length);
  });

  it('needs evidence for every end and for failed, and for nothing that is still going on', () => {
    expect(EVIDENCED_ORDER_STATUSES).toEqual(['paid', 'failed', 'expired', 'cancelled', 'voided']);
    for (const status of ORDER_STATUSES) {
      expect(needsEvidence(status)).toBe(isClosed(status) || status === 'failed');
      expect(needsEvidence(status)).toBe((EVIDENCED_ORDER_STATUSES as readonly OrderStatus[]).includes(status));
    }
  });

  it('is payable only when nothing was tried or the last attempt is proven dead', () => {
    expect(ORDER_STATUSES.filter(isPayable)).toEqual(['created', 'failed']);
    expect([...PAYABLE_ORDER_STATUSES]).toEqual(['created', 'failed']);
    for (const status of ORDER_STATUSES) {
      const claimable = canMove(status, 'processing') && status !== 'requires_action';
      expect(isPayable(status)).toBe(claimable);
    }
  });

  it('answers the caller of pay in every status but created, processing and unknown', () => {
    expect(ORDER_STATUSES.filter((status) => !isAnswerable(status))).toEqual(['created', 'processing', 'unknown']);
    expect(ORDER_STATUSES.filter(isAnswerable).sort()).toEqual([...ANSWERABLE_ORDER_STATUSES].sort());
  });

  it('is never proven paid by the fact that nothing was sent', () => {
    expect(Object.keys(EVIDENCE_FOR_ORDER).sort()).toEqual([...EVIDENCED_ORDER_STATUSES].sort());
    expect(EVIDENCE_FOR_ORDER.paid).not.toContain('never_sent');
    expect(EVIDENCE_FOR_ORDER.voided).not.toContain('never_sent');
    for (const kinds of Object.values(EVIDENCE_FOR_ORDER)) {
      expect(kinds.length).toBeGreaterThan(0);
      expect(EVIDENCE_KINDS).toEqual(expect.arrayContaining([...kinds]));
    }
  });
});

describe('an attempt', () => {
  it.each(pairs(ATTEMPT_STATUSES))('from %s to %s moves just as designed', (from, to) => {
    const settledOrUndecided = to !== 'claimed' && to !== 'sent';
    const designed =
      (from === 'claimed' && (to === 'sent' || to === 'not_processed')) ||
      (from === 'sent' && settledOrUndecided) ||
      (UNDECIDED.includes(from) && settledOrUndecided && from !== to);
    expect(ATTEMPT_TRANSITIONS[from].includes(to)).toBe(designed);
  });

  it('has a row for every status, without doubles', () => {
    expect(Object.keys(ATTEMPT_TRANSITIONS).sort()).toEqual([...ATTEMPT_STATUSES].sort());
    for (const next of Object.values(ATTEMPT_TRANSITIONS)) expect(new Set(next).size).toBe(next.length);
  });

  it('is settled exactly where it cannot change any more', () => {
    for (const status of ATTEMPT_STATUSES) expect(isSettled(status)).toBe(ATTEMPT_TRANSITIONS[status].length === 0);
    expect(ATTEMPT_STATUSES.filter(isSettled)).toEqual([...SETTLED_ATTEMPT_STATUSES]);
  });
});

describe('an order follows its live attempt', () => {
  it.each([
    ['claimed', 'processing'],
    ['sent', 'processing'],
    ['pending', 'processing'],
    ['requires_action', 'requires_action'],
    ['unknown', 'unknown'],
    ['approved', 'paid'],
    ['declined', 'failed'],
    ['not_processed', 'failed'],
  ] as const)('%s: %s', (attempt, order) => {
    expect(ORDER_STATUS_AFTER[attempt]).toBe(order);
  });

  it('where a settled attempt always means an evidenced status', () => {
    for (const status of ATTEMPT_STATUSES) {
      expect(needsEvidence(ORDER_STATUS_AFTER[status])).toBe(isSettled(status));
    }
  });

  const attemptMoves = ATTEMPT_STATUSES.flatMap((from) => ATTEMPT_TRANSITIONS[from].map((to) => [from, to] as const));

  /** An unknown order whose attempt turns out to be waiting stays unknown: going back would hide that it was lost once. */
  const STAYS: ReadonlySet<string> = new Set(['unknown > requires_action', 'unknown > processing']);

  it.each(attemptMoves)('when the attempt goes from %s to %s the order may go along, or stays unknown', (from, to) => {
    const orderFrom = ORDER_STATUS_AFTER[from];
    const orderTo = ORDER_STATUS_AFTER[to];
    const goesAlong = orderFrom === orderTo || canMove(orderFrom, orderTo);
    expect(goesAlong).toBe(!STAYS.has(`${orderFrom} > ${orderTo}`));
  });

  it('so an unknown order can still end in any way its attempt can', () => {
    for (const status of SETTLED_ATTEMPT_STATUSES) expect(canMove('unknown', ORDER_STATUS_AFTER[status])).toBe(true);
  });
});

describe('on a random walk', () => {
  const choices = fc.array(fc.nat(), { minLength: 1, maxLength: 40 });

  /** Goes where each number points among the next statuses; stays where there are none. */
  function walk<Status extends string>(
    start: Status,
    table: Readonly<Record<Status, readonly Status[]>>,
    numbers: number[],
  ) {
    const path = [start];
    for (const number of numbers) {
      const here = path.at(-1) ?? start;
      path.push(table[here][number % table[here].length] ?? here);
    }
    return path;
  }

  it('an order never leaves an end', () => {
    fc.assert(
      fc.property(choices, (numbers) => {
        const path = walk<OrderStatus>('created', ORDER_TRANSITIONS, numbers);
        const end = path.findIndex(isClosed);
        if (end >= 0) expect(new Set(path.slice(end)).size).toBe(1);
      }),
    );
  });

  it('an order is paid only after it was in processing', () => {
    fc.assert(
      fc.property(choices, (numbers) => {
        const path = walk<OrderStatus>('created', ORDER_TRANSITIONS, numbers);
        if (path.includes('paid')) expect(path.slice(0, path.indexOf('paid'))).toContain('processing');
      }),
    );
  });

  it('an order can be tried again only after failed, or after the customer has acted', () => {
    fc.assert(
      fc.property(choices, (numbers) => {
        const path = walk<OrderStatus>('created', ORDER_TRANSITIONS, numbers);
        for (const [index, status] of path.entries()) {
          if (index === 0 || status !== 'processing' || path[index - 1] === status) continue;
          expect(['created', 'failed', 'requires_action']).toContain(path[index - 1]);
        }
      }),
    );
  });

  it('a settled attempt never changes', () => {
    fc.assert(
      fc.property(choices, (numbers) => {
        const path = walk<AttemptStatus>('claimed', ATTEMPT_TRANSITIONS, numbers);
        const end = path.findIndex(isSettled);
        if (end >= 0) expect(new Set(path.slice(end)).size).toBe(1);
      }),
    );
  });
});
