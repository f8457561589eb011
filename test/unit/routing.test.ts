import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { ATTEMPT_STATUSES } from '../../domain/attempt.ts';
import { DECLINE_CODES } from '../../domain/outcome.ts';
import { type GatewayChoice, nextGateway } from '../../domain/routing.ts';

const GATEWAYS: GatewayChoice = ['first', 'second', 'third'];
const anyStatus = fc.constantFrom(...ATTEMPT_STATUSES);
const anyCode = fc.constantFrom(...DECLINE_CODES, null);

describe('the gateway of the next attempt', () => {
  test("is the order's own before the first", () => {
    expect(nextGateway(GATEWAYS, null)).toBe('first');
  });

  test.for(['gateway_unreachable', 'refused_by_gateway'] as const)('is the next one after %s', (declineCode) => {
    const last = { status: 'not_processed', declineCode } as const;
    expect(nextGateway(GATEWAYS, { ...last, gateway: 'first' })).toBe('second');
    expect(nextGateway(GATEWAYS, { ...last, gateway: 'second' })).toBe('third');
    expect(nextGateway(GATEWAYS, { ...last, gateway: 'third' })).toBe('third');
    expect(nextGateway(['only'], { ...last, gateway: 'only' })).toBe('only');
  });

  property.prop([anyStatus, anyCode, fc.constantFrom(...GATEWAYS)])(
    "is another one only after a failure that is certain, is the gateway's, and left nothing on its way",
    (status, declineCode, gateway) => {
      const next = nextGateway(GATEWAYS, { status, declineCode, gateway });
      if (next === gateway) return;
      expect(status).toBe('not_processed');
      expect(['gateway_unreachable', 'refused_by_gateway']).toContain(declineCode);
      expect(GATEWAYS.indexOf(next)).toBe(GATEWAYS.indexOf(gateway) + 1);
    },
  );

  property.prop([
    fc.constantFrom('sent', 'pending', 'unknown', 'requires_action', 'claimed') as fc.Arbitrary<'unknown'>,
    anyCode,
  ])('never changes while the last attempt is not settled', (status, declineCode) => {
    expect(nextGateway(GATEWAYS, { status, declineCode, gateway: 'first' })).toBe('first');
  });
});
