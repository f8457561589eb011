import { fc, test as property } from '@fast-check/vitest';
import { v7 as newId } from 'uuid';
import { describe, expect, test } from 'vitest';
import { createPaymentToken, readPaymentToken } from '../../api/payment-token.ts';
import { CodedError } from '../../domain/errors.ts';
import { PREVIOUS_SECRET, SECRET } from './support.ts';

const NOW = new Date('2026-11-30T12:00:00Z');
const LATER = NOW.getTime() / 1_000 + 60;
const orderId = newId();
const token = createPaymentToken({ orderId, attemptNumber: 3, expiresAt: LATER }, SECRET);

function read(text: string, expected: { secrets?: readonly string[]; orderId?: string; now?: Date } = {}) {
  return readPaymentToken(text, { orderId, secrets: [SECRET], now: NOW, ...expected });
}

function codeOf(work: () => unknown): string {
  try {
    work();
    return 'accepted';
  } catch (error) {
    return error instanceof CodedError ? error.code : String(error);
  }
}

describe('a payment token', () => {
  property.prop([
    fc.uuid({ version: 7 }),
    fc.integer({ min: 1, max: 99 }),
    fc.integer({ min: LATER, max: 2 ** 40 - 1 }),
  ])('says what it was made with', (id, attemptNumber, expiresAt) => {
    const made = createPaymentToken({ orderId: id, attemptNumber, expiresAt }, SECRET);
    expect(read(made, { orderId: id })).toEqual({ orderId: id, attemptNumber, expiresAt });
  });

  test('is refused with any one character changed, added or removed', () => {
    for (let place = 0; place < token.length; place += 1) {
      for (const other of ['A', 'B', '-', '.', '=', ' ']) {
        const changed = token.slice(0, place) + other + token.slice(place + 1);
        if (changed !== token) expect(codeOf(() => read(changed))).toBe('payment_token_invalid');
      }
      expect(codeOf(() => read(token.slice(0, place) + token.slice(place + 1)))).toBe('payment_token_invalid');
    }
    for (const changed of [`${token}A`, ` ${token}`, token.replace('pt1', 'pt2'), '', 'pt1.', 'x'.repeat(100_000)]) {
      expect(codeOf(() => read(changed))).toBe('payment_token_invalid');
    }
  });

  test('opens no other order', () => {
    expect(codeOf(() => read(token, { orderId: newId() }))).toBe('payment_token_invalid');
  });

  test('is refused from the second in which it expires', () => {
    expect(codeOf(() => read(token, { now: new Date(LATER * 1_000 - 1) }))).toBe('accepted');
    expect(codeOf(() => read(token, { now: new Date(LATER * 1_000) }))).toBe('payment_token_expired');
  });

  test('a forged one is called invalid, never expired', () => {
    const old = createPaymentToken(
      { orderId, attemptNumber: 1, expiresAt: 1 },
      'another secret of thirty-two characters',
    );
    expect(codeOf(() => read(old))).toBe('payment_token_invalid');
  });

  test('survives a change of the secret as long as the old one is known', () => {
    const old = createPaymentToken({ orderId, attemptNumber: 1, expiresAt: LATER }, PREVIOUS_SECRET);
    expect(read(old, { secrets: [SECRET, PREVIOUS_SECRET] }).attemptNumber).toBe(1);
    expect(codeOf(() => read(old, { secrets: [SECRET] }))).toBe('payment_token_invalid');
  });
});
