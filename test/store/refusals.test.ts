import { describe, expect, test } from 'vitest';
import { constraintOf } from '../../store/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { cancellationRefusals } from './refusals/cancellation.ts';
import { deliveryRefusals } from './refusals/deliveries.ts';
import { entitlementRefusals } from './refusals/entitlements.ts';
import { evidenceRefusals } from './refusals/evidence.ts';
import { gatewayHealthRefusals } from './refusals/gateway-health.ts';
import { inboxEventRefusals } from './refusals/inbox-events.ts';
import { orderRefusals } from './refusals/orders.ts';
import { otherRefusals } from './refusals/others.ts';
import { outboxRefusals } from './refusals/outbox.ts';
import { attemptRefusals } from './refusals/payment-attempts.ts';
import { refundRefusals } from './refusals/refunds.ts';

const { database } = await createTestDatabase();

const REFUSALS = {
  ...orderRefusals(database),
  ...cancellationRefusals(database),
  ...attemptRefusals(database),
  ...evidenceRefusals(database),
  ...outboxRefusals(database),
  ...deliveryRefusals(database),
  ...entitlementRefusals(database),
  ...inboxEventRefusals(database),
  ...gatewayHealthRefusals(database),
  ...otherRefusals(database),
  ...refundRefusals(database),
};

/** They only repeat a primary key with more columns, so that a foreign key can point at those; they never refuse first. */
const FOREIGN_KEY_TARGETS = ['evidence_for_order', 'evidence_for_attempt', 'over_payments_for_refund'];

for (const [constraint, cases] of Object.entries(REFUSALS)) {
  describe(constraint, () => {
    for (const [fault, write] of Object.entries(cases)) {
      test(`refuses: ${fault}`, async () => {
        const error: unknown = await write().then(
          () => 'it was written',
          (refusal: unknown) => refusal,
        );
        expect(constraintOf(error) ?? error).toBe(constraint);
      });
    }
  });
}

test('every constraint, unique index and guard of the database has a refusal above', async () => {
  const { rows } = await database.query<{ name: string }>(
    `select conname as name from pg_constraint
     where connamespace = 'public'::regnamespace and contype in ('p', 'u', 'c', 'f', 'x')
     union select indexrelid::regclass::text from pg_index join pg_class on pg_class.oid = indexrelid
     where indisunique and relnamespace = 'public'::regnamespace
     union select (regexp_matches(prosrc, 'constraint = ''(\\w+)''', 'g'))[1] from pg_proc
     where pronamespace = 'public'::regnamespace
     union select tgname from pg_trigger join pg_proc on pg_proc.oid = tgfoid where proname = 'refuse_change'
     order by 1`,
  );
  const names = rows.map(({ name }) => name).filter((name) => !FOREIGN_KEY_TARGETS.includes(name));
  expect(Object.keys(REFUSALS).sort()).toEqual(names.sort());
});
