import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { usePlays } from '../support/plays.ts';
import {
  ANSWER_LOST,
  CHARGES,
  createScriptedGateway,
  DECLINES,
  NEVER_ARRIVES,
  UNREACHABLE,
} from '../support/scripted-gateway.ts';

const { database } = await createTestDatabase();
const playOut = usePlays(database);

describe('a purchase', () => {
  test('is charged once and ends paid', async () => {
    const gateway = createScriptedGateway({ charges: [CHARGES] });
    const { result, row, purchase } = await playOut(gateway);
    expect(result).toMatchObject({ status: 'paid', attempts: 1, provenBy: 'gateway_response' });
    expect(row).toMatchObject({ orderStatus: 'paid', provenBy: 'gateway_response' });
    expect([...gateway.ledger]).toEqual([[purchase.reference(), 1]]);
  });

  test('whose answer was lost is found out by inquiry, not by a second charge', async () => {
    const gateway = createScriptedGateway({ charges: [ANSWER_LOST] });
    const { row, purchase, virtualSeconds } = await playOut(gateway);
    expect(row).toMatchObject({ orderStatus: 'paid', provenBy: 'inquiry' });
    expect([...gateway.ledger]).toEqual([[purchase.reference(), 1]]);
    expect(gateway.requests).toHaveLength(1);
    expect(virtualSeconds).toBeLessThan(20);
  });

  test('that never arrived is proven absent and sent again under the same reference', async () => {
    const gateway = createScriptedGateway({ charges: [NEVER_ARRIVES, CHARGES] });
    const { row, purchase } = await playOut(gateway);
    expect(row).toMatchObject({ orderStatus: 'paid' });
    expect([...gateway.ledger]).toEqual([[purchase.reference(), 1]]);
    expect(gateway.requests.map(({ body }) => body)).toEqual([gateway.requests[0]?.body, gateway.requests[0]?.body]);
  });

  test('that nobody could reach is tried again without the customer', async () => {
    const gateway = createScriptedGateway({ charges: [UNREACHABLE, UNREACHABLE, CHARGES] });
    const { row, purchase } = await playOut(gateway);
    expect(row).toMatchObject({ orderStatus: 'paid', attemptNumber: 3 });
    expect([...gateway.ledger]).toEqual([[purchase.reference(3), 1]]);
  });

  test('that is declined waits for the customer, who pays with attempt 2', async () => {
    const gateway = createScriptedGateway({ charges: [DECLINES, CHARGES] });
    const { row, purchase } = await playOut(gateway, {}, async ({ purchase: begun }) => {
      await expect.poll(async () => (await begun.row()).orderStatus).toBe('failed');
      await begun.payAgain(2);
    });
    expect(row).toMatchObject({ orderStatus: 'paid', attemptNumber: 2 });
    expect([...gateway.ledger]).toEqual([[purchase.reference(2), 1]]);
  });

  test('that is declined and left alone expires', async () => {
    const gateway = createScriptedGateway({ charges: [DECLINES] });
    const { row, virtualSeconds } = await playOut(gateway, { expiresInMs: 2 * 3_600_000 });
    expect(row).toMatchObject({ orderStatus: 'expired', provenBy: 'gateway_response' });
    expect(gateway.ledger.size).toBe(0);
    expect(virtualSeconds).toBeGreaterThan(7_000);
  });
});
