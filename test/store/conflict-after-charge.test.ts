import { expect, test } from 'vitest';
import { createCallsInFlight } from '../../activities/calls-in-flight.ts';
import { charge } from '../../activities/purchase/charge.ts';
import { claim } from '../../activities/purchase/claim.ts';
import type { Tools } from '../../activities/tools.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { readPurchase } from '../../store/orders/standing.ts';
import { createTestDatabase } from '../support/database.ts';
import { insertRow, orderRow } from '../support/rows.ts';
import { createScriptedGateway } from '../support/scripted-gateway.ts';
import { UNWATCHED } from '../support/unwatched.ts';

const { database } = await createTestDatabase();

const CONFLICTS = 3;

/** Postgres gives up the first commits that settle an attempt. A sequence counts them, because it is not rolled back. */
await database.query('create sequence conflicts');
await database.query(
  `create function conflict() returns trigger language plpgsql as $$ begin
     if nextval('conflicts') <= ${CONFLICTS} then raise exception 'forced' using errcode = '40001'; end if;
     return null;
   end $$`,
);
await database.query(
  `create constraint trigger conflict after update on payment_attempts deferrable initially deferred
   for each row when (new.status = 'approved') execute function conflict()`,
);

test('C27: a conflict at the commit right after the gateway call repeats the writing and never the call', async () => {
  const gateway = createScriptedGateway();
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const clock = async () => new Date();
  const nudge = () => Promise.resolve();
  const resume = () => Promise.reject(new Error('This test has one order, and its workflow is the test'));
  const gateways = { get: () => gateway };
  const askNow = resume;
  const watch = UNWATCHED;
  const refunds = { startRefund: resume, nudgeRefund: nudge };
  const calls = createCallsInFlight();
  const tools: Tools = { database, gateways, calls, nudge, resume, askNow, watch, log, clock, ...refunds };
  const order = orderRow({ expires_at: new Date(Date.now() + 3_600_000).toISOString(), gateway: gateway.name });
  await insertRow(database, 'orders', order);
  const attempt = { attemptNumber: 1, paymentMethod: 'tok', returnUrl: null };
  expect(await claim(tools, { orderId: order.id, attempt, run: 'run-1' })).toEqual({ kind: 'claimed' });

  await charge(tools, {
    orderId: order.id,
    attemptNumber: 1,
    run: 'run-1',
    handoverAfterMs: 20_000,
    anotherFollowsIfNotProcessed: false,
  });

  expect((await readPurchase(database, order.id)).orderStatus).toBe('paid');
  expect(gateway.requests).toHaveLength(1);
  expect([...gateway.ledger]).toEqual([[merchantReference(order.id, 1), 1]]);
  const { rows } = await database.query<{ commits: number }>('select last_value as commits from conflicts');
  expect(rows, 'the commit was really refused').toEqual([{ commits: CONFLICTS + 1 }]);
});
