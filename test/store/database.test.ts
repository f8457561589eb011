import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { constraintOf, createDatabase, inTransaction, isUnavailable } from '../../store/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { insertRow, orderRow } from '../support/rows.ts';

const { database, url } = await createTestDatabase({ poolSize: 4 });

/** The only row of a statement. */
async function one<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row> {
  const { rows } = await database.query<Row>(text, values);
  return rows[0]!;
}

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('columns', () => {
  test('come as what JSON and Temporal can carry', async () => {
    expect(
      await one(
        `select 9007199254740991::bigint as amount, timestamptz '2026-11-30 13:00:00.123+01' as at,
           date '2026-11-30' as day, null::bigint as nothing`,
      ),
    ).toEqual({ amount: 9_007_199_254_740_991, at: '2026-11-30T12:00:00.123Z', day: '2026-11-30', nothing: null });
  });

  test('that cannot be carried exactly are an error', async () => {
    await expect(database.query('select 9007199254740992::bigint as amount')).rejects.toThrow('9007199254740992');
    await expect(database.query(`select timestamptz 'infinity' as at`)).rejects.toThrow('infinity');
  });
});

describe('a statement', () => {
  test('is prepared once per connection', async () => {
    const text = 'select $1::int as prepared_once';
    const names = await database.withConnection(async (connection) => {
      await connection.query(text, [1]);
      await connection.query(text, [2]);
      const { rows } = await connection.query<{ name: string }>(
        'select name from pg_prepared_statements where statement = $1',
        [text],
      );
      return rows;
    });
    expect(names).toHaveLength(1);
  });

  test('is not prepared when a pooler forbids it', async () => {
    const plain = createDatabase({ url, poolSize: 1, applicationName: 'plain', prepareStatements: false });
    await plain.query('select $1::int', [1]);
    expect((await plain.query('select name from pg_prepared_statements')).rows).toEqual([]);
    await plain.close();
  });

  test('that the server refuses does not cost the connection', async () => {
    const single = createDatabase({ url, poolSize: 1, applicationName: 'single' });
    const processOf = async () => (await single.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
    const before = await processOf();
    await expect(single.query('select 1 / $1::int', [0])).rejects.toThrow('division by zero');
    expect(await processOf()).toBe(before);
    await single.close();
  });

  test('that takes too long is ended by the server', async () => {
    const hasty = createDatabase({ url, poolSize: 1, applicationName: 'hasty', statementTimeoutMs: 50 });
    const error = await errorOf(hasty.query('select pg_sleep(30)'));
    expect(isUnavailable(error)).toBe(true);
    await hasty.close();
  });

  test('cannot be sent on a connection that was given back', async () => {
    const kept = await database.withConnection((connection) => Promise.resolve(connection));
    await expect(kept.query('select 1')).rejects.toThrow('given back');
  });
});

describe('a transaction', () => {
  const insert = (transaction: Parameters<typeof insertRow>[0], id: string) =>
    insertRow(transaction, 'orders', orderRow({ id }));
  const isStored = async (id: string) =>
    (await one<{ stored: boolean }>('select exists (select from orders where id = $1) as stored', [id])).stored;

  test('is committed when its work is done, and returns what that returned', async () => {
    const id = crypto.randomUUID();
    const result = await inTransaction(database, async (transaction) => {
      await insert(transaction, id);
      expect(await isStored(id), 'seen from outside before the commit').toBe(false);
      return 'done';
    });
    expect([result, await isStored(id)]).toEqual(['done', true]);
  });

  test('is rolled back when its work throws, and the error comes through as it was', async () => {
    const id = crypto.randomUUID();
    const fault = new Error('on purpose');
    const work = inTransaction(database, async (transaction) => {
      await insert(transaction, id);
      throw fault;
    });
    expect([await errorOf(work), await isStored(id)]).toEqual([fault, false]);
  });

  test('whose work hides the failure of a statement is not taken for committed', async () => {
    const id = crypto.randomUUID();
    const work = inTransaction(database, async (transaction) => {
      await insert(transaction, id);
      await errorOf(transaction.query('select 1 / 0'));
    });
    await expect(work).rejects.toThrow('nothing was committed');
    expect(await isStored(id)).toBe(false);
  });

  for (const state of ['40001', '40P01']) {
    test(`that Postgres undid for the sake of another (${state}) is done again, all of it`, async () => {
      const ids: string[] = [];
      await inTransaction(database, async (transaction) => {
        ids.push(crypto.randomUUID());
        await insert(transaction, ids.at(-1)!);
        if (ids.length < 3)
          await transaction.query(`do $$ begin raise exception 'forced' using errcode = '${state}'; end $$`);
      });
      expect(await Promise.all(ids.map(isStored))).toEqual([false, false, true]);
    });
  }

  test('is done again when the conflict shows only at the commit', async () => {
    const id = crypto.randomUUID();
    await insert(database, id);
    let tries = 0;
    const raise = () =>
      inTransaction(database, async (transaction) => {
        tries += 1;
        await transaction.query('set transaction isolation level serializable');
        const { rows } = await transaction.query<{ total: number }>(
          `select count(*) as total from orders where description = 'raised' and id = $1`,
          [id],
        );
        await new Promise((resolve) => setTimeout(resolve, 50));
        await transaction.query('update orders set description = $2 where id = $1 and $3 = 0', [
          id,
          'raised',
          rows[0]!.total,
        ]);
      });
    await Promise.all([raise(), raise()]);
    expect(tries).toBe(3);
  });

  test('is given up after a bounded number of conflicts', async () => {
    let tries = 0;
    const work = inTransaction(database, async (transaction) => {
      tries += 1;
      await transaction.query(`do $$ begin raise exception 'forced' using errcode = '40001'; end $$`);
    });
    await expect(work).rejects.toThrow('forced');
    expect(tries).toBe(6);
  });

  test('does not repeat its work for any other error', async () => {
    let tries = 0;
    const work = inTransaction(database, async (transaction) => {
      tries += 1;
      await insert(transaction, '00000000-0000-0000-0000-00000000000z');
    });
    await expect(work).rejects.toThrow('invalid input syntax');
    expect(tries).toBe(1);
  });
});

describe('an error', () => {
  test('names the constraint that refused a row, and nothing else does', async () => {
    const refusal = await errorOf(insertRow(database, 'orders', orderRow({ amount_minor_units: 0 })));
    expect(constraintOf(refusal)).toBe('orders_amount_positive_and_safe');
    expect(isUnavailable(refusal)).toBe(false);
    expect(constraintOf(await errorOf(database.query('select nonsense')))).toBeUndefined();
    expect(constraintOf(new Error('other'))).toBeUndefined();
    expect(constraintOf('not even an error')).toBeUndefined();
  });

  test('of a server that is not there says that the database is away', async () => {
    const away = createDatabase({ url: urlWith({ port: '1' }), poolSize: 1, applicationName: 'away' });
    expect(isUnavailable(await errorOf(away.query('select 1')))).toBe(true);
    expect(isUnavailable(await errorOf(inTransaction(away, () => Promise.resolve())))).toBe(true);
    await away.close();
  });

  test('of a server that takes the connection and says nothing comes in bounded time', async () => {
    const silent = createServer();
    const port = await new Promise<number>((resolve) => {
      silent.listen(0, '127.0.0.1', () => resolve((silent.address() as { port: number }).port));
    });
    const away = createDatabase({ url: urlWith({ port: String(port) }), poolSize: 1, applicationName: 'away' });
    expect(isUnavailable(await errorOf(away.query('select 1')))).toBe(true);
    await away.close();
    silent.close();
  });

  test('of a connection that is cut in the middle says so, and the next statement works', async () => {
    const cut = createDatabase({ url, poolSize: 1, applicationName: 'cut-me' });
    const work = errorOf(cut.query('select pg_sleep(30)'));
    await terminate('cut-me');
    expect(isUnavailable(await work)).toBe(true);
    expect((await cut.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await cut.close();
  });

  test('of an idle connection that is cut goes to the log and not to the process', async () => {
    const warnings: string[] = [];
    const log = { warn: (_details: object, message: string) => warnings.push(message) };
    const cut = createDatabase({ url, poolSize: 1, applicationName: 'cut-idle', log });
    await cut.query('select 1');
    await terminate('cut-idle');
    await expect.poll(() => warnings).toEqual(['an idle database connection was lost']);
    expect((await cut.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await cut.close();
  });
});

test('a connection whose work left a transaction open is not lent to the next', async () => {
  const single = createDatabase({ url, poolSize: 1, applicationName: 'single' });
  await single.withConnection((connection) => connection.query('begin'));
  const { rows } = await single.query<{ now: boolean }>('select now() = statement_timestamp() as now');
  expect(rows).toEqual([{ now: true }]);
  await single.close();
});

test('connections are counted', async () => {
  expect(database.connections()).toMatchObject({ busy: 0, waiting: 0 });
  await database.withConnection(() => {
    expect(database.connections()).toMatchObject({ busy: 1, waiting: 0 });
    return Promise.resolve();
  });
  expect(database.connections()).toMatchObject({ busy: 0, waiting: 0 });
});

function urlWith(changes: { readonly port: string }): string {
  return Object.assign(new URL(url), changes).href;
}

/** Ends the server's side of the connections of this name, once there is one. */
async function terminate(applicationName: string): Promise<void> {
  await expect
    .poll(async () => {
      const { rowCount } = await database.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1',
        [applicationName],
      );
      return rowCount;
    })
    .toBe(1);
}
