import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { usePlays } from '../support/plays.ts';
import {
  ANSWER_LOST,
  CHARGES,
  createScriptedGateway,
  NEVER_ARRIVES,
  type ScriptedCharge,
  type ScriptedInquiry,
} from '../support/scripted-gateway.ts';
import { waitUntil } from '../support/stack.ts';
import type { Purchase } from '../support/workbench.ts';

const { database } = await createTestDatabase();
const playOut = usePlays(database);

const ACTION = { kind: 'redirect', url: 'https://bank.example/confirm' } as const;
const NEEDS_ACTION = { kind: 'requires_action', action: ACTION, raw: 'action' } as const;
const ACTING: ScriptedInquiry = { kind: 'found', outcome: NEEDS_ACTION };
const LEFT_ALONE: ScriptedCharge = { moves: false, answers: NEEDS_ACTION };
const ABSENT: ScriptedInquiry = { kind: 'absent', raw: 'not found' };
const CLOSES = { closing: { by: ['merchant_reference'] } } as const;
const UNASKED = { inquiry: { by: [], absentConclusiveAfterSeconds: null }, repeat: { by: 'nothing' } } as const;

/** In real time: a step of virtual time would run past what the test is about. */
function untilStatus(purchase: Purchase, status: string): Promise<void> {
  return waitUntil(`the order is ${status}`, async () => (await purchase.row()).orderStatus === status);
}

describe('an order that waits for the customer at the gateway', () => {
  test('is closed there first when the shop cancels, and then here', async () => {
    const gateway = createScriptedGateway({ charges: [LEFT_ALONE], inquiries: [ACTING], capabilities: CLOSES });
    const { row, purchase } = await playOut(gateway, { scheduleSeconds: [3_600] }, async (stage) => {
      await untilStatus(stage.purchase, 'requires_action');
      expect(await stage.purchase.cancel()).toEqual({ kind: 'noted' });
    });
    expect(row).toMatchObject({
      orderStatus: 'cancelled',
      provenBy: 'inquiry',
      attempt: { declineCode: 'closed_at_gateway' },
    });
    expect([...gateway.closed]).toEqual([purchase.reference()]);
    expect(gateway.ledger.size).toBe(0);
  });

  test('C46: is paid when the customer was quicker than the cancel', async () => {
    const gateway = createScriptedGateway({
      charges: [{ ...LEFT_ALONE, moves: true }],
      inquiries: [ACTING],
      capabilities: CLOSES,
    });
    const { row } = await playOut(gateway, { scheduleSeconds: [3_600] }, async (stage) => {
      await untilStatus(stage.purchase, 'requires_action');
      await stage.purchase.cancel();
    });
    expect(row.orderStatus).toBe('paid');
  });

  test('at a gateway that cannot close is cancelled only once the gateway says that it is dead', async () => {
    const gateway = createScriptedGateway({ charges: [LEFT_ALONE], inquiries: [ACTING] });
    const { row } = await playOut(gateway, {}, async (stage) => {
      await untilStatus(stage.purchase, 'requires_action');
      await stage.purchase.cancel();
      await stage.environment.sleep('20 min');
      expect((await stage.purchase.row()).orderStatus).toBe('requires_action');
      const decline = { code: 'card_declined', retriable: true } as const;
      gateway.answersToInquiries.splice(0, 1, {
        kind: 'found',
        outcome: { kind: 'declined', decline, raw: 'given up' },
      });
    });
    expect(row).toMatchObject({ orderStatus: 'cancelled', provenBy: 'inquiry' });
  });

  test('C49: that was left alone is closed at the gateway within minutes of its expiry, and then expires here', async () => {
    const gateway = createScriptedGateway({ charges: [LEFT_ALONE], inquiries: [ACTING], capabilities: CLOSES });
    const { row, virtualSeconds } = await playOut(gateway, { expiresInMs: 2 * 3_600_000 });
    expect(row.orderStatus).toBe('expired');
    expect(gateway.closed.size).toBe(1);
    expect(virtualSeconds).toBeLessThan(2 * 3_600 + 300);
  });

  test('is closed at the gateway when the time for actions is over, and the customer can pay anew', async () => {
    const gateway = createScriptedGateway({
      charges: [LEFT_ALONE, CHARGES],
      inquiries: [ACTING],
      capabilities: CLOSES,
    });
    const { row, virtualSeconds, purchase } = await playOut(gateway, { actionSeconds: 900 }, async (stage) => {
      await untilStatus(stage.purchase, 'requires_action');
      await stage.environment.sleep('17 min');
      await untilStatus(stage.purchase, 'failed');
      await stage.purchase.payAgain(2);
    });
    expect(row).toMatchObject({ orderStatus: 'paid', attemptNumber: 2 });
    expect([...gateway.closed]).toEqual([purchase.reference(1)]);
    expect([...gateway.ledger.keys()]).toEqual([purchase.reference(2)]);
    expect(virtualSeconds).toBeLessThan(3_600);
  });

  test('C49: whose customer paid in the last moment is paid and not expired', async () => {
    const gateway = createScriptedGateway({
      charges: [{ ...LEFT_ALONE, moves: true }],
      inquiries: [ACTING],
      capabilities: CLOSES,
    });
    const { row } = await playOut(gateway, { expiresInMs: 2 * 3_600_000 });
    expect(row.orderStatus).toBe('paid');
  });
});

describe('an attempt that nobody knows about', () => {
  test('C48: is not called cancelled: the wish waits, and the order is paid', async () => {
    const gateway = createScriptedGateway({ charges: [ANSWER_LOST], inquiries: [ABSENT, ABSENT, 'truth'] });
    const { row } = await playOut(gateway, { scheduleSeconds: [20, 60, 600] }, async ({ purchase }) => {
      await untilStatus(purchase, 'unknown');
      expect(await purchase.cancel()).toEqual({ kind: 'noted' });
    });
    expect(row).toMatchObject({ orderStatus: 'paid', cancelRequested: true });
  });

  test('is closed by the wish to cancel, and not sent again', async () => {
    const gateway = createScriptedGateway({ charges: [NEVER_ARRIVES], inquiries: [ABSENT], capabilities: CLOSES });
    const { row } = await playOut(gateway, { scheduleSeconds: [20, 3_600] }, async (stage) => {
      await untilStatus(stage.purchase, 'unknown');
      await stage.purchase.cancel();
    });
    expect(row.orderStatus).toBe('cancelled');
    expect(gateway.requests).toHaveLength(1);
    expect(gateway.ledger.size).toBe(0);
  });

  test('is settled by closing its reference where the gateway can be neither asked nor sent a repeat', async () => {
    const gateway = createScriptedGateway({ charges: [NEVER_ARRIVES], capabilities: { ...CLOSES, ...UNASKED } });
    const { row } = await playOut(gateway, { expiresInMs: 3_600_000 });
    expect(row.orderStatus).toBe('expired');
    expect(gateway.closed.size).toBe(1);
    expect(row.needsReview).toBe(false);
  });

  test('that was charged after all is found by closing its reference', async () => {
    const gateway = createScriptedGateway({ charges: [ANSWER_LOST], capabilities: { ...CLOSES, ...UNASKED } });
    const { row } = await playOut(gateway);
    expect(row.orderStatus).toBe('paid');
  });
});
