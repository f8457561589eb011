import { v7 as newId } from 'uuid';
import { describe, expect, it } from 'vitest';
import { merchantReference } from '../../domain/merchant-reference.ts';
import type { GatewayOutcome } from '../../domain/outcome.ts';
import { constraintOf, type Database } from '../../store/database.ts';
import { claimAttempt, takeOverClaim } from '../../store/orders/claims.ts';
import { expireOrder, listExpired } from '../../store/orders/expiry.ts';
import { recordNews } from '../../store/orders/records.ts';
import { putInReview } from '../../store/orders/reviews.ts';
import { markSent, markSentAgain, saveGatewayReference } from '../../store/orders/sends.ts';
import { readPurchase } from '../../store/orders/standing.ts';
import { createEngine } from '../memory/engine.ts';
import { connect, QUIET, type SharedDatabase } from '../simulation/database.ts';
import { createRandom, now, reset, runUntil } from '../simulation/runtime/virtual.ts';
import { createTestDatabase } from '../support/database.ts';

/**
 * The database of the simulation against Postgres: the same steps, drawn by a seed, by the same functions of the store, have to
 * give the same answers and leave the same orders behind, refusals by constraint included.
 */
const { database: postgres } = await createTestDatabase();
const STEPS = 120;
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
const BEGINNING = Date.UTC(2026, 0, 1);

type Step = (database: Database) => Promise<unknown>;

const NUMBERS = [1, 2, 3];
const RUNS = ['run-a', 'run-b'];

/** A draw of one step on one of the orders; `at` is the time that it names. */
function drawStep(random: () => number, orderIds: readonly string[], at: string): readonly [string, Step] {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const orderId = pick(orderIds);
  const attemptNumber = pick(NUMBERS);
  const run = pick(RUNS);
  const reference = merchantReference(orderId, attemptNumber);
  const subject = { orderId, attemptNumber, run, now: at };
  const outcome = drawOutcome(random);
  const kind = pick(['gateway_response', 'inquiry', 'operator_decision', 'never_sent'] as const);
  const anotherFollows = random() < 0.3;
  const sendsBefore = pick([0, 1, 2]);
  const steps: readonly (readonly [string, Step])[] = [
    [
      'claim',
      (db) => claimAttempt(db, { ...subject, merchantReference: reference, paymentMethod: 'tok', returnUrl: null }),
    ],
    ['take over', (db) => takeOverClaim(db, subject)],
    ['mark', (db) => markSent(db, { ...subject, requestKey: reference, requestBody: '{}' })],
    ['mark again', (db) => markSentAgain(db, { ...subject, sendsBefore })],
    ['gateway reference', (db) => saveGatewayReference(db, { ...subject, gatewayReference: `ch_${reference}` })],
    [
      `record ${kind} ${outcome.kind}`,
      (db) => recordNews(db, { orderId, attemptNumber, kind, outcome, now: at, anotherFollows }),
    ],
    ['expire', (db) => expireOrder(db, orderId, at)],
    ['review', (db) => putInReview(db, { orderId, reason: 'Nobody knows what happened.', now: at })],
    ['expired', (db) => listExpired(db, at, 1_000)],
  ];
  return pick([...steps, ...steps.slice(0, 3), steps[5] as (typeof steps)[number]]);
}

function drawOutcome(random: () => number): GatewayOutcome {
  const raw = 'said';
  const outcomes: readonly GatewayOutcome[] = [
    {
      kind: 'approved',
      amount: { minorUnits: random() < 0.9 ? 1_000 : 999, currency: 'EUR' },
      gatewayReference: `ch_${Math.floor(random() * 5)}`,
      raw,
    },
    { kind: 'declined', decline: { code: 'card_declined', retriable: true }, raw },
    { kind: 'pending', raw },
    { kind: 'requires_action', action: { kind: 'redirect', url: 'https://bank.example/' }, raw },
    { kind: 'unknown', reason: 'lost', raw },
    { kind: 'not_processed', declineCode: 'gateway_unreachable', reason: 'refused', raw },
  ];
  return outcomes[Math.floor(random() * outcomes.length)] as GatewayOutcome;
}

async function carryOut(database: Database, step: Step): Promise<unknown> {
  try {
    return (await step(database)) ?? null;
  } catch (error) {
    const refusedBy = constraintOf(error);
    return refusedBy === undefined ? { message: (error as Error).message } : { refusedBy };
  }
}

/** One connection of the simulation, where time goes on by itself until the step is done. */
function memoryDatabase(seed: number): { run: (step: Step) => Promise<unknown>; database: Database } {
  reset(createRandom(seed), () => Promise.resolve());
  const shared: SharedDatabase = {
    engine: createEngine(() => new Date(BEGINNING).toISOString()),
    faults: QUIET,
    awayUntil: 0,
    holder: null,
    waiting: [],
    onCommit: () => undefined,
  };
  const database = connect(shared, { name: 'only', alive: true, pausedUntil: 0 });
  return {
    database,
    async run(step) {
      let done = false;
      const answer = carryOut(database, step).finally(() => {
        done = true;
      });
      while (!done) {
        await runUntil(now() + 5, () => undefined);
        await new Promise((resolve) => setImmediate(resolve));
      }
      return answer;
    },
  };
}

describe('the database of the simulation does as Postgres does', () => {
  it.each(SEEDS)('seed %i', async (seed) => {
    const random = createRandom(seed);
    const memory = memoryDatabase(seed);
    const orderIds = Array.from({ length: 6 }, () => newId());
    const insert: (orderId: string, index: number) => Step = (orderId, index) => (db) =>
      db.query(
        `insert into orders (id, amount_minor_units, currency, gateway, expires_at, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $6)`,
        [
          orderId,
          1_000,
          'EUR',
          `gateway-${seed}`,
          new Date(BEGINNING + (index + 1) * 3_600_000).toISOString(),
          new Date(BEGINNING).toISOString(),
        ],
      );
    for (const [index, orderId] of orderIds.entries()) {
      await carryOut(postgres, insert(orderId, index));
      await memory.run(insert(orderId, index));
    }
    for (let number = 1; number <= STEPS; number += 1) {
      const at = new Date(BEGINNING + number * 180_000).toISOString();
      const [name, step] = drawStep(random, orderIds, at);
      const [inPostgres, inMemory] = [await carryOut(postgres, step), await memory.run(step)];
      expect([number, name, ownOnly(inMemory, orderIds)]).toEqual([number, name, ownOnly(inPostgres, orderIds)]);
    }
    for (const orderId of orderIds) {
      const read: Step = (db) => readPurchase(db, orderId);
      expect(await memory.run(read)).toEqual(await carryOut(postgres, read));
    }
  });
});

/** Lists name orders of the other seeds too. */
function ownOnly(answer: unknown, orderIds: readonly string[]): unknown {
  return Array.isArray(answer) ? answer.filter((id) => orderIds.includes(id as string)).sort() : answer;
}
