import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gateway } from '../../domain/gateway.ts';
import { listEvents } from '../../store/deliveries/outbox-events.ts';
import { createTestDatabase } from '../support/database.ts';
import { passTimeUntil } from '../support/plays.ts';
import {
  ANSWER_LOST,
  createScriptedGateway,
  type ScriptedCharge,
  type ScriptedGateway,
  type ScriptedInquiry,
  unknown,
} from '../support/scripted-gateway.ts';
import { createWorkbench, type Purchase, startTimeSkipping } from '../support/workbench.ts';

/** Nobody tells us by himself how a charge ended: no answer, no event, no customer who comes back. It is asked for. */
const { database } = await createTestDatabase();
let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  environment = await startTimeSkipping();
});
afterAll(() => environment.teardown());

const PENDING = {
  kind: 'found',
  outcome: { kind: 'pending', raw: 'still working' },
} as const satisfies ScriptedInquiry;
const SEEN_BEFORE: ScriptedCharge['answers'] = unknown('the gateway has seen this request before: 409 reference_used');
const DECLINED: ScriptedInquiry = {
  kind: 'found',
  outcome: { kind: 'declined', decline: { code: 'card_declined', retriable: true }, raw: 'declined' },
};

/** At the gateway nothing is settled for so long; every question until then is answered by "pending". */
async function settlesAfter(gateway: Gateway, hours: number): Promise<void> {
  const settled = (await environment.currentTimeMs()) + hours * 3_600_000;
  const { inquire } = gateway;
  if (inquire === undefined) throw new Error('The scripted gateway can always be asked');
  gateway.inquire = async (command, scope) =>
    (await environment.currentTimeMs()) < settled ? PENDING : inquire(command, scope);
}

/** Plays one order to the end of its workflow, or until its row is as it should be. */
async function play(gateway: ScriptedGateway, until?: (purchase: Purchase) => Promise<boolean>): Promise<Purchase> {
  const bench = createWorkbench({ environment, database, gateway });
  const worker = await bench.startWorker();
  try {
    const purchase = await bench.buy();
    if (until === undefined) await purchase.handle.result();
    else {
      await passTimeUntil(environment, () => until(purchase));
      // Left open without a worker, it would hold the virtual clock of the next test.
      await purchase.handle.terminate('the test is over');
    }
    return purchase;
  } finally {
    await worker.stop();
  }
}

async function toldOf({ orderId }: Purchase): Promise<string[]> {
  return (await listEvents(database, orderId)).map(({ kind }) => kind);
}

describe('a charge whose end nobody tells us', () => {
  test('C02: "we have seen this before" means ask about the first: it was paid', async () => {
    const gateway = createScriptedGateway({ charges: [{ moves: true, answers: SEEN_BEFORE }] });
    const purchase = await play(gateway);
    expect(await purchase.row()).toMatchObject({ orderStatus: 'paid', provenBy: 'inquiry', attemptNumber: 1 });
    expect([...gateway.ledger]).toEqual([[purchase.reference(), 1]]);
    expect(gateway.requests).toHaveLength(1);
  });

  test('C02: … and it was declined, so the order is not paid by the word "duplicate"', async () => {
    const charges = [{ moves: false, answers: SEEN_BEFORE }];
    const gateway = createScriptedGateway({ charges, inquiries: [DECLINED] });
    const purchase = await play(gateway, async (one) => (await one.row()).orderStatus === 'failed');
    expect(await purchase.row()).toMatchObject({ orderStatus: 'failed', provenBy: 'inquiry' });
    expect(gateway.ledger.size).toBe(0);
  });

  test('C40: events that are promised and never come are not waited for', async () => {
    const gateway = createScriptedGateway({ charges: [ANSWER_LOST], capabilities: { webhooks: 'signed' } });
    const purchase = await play(gateway);
    expect(await purchase.row()).toMatchObject({ orderStatus: 'paid', provenBy: 'inquiry' });
    expect(await toldOf(purchase)).toEqual(['order.paid']);
  });

  test('C42: no word for 80 h, longer than the order lives and longer than events are repeated', async () => {
    const gateway = createScriptedGateway({ charges: [ANSWER_LOST] });
    await settlesAfter(gateway, 80);
    const purchase = await play(gateway);
    expect(await purchase.row()).toMatchObject({ orderStatus: 'paid', provenBy: 'inquiry', needsReview: false });
    expect([...gateway.ledger]).toEqual([[purchase.reference(), 1]]);
    expect(await toldOf(purchase)).toEqual(['order.needs_review', 'order.paid']);
  });

  test('C48: a gateway that is slower than our patience is no customer who cancelled', async () => {
    const late: ScriptedCharge = { moves: true, answers: unknown('no answer within 10 s') };
    const gateway = createScriptedGateway({ charges: [late], inquiries: [PENDING, PENDING, 'truth'] });
    const purchase = await play(gateway);
    expect(await purchase.row()).toMatchObject({ orderStatus: 'paid', provenBy: 'inquiry' });
    expect(await toldOf(purchase)).toEqual(['order.paid']);
  });
});
