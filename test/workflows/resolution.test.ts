import { describe, expect, test } from 'vitest';
import type { InquiryAnswer } from '../../domain/outcome.ts';
import { createTestDatabase } from '../support/database.ts';
import { passTimeUntil, usePlays } from '../support/plays.ts';
import {
  ANSWER_LOST,
  approvedAnswer,
  CHARGES,
  createScriptedGateway,
  NEVER_ARRIVES,
  type ScriptedCharge,
  type ScriptedGateway,
  type ScriptedInquiry,
  unknown,
} from '../support/scripted-gateway.ts';

const { database } = await createTestDatabase();
const playOut = usePlays(database);

const ABSENT: ScriptedInquiry = { kind: 'absent', raw: 'not found' };
const AWAY: ScriptedInquiry = { kind: 'unavailable', reason: 'connection refused' };
const PENDING: ScriptedInquiry = { kind: 'found', outcome: { kind: 'pending', raw: 'still working' } };
const times = (count: number, step: ScriptedInquiry): ScriptedInquiry[] => Array.from({ length: count }, () => step);

/** Lets a test see, or answer, each inquiry before the script does. */
function beforeEachInquiry(gateway: ScriptedGateway, look: () => Promise<InquiryAnswer | undefined>): void {
  const { inquire } = gateway;
  if (inquire === undefined) throw new Error('The scripted gateway can always be asked');
  gateway.inquire = async (command, scope) => (await look()) ?? (await inquire(command, scope));
}

