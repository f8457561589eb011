import { WorkflowUpdateFailedError } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { SETTLE_UPDATE } from '../../workflows/messages.ts';
import { createTestDatabase } from '../support/database.ts';
import { passTimeUntil, usePlays } from '../support/plays.ts';
import { ANSWER_LOST, createScriptedGateway, DECLINES, type ScriptedInquiry } from '../support/scripted-gateway.ts';
import type { Purchase } from '../support/workbench.ts';

const { database } = await createTestDatabase();
const playOut = usePlays(database);

const PENDING: ScriptedInquiry = {
  kind: 'found',
  outcome: { kind: 'unknown', reason: 'no answer from the bank', raw: '' },
};
const DECISION = { outcome: 'paid', operator: 'operator@shop.example', reason: 'Seen on the bank statement of today.' };

const settle = (purchase: Purchase, decision: object): Promise<unknown> =>
  purchase.handle.executeUpdate(SETTLE_UPDATE, { args: [decision] });

describe('an order that nobody can find out about', () => {
  test('goes to the review pool after a day, stays locked, and is settled by an operator with a reason', async () => {
    const gateway = createScriptedGateway({ charges: [ANSWER_LOST], inquiries: [PENDING] });
    const { row, result } = await playOut(gateway, {}, async ({ environment, purchase }) => {
      await passTimeUntil(environment, async () => (await purchase.row()).needsReview);
      expect((await purchase.row()).orderStatus).toBe('unknown');
      await purchase.payAgain(2);
      await environment.sleep('1 hour');
      expect(gateway.requests).toHaveLength(1);
      await settle(purchase, DECISION);
    });
    expect(row).toMatchObject({ orderStatus: 'paid', provenBy: 'operator_decision', needsReview: false });
    expect(result).toMatchObject({ status: 'paid', provenBy: 'operator_decision' });
    expect(gateway.requests).toHaveLength(1);
  });

  test('can still be closed by the gateway itself, days later', async () => {
    const gateway = createScriptedGateway({ charges: [ANSWER_LOST], inquiries: [PENDING] });
    const { row } = await playOut(gateway, {}, async ({ environment, purchase }) => {
      await passTimeUntil(environment, async () => (await purchase.row()).needsReview);
      gateway.answersToInquiries.splice(0, 1, 'truth');
    });
    expect(row).toMatchObject({ orderStatus: 'paid', provenBy: 'inquiry', needsReview: false });
  });

  test('waits for a person without a rest, but not without a pause, where the gateway can never tell', async () => {
    const gateway = createScriptedGateway({
      charges: [ANSWER_LOST],
      capabilities: {
        repeat: { by: 'key', windowSeconds: 25 },
        inquiry: { by: [], absentConclusiveAfterSeconds: null },
      },
    });
    const { row } = await playOut(gateway, {}, async ({ environment, purchase }) => {
      await passTimeUntil(environment, async () => (await purchase.row()).needsReview);
      for (let days = 0; days < 3; days += 1) await environment.sleep('1 day');
      const { events } = await purchase.handle.fetchHistory();
      expect(events?.length).toBeLessThan(150);
      await settle(purchase, DECISION);
    });
    expect(row).toMatchObject({ orderStatus: 'paid', provenBy: 'operator_decision' });
    expect(gateway.requests.length).toBeLessThanOrEqual(3);
  });

  test('is failed by an operator, after which the customer may try again', async () => {
    const gateway = createScriptedGateway({
      charges: [{ ...ANSWER_LOST, moves: false }, DECLINES],
      inquiries: [PENDING],
    });
    const { row } = await playOut(gateway, { expiresInMs: 50 * 3_600_000 }, async ({ environment, purchase }) => {
      await passTimeUntil(environment, async () => (await purchase.row()).needsReview);
      await settle(purchase, { ...DECISION, outcome: 'failed' });
      expect(await purchase.row()).toMatchObject({ orderStatus: 'failed', provenBy: 'operator_decision' });
    });
    expect(row.orderStatus).toBe('expired');
  });

  test.for([
    ['an outcome that is none', { ...DECISION, outcome: 'refunded' }],
    ['no operator', { ...DECISION, operator: ' ' }],
    ['no reason', { ...DECISION, reason: 'because' }],
    ['a card number in the reason', { ...DECISION, reason: 'Paid with 4111 1111 1111 1111 at the counter.' }],
  ] as const)('is not settled with %s', async ([, decision]) => {
    const gateway = createScriptedGateway({ charges: [ANSWER_LOST], inquiries: [PENDING] });
    await playOut(gateway, {}, async ({ environment, purchase }) => {
      await passTimeUntil(environment, async () => (await purchase.row()).orderStatus === 'unknown');
      await expect(settle(purchase, decision)).rejects.toThrow(WorkflowUpdateFailedError);
      expect((await purchase.row()).orderStatus).toBe('unknown');
      await settle(purchase, DECISION);
    });
  });

  test('an order in any other state is not settled', async () => {
    const gateway = createScriptedGateway({ charges: [DECLINES] });
    await playOut(gateway, { expiresInMs: 3_600_000 }, async ({ purchase }) => {
      await expect.poll(async () => (await purchase.row()).orderStatus).toBe('failed');
      await expect(settle(purchase, DECISION)).rejects.toThrow(WorkflowUpdateFailedError);
      expect((await purchase.row()).orderStatus).toBe('failed');
    });
  });
});
