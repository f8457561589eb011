import fc from 'fast-check';
import { v7 as newId } from 'uuid';
import { describe, expect, it } from 'vitest';
import { ATTEMPT_NUMBER_MAX } from '../../domain/attempt.ts';
import { MERCHANT_REFERENCE, merchantReference, readMerchantReference } from '../../domain/merchant-reference.ts';

const anyOrderId = fc.uuid();
const anyAttempt = fc.integer({ min: 1, max: ATTEMPT_NUMBER_MAX });

const LOWEST = '00000000-0000-0000-0000-000000000000';
const HIGHEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

describe('the merchant reference', () => {
  it.each([
    [LOWEST, 1, '0000000000000000000000000001'],
    [HIGHEST, 99, '7ZZZZZZZZZZZZZZZZZZZZZZZZZ99'],
    // The example of the ULID specification: the same 128 bits in both writings.
    ['01563e3a-b5d3-d676-4c61-efb99302bd5b', 1, '01ARZ3NDEKTSV4RRFFQ69G5FAV' + '01'],
  ])('of %s, attempt %i, is %s', (orderId, attempt, reference) => {
    expect(merchantReference(orderId, attempt)).toBe(reference);
  });

  it('leads back to its order and attempt, and to no other', () => {
    fc.assert(
      fc.property(anyOrderId, anyAttempt, (orderId, attemptNumber) => {
        expect(readMerchantReference(merchantReference(orderId, attemptNumber))).toEqual({ orderId, attemptNumber });
      }),
    );
  });

  it('is the same every time: a retry must not make another charge', () => {
    fc.assert(
      fc.property(anyOrderId, anyAttempt, (orderId, attempt) => {
        expect(merchantReference(orderId, attempt)).toBe(merchantReference(orderId, attempt));
      }),
    );
  });

  it('differs wherever order or attempt differ', () => {
    fc.assert(
      fc.property(anyOrderId, anyAttempt, anyOrderId, anyAttempt, (orderA, attemptA, orderB, attemptB) => {
        const same = orderA === orderB && attemptA === attemptB;
        expect(merchantReference(orderA, attemptA) === merchantReference(orderB, attemptB)).toBe(same);
      }),
    );
    const ofOneOrder = Array.from({ length: ATTEMPT_NUMBER_MAX }, (_, index) => merchantReference(HIGHEST, index + 1));
    expect(new Set(ofOneOrder).size).toBe(ATTEMPT_NUMBER_MAX);
  });

  it('has 28 capital letters and digits, so that it fits the strictest gateway (Payworks: 30, no hyphens)', () => {
    fc.assert(
      fc.property(anyOrderId, anyAttempt, (orderId, attempt) => {
        const reference = merchantReference(orderId, attempt);
        expect(reference).toMatch(/^[0-9A-Z]{28}$/);
        expect(reference).toMatch(MERCHANT_REFERENCE);
        expect(reference).not.toMatch(/[ILOU]/);
      }),
    );
  });

  it('sorts like the orders and their attempts', () => {
    fc.assert(
      fc.property(anyOrderId, anyAttempt, anyOrderId, anyAttempt, (orderA, attemptA, orderB, attemptB) => {
        const byOrder = orderA < orderB || (orderA === orderB && attemptA < attemptB);
        expect(merchantReference(orderA, attemptA) < merchantReference(orderB, attemptB)).toBe(byOrder);
      }),
    );
  });

  it('of an order made later comes later', () => {
    const earlier = newId({ msecs: 1_700_000_000_000 });
    const later = newId({ msecs: 1_700_000_000_001 });
    expect(merchantReference(earlier, 99) < merchantReference(later, 1)).toBe(true);
  });

  it.each([
    '',
    'order-1',
    HIGHEST.toUpperCase(),
    HIGHEST.replaceAll('-', ''),
    `${LOWEST} `,
    `{${LOWEST}}`,
    `${LOWEST}\n`,
  ])('is refused for the order id %j', (orderId) => {
    expect(() => merchantReference(orderId, 1)).toThrow(RangeError);
  });

  it.each([0, -1, 1.5, ATTEMPT_NUMBER_MAX + 1, Number.NaN, Number.POSITIVE_INFINITY])(
    'is refused for attempt %d',
    (attempt) => {
      expect(() => merchantReference(LOWEST, attempt)).toThrow(RangeError);
    },
  );
});

describe('a reference on a statement', () => {
  const GOOD = merchantReference(LOWEST, 1);

  it.each([
    ['', 'nothing'],
    [GOOD.slice(1), 'too short'],
    [`${GOOD}1`, 'too long'],
    [`${GOOD}\n`, 'a line end'],
    [GOOD.replace('0', 'I'), 'a letter that Crockford left out'],
    [`${GOOD.slice(0, 26)}00`, 'no attempt'],
    [`${GOOD.slice(0, 26)}A1`, 'an attempt that is no number'],
    [`8${GOOD.slice(1)}`, 'more than 128 bits'],
    [`Z${GOOD.slice(1)}`, 'more than 128 bits'],
    ['pi_3OqJbN2eZvKYlo2C1tYkz1Xy1', 'another system'],
  ])('%j (%s) is not one of ours', (reference) => {
    expect(readMerchantReference(reference)).toBeUndefined();
  });

  it('in small letters is not one of ours: gateways give back what they were sent', () => {
    expect(readMerchantReference(merchantReference(HIGHEST, 1).toLowerCase())).toBeUndefined();
  });

  it('is ours or is not, whatever it holds, and what is ours writes itself the same again', () => {
    const likeOurs = fc.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}[0-9]{2}$/);
    fc.assert(
      fc.property(fc.oneof(fc.string(), likeOurs), (reference) => {
        const read = readMerchantReference(reference);
        if (read !== undefined) expect(merchantReference(read.orderId, read.attemptNumber)).toBe(reference);
      }),
    );
  });
});
