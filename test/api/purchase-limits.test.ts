import { describe, expect, test } from 'vitest';
import { expireOrder } from '../../store/orders/expiry.ts';
import { createTestDatabase } from '../support/database.ts';
import { claimAndSend, DECLINED, NO_PURCHASES, record, startTestApi } from './support.ts';

const testDatabase = await createTestDatabase({ poolSize: 20 });
const { database } = testDatabase;
const api = await startTestApi(testDatabase, { purchases: NO_PURCHASES });
const METHOD = { paymentMethod: 'tok', returnUrl: null };

/** One try of a customer to order what everybody may have once. */
function order(customer: string) {
  const amount = { minor_units: 1_999, currency: 'EUR' };
  const body = { amount, product: 'early-bird', customer, limit: 'one_per_customer' };
  return api.call({ method: 'POST', url: '/v1/orders', role: 'write', body });
}

/** A customer with an order whose attempt was sent and not answered yet. */
async function sent(customer: string): Promise<string> {
  const { id } = (await order(customer)).json<{ id: string }>();
  await claimAndSend(database, { id }, { attemptNumber: 1, ...METHOD });
  return id;
}

async function end(id: string): Promise<void> {
  await database.query('update orders set expires_at = created_at where id = $1', [id]);
  await expireOrder(database, id, new Date().toISOString());
}

describe('what each customer may have once', () => {
  test('C112, C113, C114: of twenty orders at once one is taken, before any gateway is asked; each loser is told which', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => order('rush')));
    const taken = answers.filter(({ statusCode }) => statusCode === 201);
    expect(taken).toHaveLength(1);
    const { id } = taken[0]!.json<{ id: string }>();
    for (const answer of answers.filter(({ statusCode }) => statusCode !== 201)) {
      expect([answer.statusCode, answer.json().code]).toEqual([409, 'limit_one_per_customer']);
      expect(answer.json().detail).toContain(id);
    }
    const { rows } = await database.query(`select id from orders where customer = 'rush'`);
    expect(rows).toEqual([{ id }]);
  });

  test('C84: an order that nobody paid frees its place when its time is over, and so does one that was declined', async () => {
    const { id: abandoned } = (await order('forgetful')).json<{ id: string }>();
    expect((await order('forgetful')).statusCode).toBe(409);
    await end(abandoned);
    expect((await order('forgetful')).statusCode).toBe(201);

    const declined = await sent('poor');
    await record(database, { id: declined, attemptNumber: 1 }, DECLINED);
    await end(declined);
    expect((await order('poor')).statusCode).toBe(201);
  });

  test('C84: nobody knows whether it was paid: its place stays taken, however long its time is over', async () => {
    const unknown = await sent('unlucky');
    await record(database, { id: unknown, attemptNumber: 1 }, { kind: 'unknown', reason: 'cut off', raw: '' });
    await end(unknown);
    expect((await order('unlucky')).statusCode).toBe(409);
  });
});
