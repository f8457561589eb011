import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { usePlays } from '../support/plays.ts';
import { createScriptedGateway, UNREACHABLE } from '../support/scripted-gateway.ts';

const { database } = await createTestDatabase();
const playOut = usePlays(database);

describe('an order whose gateway cannot be reached', () => {
  test('expires in time when its time ends between two attempts that nobody asked for', async () => {
    // Tries after 1, 3, 8 and 18 s leave; the one after 38 s can be claimed no more.
    const gateway = createScriptedGateway({ charges: [UNREACHABLE] });
    const { row, virtualSeconds } = await playOut(gateway, { expiresInMs: 30_000 });
    expect(row).toMatchObject({ orderStatus: 'expired', attempt: { status: 'not_processed' } });
    expect(virtualSeconds).toBeLessThan(120);
    expect(gateway.ledger.size).toBe(0);
  });

  test('is cancelled between two attempts, and no further one is made', async () => {
    const gateway = createScriptedGateway({ charges: [UNREACHABLE] });
    const { row } = await playOut(gateway, { expiresInMs: 24 * 3_600_000 }, async ({ purchase }) => {
      await expect.poll(() => gateway.requests.length, { timeout: 10_000 }).toBeGreaterThan(0);
      await purchase.cancel();
    });
    expect(row.orderStatus).toBe('cancelled');
    expect(gateway.ledger.size).toBe(0);
  });
});
