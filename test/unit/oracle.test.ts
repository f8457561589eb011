import { describe, expect, it } from 'vitest';
import { type ChargeInLedger, factsOf, type OrderFacts, type Row } from '../oracle/facts.ts';
import { INVARIANTS, judge } from '../oracle/invariants.ts';

const ORDER: Row = {
  id: 'o',
  status: 'paid',
  amount_minor_units: 1_000,
  currency: 'EUR',
  needs_review: false,
  captured_minor_units: 1_000,
};
const REFERENCE = '01JERA0000E008000000000001';
const charge = (number: number, more: Partial<ChargeInLedger> = {}): ChargeInLedger => ({
  reference: `${REFERENCE}0${number}`,
  status: 'approved',
  minorUnits: 1_000,
  currency: 'EUR',
  ...more,
});
const attempt = (number: number, more: Row = {}): Row => ({
  attempt_number: number,
  merchant_reference: `${REFERENCE}0${number}`,
  status: 'approved',
  sends: 1,
  request_body: '{"amount":{"minor_units":1000}}',
  gateway_reference: 'ch_1',
  ...more,
});
const told = (status: string, more: Partial<OrderFacts['told'][number]> = {}) => ({
  key: '',
  body: '',
  answer: status,
  status,
  ...more,
});

const SOUND = factsOf(ORDER, {
  stage: 'after',
  attempts: [attempt(1)],
  charges: [charge(1)],
  requests: [{ reference: `${REFERENCE}01`, keys: ['k'], bodies: ['b'] }],
  outbox: [{ kind: 'order.paid', payload: {} }],
  statuses: ['created', 'processing', 'paid'],
  told: [told('processing'), told('paid')],
  workflow: { status: 'completed', strays: [] },
});

/** For each invariant, orders that break it, made from one that breaks none. */
const BROKEN: Readonly<Record<string, readonly Partial<OrderFacts>[]>> = {
  I1: [
    { charges: [charge(1), charge(1)] },
    { charges: [charge(1, { minorUnits: 999 })] },
    { order: { ...ORDER, status: 'created' } },
  ],
  I2: [
    { requests: [{ reference: `${REFERENCE}01`, keys: ['k', 'other'], bodies: ['b'] }] },
    { requests: [{ reference: `${REFERENCE}01`, keys: ['k'], bodies: ['b', 'other'] }] },
    { attempts: [attempt(1), attempt(2)], charges: [charge(1, { status: 'pending' })] },
    { attempts: [attempt(1, { request_key: 'another' })] },
  ],
  I3: [{ charges: [] }, { charges: [charge(1, { currency: 'USD' })] }],
  I4: [{ order: { ...ORDER, status: 'failed' } }, { order: { ...ORDER, status: 'expired' } }],
  I5: [{ statuses: ['paid', 'failed'] }, { statuses: ['created', 'paid'] }],
  I6: [
    { attempts: [] },
    { order: { ...ORDER, status: 'unknown' } },
    { order: { ...ORDER, status: 'unknown', needs_review: true } },
  ],
  I7: [
    { refunds: [{ amount_minor_units: 1_001, status: 'sent' }] },
    { refunds: [1, 2].map(() => ({ amount_minor_units: 1, status: 'sent', gateway_reference: 're_1' })) },
    {
      overPayments: [{ id: 'x' }],
      refunds: [1, 2].map(() => ({ amount_minor_units: 1, status: 'sent', over_payment_id: 'x' })),
    },
  ],
  I8: [
    { refunds: [{ amount_minor_units: 1, status: 'sent', over_payment_id: 'x', charge_gateway_reference: 'ch_1' }] },
  ],
  I9: [
    { outbox: [1, 2].map(() => ({ kind: 'order.paid' })) },
    { outbox: [] },
    { entitlements: [1, 2].map(() => ({ kind: 'download' })) },
  ],
  I10: [{ inbox: [{ event_id: 'e', applied_at: null }] }],
  I12: [{ journal: [{ movement: 'm', currency: 'EUR', amount_minor_units: 1 }] }],
  I13: [{ told: [told('processing', { key: 'k', answer: '202' }), told('paid', { key: 'k', answer: '200' })] }],
  I14: [
    { order: { ...ORDER, amount_minor_units: 10.5 } },
    { attempts: [attempt(1, { request_body: '{"amount":{"minor_units":100000}}' })] },
  ],
  I15: [{ workflow: { status: 'failed', strays: [] } }, { workflow: { status: 'open', strays: ['x'] } }],
  I16: [{ evidence: [{ detail: 'card 4111 1111 1111 1111' }] }],
  I17: [{ told: [told('paid'), told('processing')] }],
};

describe('the oracle', () => {
  it('finds nothing wrong with an order that was charged once and paid', () => {
    expect(judge(SOUND)).toEqual([]);
  });

  const cases = Object.entries(BROKEN).flatMap(([id, broken]) =>
    broken.map((facts, index) => [id, index + 1, facts] as const),
  );

  it.each(cases)('%s sees its violation %i', (id, _, facts) => {
    const broken = judge({ ...SOUND, ...facts }).map(({ invariant }) => invariant);
    expect(broken).toContain(id);
  });

  it('has a violation for every invariant, and every invariant by number', () => {
    expect(INVARIANTS.map(({ id }) => id)).toEqual(Object.keys(BROKEN));
    const numbers = Array.from({ length: 17 }, (_, index) => `I${index + 1}`);
    expect(numbers.filter((id) => !(id in BROKEN))).toEqual(['I11']);
  });
});
