import { describe, expect, test } from 'vitest';
import { findRefund } from '../../store/refunds/refunds.ts';
import { createTestDatabase } from '../support/database.ts';
import { usePlays } from '../support/plays.ts';
import { playRefund, type RefundScript } from '../support/refund-paths.ts';
import {
  REFUND_ANSWER_LOST,
  REFUND_NEVER_ARRIVES,
  REFUND_REFUSED,
  REFUND_UNREACHABLE,
  REFUNDS,
} from '../support/scripted-refunds.ts';

const { database } = await createTestDatabase();
const AWAY = { kind: 'unavailable', reason: 'connection refused' } as const;

interface Expected {
  readonly status: string;
  /** Money given back, as the gateway's ledger has it. */
  readonly moved: number;
  readonly requests: number;
}

const CASES: readonly (readonly [string, RefundScript, Expected])[] = [
  ['a plain refund', {}, { status: 'succeeded', moved: 1, requests: 1 }],
  ['a refused one', { refunds: [REFUND_REFUSED] }, { status: 'failed', moved: 0, requests: 1 }],
  ['a lost answer', { refunds: [REFUND_ANSWER_LOST] }, { status: 'succeeded', moved: 1, requests: 1 }],
  [
    'a lost answer, and a gateway that is away for a while',
    { refunds: [REFUND_ANSWER_LOST], inquiries: [AWAY, AWAY, AWAY, 'truth'] },
    { status: 'succeeded', moved: 1, requests: 1 },
  ],
  [
    'a lost answer at a gateway without refund keys',
    { refunds: [REFUND_ANSWER_LOST], unprotected: true },
    { status: 'succeeded', moved: 1, requests: 1 },
  ],
  [
    'a request that never arrived, and a gateway that knows repeats',
    { refunds: [REFUND_NEVER_ARRIVES, REFUNDS] },
    { status: 'succeeded', moved: 1, requests: 2 },
  ],
  [
    'a request that never arrived, and a gateway that does not',
    { refunds: [REFUND_NEVER_ARRIVES, REFUNDS], unprotected: true },
    { status: 'succeeded', moved: 1, requests: 2 },
  ],
  [
    'a gateway that cannot be reached at first',
    { refunds: [REFUND_UNREACHABLE, REFUND_UNREACHABLE, REFUNDS] },
    { status: 'succeeded', moved: 1, requests: 3 },
  ],
];

// A server for each: after a workflow's end the clock of a time-skipping server may run on by years.
describe.for(CASES)('%s', ([, script, expected]) => {
  const playOut = usePlays(database);

  test('ends as the ledger says, and the same bytes go out each time', async () => {
    const { refundId, gateway } = await playRefund(playOut, script);
    const refund = await findRefund(database, refundId);
    expect(refund).toMatchObject({ status: expected.status, waitsFor: null });
    expect([...gateway.refundLedger.values()].reduce((sum, count) => sum + count, 0)).toBe(expected.moved);
    expect(gateway.refundRequests).toHaveLength(expected.requests);
    expect(new Set(gateway.refundRequests.map(({ body }) => body)).size).toBe(1);
    const { rows } = await database.query(
      `select refund_reserved_minor_units as reserved, refunded_minor_units as refunded from orders where id = $1`,
      [refund?.orderId],
    );
    const amount = expected.status === 'succeeded' ? 400 : 0;
    expect(rows).toEqual([{ reserved: amount, refunded: amount }]);
  });
});

describe('what the worker hears of a gateway by refunds', () => {
  const playOut = usePlays(database);
  const heard = async () => {
    const { rows } = await database.query<{ silent: boolean; open: boolean }>(
      `select silent_since is not null as silent, opened_at is not null as open from gateway_health where gateway = 'scripted'`,
    );
    return rows[0];
  };

  test('is that it is away and back, and nothing that stops charges', async () => {
    const away = Array.from({ length: 25 }, () => REFUND_UNREACHABLE);
    await playRefund(playOut, {
      refunds: [...away, REFUNDS],
      meanwhile: async ({ environment }) => {
        await environment.sleep('12 hours');
        expect(await heard()).toEqual({ silent: true, open: false });
      },
    });
    expect(await heard()).toEqual({ silent: false, open: false });
  });
});
