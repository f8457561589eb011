import { v7 as newId } from 'uuid';
import { expect, it } from 'vitest';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { claimAttempt } from '../../store/orders/claims.ts';
import { failUnclaimable } from '../../store/orders/fail-unclaimable.ts';
import { recordNews } from '../../store/orders/records.ts';
import { readPurchase } from '../../store/orders/standing.ts';
import { createTestDatabase } from '../support/database.ts';

const { database } = await createTestDatabase();

it('an order that expires between two automatic attempts fails, with the proof of the last one, and only then', async () => {
  const orderId = newId();
  const [made, over] = ['2026-01-01T00:00:00.000Z', '2026-01-01T01:00:00.000Z'];
  await database.query(
    `insert into orders (id, amount_minor_units, currency, gateway, expires_at, created_at, updated_at)
     values ($1, 1000, 'EUR', 'simulator', $2, $3, $3)`,
    [orderId, over, made],
  );
  const subject = { orderId, attemptNumber: 1, now: made };
  const reference = merchantReference(orderId, 1);
  await claimAttempt(database, {
    ...subject,
    run: 'r',
    merchantReference: reference,
    paymentMethod: 't',
    returnUrl: null,
  });
  const outcome = { kind: 'not_processed', declineCode: 'gateway_unreachable', reason: 'refused', raw: '' } as const;
  await recordNews(database, { ...subject, kind: 'gateway_response', outcome, anotherFollows: true });
  await failUnclaimable(database, orderId, made);
  expect((await readPurchase(database, orderId)).orderStatus).toBe('processing');
  await failUnclaimable(database, orderId, over);
  expect(await readPurchase(database, orderId)).toMatchObject({ orderStatus: 'failed', provenBy: 'gateway_response' });
});