describe('an attempt whose outcome is not known', () => {
  test('C85: "not found" is not "failed": ten minutes of it, then paid, and one charge', async () => {
    const gateway = createScriptedGateway({
      charges: [ANSWER_LOST],
      inquiries: [...times(5, ABSENT), 'truth'],
      capabilities: { inquiry: { by: ['merchant_reference'], absentConclusiveAfterSeconds: 3_600 } },
    });
    const { row, purchase, virtualSeconds } = await playOut(gateway);
    expect(row).toMatchObject({ orderStatus: 'paid', provenBy: 'inquiry', attemptNumber: 1 });
    expect([...gateway.ledger]).toEqual([[purchase.reference(), 1]]);
    expect(gateway.requests).toHaveLength(1);
    expect(virtualSeconds).toBeGreaterThan(600);
  });

  test('is asked about at 5 s, 15 s, 60 s, 3 min, 10 min, 30 min, 1 h, 3 h and 12 h', async () => {
    const asked: { readonly at: number; readonly realSeconds: number }[] = [];
    const gateway = createScriptedGateway({ charges: [ANSWER_LOST], inquiries: [...times(8, PENDING), 'truth'] });
    const { row } = await playOut(gateway, {}, async ({ environment }) => {
      const began = { virtual: await environment.currentTimeMs(), real: Date.now() };
      beforeEachInquiry(gateway, async () => {
        const at = ((await environment.currentTimeMs()) - began.virtual) / 1_000;
        asked.push({ at, realSeconds: (Date.now() - began.real) / 1_000 });
        return undefined;
      });
    });
    expect(row.orderStatus).toBe('paid');
    const offsets = [5, 15, 60, 180, 600, 1_800, 3_600, 10_800, 43_200];
    expect(asked).toHaveLength(offsets.length);
    // The virtual clock goes on in real time while a step runs, so a slow machine adds what it really took, and no more.
    for (const [index, offset] of offsets.entries()) {
      const { at, realSeconds } = asked[index] ?? { at: 0, realSeconds: 0 };
      expect(at).toBeGreaterThan(offset - 2);
      expect(at).toBeLessThan(offset + realSeconds + 3);
    }
  });

  test('is settled within a minute after a gateway that was away for hours is back', async () => {
    const away = 2 * 3_600;
    const gateway = createScriptedGateway({ charges: [ANSWER_LOST] });
    const { row, virtualSeconds } = await playOut(gateway, {}, async ({ environment }) => {
      const back = (await environment.currentTimeMs()) + away * 1_000;
      beforeEachInquiry(gateway, async () =>
        (await environment.currentTimeMs()) < back ? { kind: 'unavailable', reason: 'connection refused' } : undefined,
      );
    });
    expect(row).toMatchObject({ orderStatus: 'paid', provenBy: 'inquiry' });
    expect(virtualSeconds).toBeLessThan(away + 60);
    expect(virtualSeconds).toBeGreaterThan(away - 1);
  });

  test('is closed, not sent again, where a repeat would be a second charge', async () => {
    const gateway = createScriptedGateway({
      charges: [NEVER_ARRIVES, CHARGES],
      capabilities: { repeat: { by: 'nothing' } },
    });
    const { row, purchase } = await playOut(gateway, {}, async ({ environment, purchase: begun }) => {
      await passTimeUntil(environment, async () => (await begun.row()).orderStatus === 'failed');
      expect(gateway.requests).toHaveLength(1);
      await begun.payAgain(2);
    });
    expect(row).toMatchObject({ orderStatus: 'paid', attemptNumber: 2 });
    expect([...gateway.ledger]).toEqual([[purchase.reference(2), 1]]);
  });

  test('is repeated under the same key where the gateway cannot be asked but replays its answer', async () => {
    const gateway = createScriptedGateway({
      charges: [ANSWER_LOST],
      capabilities: {
        repeat: { by: 'key', windowSeconds: 86_400 },
        inquiry: { by: [], absentConclusiveAfterSeconds: null },
      },
    });
    const { row, purchase } = await playOut(gateway);
    expect(row).toMatchObject({ orderStatus: 'paid', provenBy: 'gateway_response' });
    expect([...gateway.ledger]).toEqual([[purchase.reference(), 1]]);
    expect(new Set(gateway.requests.map(({ body, requestKey }) => `${requestKey} ${body}`)).size).toBe(1);
  });

  test('C17: is not repeated once the key is older than its window', async () => {
    const gateway = createScriptedGateway({
      charges: [NEVER_ARRIVES, CHARGES],
      inquiries: [...times(40, AWAY), ABSENT],
      capabilities: {
        repeat: { by: 'key', windowSeconds: 600 },
        inquiry: { by: ['merchant_reference'], absentConclusiveAfterSeconds: 60 },
      },
    });
    const { row } = await playOut(gateway);
    expect(row).toMatchObject({ orderStatus: 'expired', provenBy: 'inquiry' });
    expect(gateway.ledger.size).toBe(0);
    expect(gateway.requests).toHaveLength(1);
  });

  test('that is pending at the gateway is asked about until the gateway knows', async () => {
    const charges: ScriptedCharge[] = [{ moves: true, answers: { kind: 'pending', raw: 'pending' } }];
    const gateway = createScriptedGateway({ charges, inquiries: [PENDING, PENDING, 'truth'] });
    const { row } = await playOut(gateway);
    expect(row).toMatchObject({ orderStatus: 'paid', provenBy: 'inquiry' });
  });

  test('that waits for the customer is found paid after the confirmation', async () => {
    const action = { kind: 'redirect', url: 'https://bank.example/confirm' } as const;
    const charges: ScriptedCharge[] = [{ moves: true, answers: { kind: 'requires_action', action, raw: 'action' } }];
    const gateway = createScriptedGateway({
      charges,
      inquiries: [{ kind: 'found', outcome: { kind: 'requires_action', action, raw: 'action' } }, 'truth'],
    });
    const { row } = await playOut(gateway);
    expect(row).toMatchObject({ orderStatus: 'paid', provenBy: 'inquiry' });
  });

  test('an approval for another amount is not applied; the gateway is asked instead', async () => {
    const wrong: ScriptedCharge = {
      moves: true,
      answers: { ...approvedAnswer, amount: { minorUnits: 99_900, currency: 'EUR' } } as ScriptedCharge['answers'],
    };
    const gateway = createScriptedGateway({ charges: [wrong] });
    const { row, purchase } = await playOut(gateway);
    expect(row).toMatchObject({ orderStatus: 'paid', provenBy: 'inquiry' });
    const { rows } = await database.query<{ count: number }>(
      'select count(*)::int as count from evidence where order_id = $1 and proves_order_status is null',
      [purchase.orderId],
    );
    expect(rows[0]?.count).toBe(1);
  });

  test('C08: an answer that comes after the hand-over is taken, and asked for no second time', async () => {
    const late: ScriptedCharge = {
      moves: true,
      answers: async () => {
        await new Promise((resolve) => setTimeout(resolve, 600));
        return unknown('the connection was cut after a long time');
      },
    };
    const gateway = createScriptedGateway({ charges: [late] });
    const { row, purchase } = await playOut(gateway, { handoverAfterMs: 100 });
    expect(row).toMatchObject({ orderStatus: 'paid', provenBy: 'inquiry' });
    expect([...gateway.ledger]).toEqual([[purchase.reference(), 1]]);
    expect(gateway.requests).toHaveLength(1);
  });
});
