import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  abandonIdempotentRequest,
  beginIdempotentRequest,
  finishIdempotentRequest,
  type IdempotentRequest,
  purgeIdempotencyKeys,
} from '../../store/idempotency-keys.ts';
import { createTestDatabase } from '../support/database.ts';

const { database } = await createTestDatabase({ poolSize: 20 });

const T0 = Date.parse('2026-11-30T12:00:00Z');
const at = (seconds: number) => new Date(T0 + seconds * 1000).toISOString();
const hashOf = (body: string) => createHash('sha256').update(body).digest();

/** A call at T0 + `seconds` that frees its key after a minute. */
function call(key: string, seconds = 0, changes: Partial<IdempotentRequest> = {}): IdempotentRequest {
  const request = { scope: 'api-key:1', route: 'POST /v1/orders', key, requestHash: hashOf('{}') };
  return { ...request, now: at(seconds), freedAt: at(seconds + 60), ...changes };
}

const RESPONSE = { status: 201, headers: { location: '/v1/orders/1' }, body: '{"id":"1"}' };

function finish(request: IdempotentRequest): Promise<boolean> {
  const replayUntil = at(24 * 3600);
  return finishIdempotentRequest(database, { ...request, startedAt: request.now, response: RESPONSE, replayUntil });
}

test('of fifty calls at once one is the first, and all others find it running', async () => {
  const verdicts = await Promise.all(Array.from({ length: 50 }, () => beginIdempotentRequest(database, call('storm'))));
  expect(verdicts.filter(({ kind }) => kind === 'fresh')).toHaveLength(1);
  expect(verdicts.filter(({ kind }) => kind === 'running')).toHaveLength(49);
  expect(verdicts.find(({ kind }) => kind === 'running')).toEqual({ kind: 'running', since: at(0), freedAt: at(60) });
});

test('of fifty calls at once for a key that died half-way one takes it over', async () => {
  await beginIdempotentRequest(database, call('dead'));
  const verdicts = await Promise.all(
    Array.from({ length: 50 }, () => beginIdempotentRequest(database, call('dead', 61))),
  );
  expect(verdicts.filter(({ kind }) => kind === 'fresh')).toHaveLength(1);
  expect(verdicts.filter(({ kind }) => kind === 'running')).toHaveLength(49);
});

test('a repeat gets the stored answer until its time is over, and then counts as new', async () => {
  await beginIdempotentRequest(database, call('replay'));
  expect(await finish(call('replay'))).toBe(true);
  expect(await beginIdempotentRequest(database, call('replay', 61))).toEqual({ kind: 'replay', response: RESPONSE });
  expect(await beginIdempotentRequest(database, call('replay', 24 * 3600))).toEqual({ kind: 'fresh' });
});

test('another body is refused, while the first call runs and after it', async () => {
  const other = (seconds: number) => call('other', seconds, { requestHash: hashOf('{"amount":2}') });
  await beginIdempotentRequest(database, call('other'));
  expect(await beginIdempotentRequest(database, other(1))).toEqual({ kind: 'other_body' });
  await finish(call('other'));
  expect(await beginIdempotentRequest(database, other(2))).toEqual({ kind: 'other_body' });
});

test('a key is free before its time when the first call gives it up', async () => {
  await beginIdempotentRequest(database, call('abandoned'));
  await abandonIdempotentRequest(database, { ...call('abandoned'), startedAt: at(0) });
  expect(await beginIdempotentRequest(database, call('abandoned', 1))).toEqual({ kind: 'fresh' });
});

test('a stored answer cannot be given up or replaced', async () => {
  await beginIdempotentRequest(database, call('kept'));
  await finish(call('kept'));
  expect(await finish(call('kept'))).toBe(false);
  await abandonIdempotentRequest(database, { ...call('kept'), startedAt: at(0) });
  expect(await beginIdempotentRequest(database, call('kept', 1))).toEqual({ kind: 'replay', response: RESPONSE });
});

test('a call that was given up for dead and comes back late changes nothing for the one that took over', async () => {
  const slow = call('slow');
  await beginIdempotentRequest(database, slow);
  await beginIdempotentRequest(database, call('slow', 61));
  expect(await finish(slow)).toBe(false);
  await abandonIdempotentRequest(database, { ...slow, startedAt: slow.now });
  expect(await beginIdempotentRequest(database, call('slow', 62))).toMatchObject({ kind: 'running', since: at(61) });
});

test('two callers and two routes do not share a key', async () => {
  await beginIdempotentRequest(database, call('shared'));
  expect(await beginIdempotentRequest(database, call('shared', 0, { scope: 'api-key:2' }))).toEqual({ kind: 'fresh' });
  const pay = { route: 'POST /v1/orders/:id/pay' };
  expect(await beginIdempotentRequest(database, call('shared', 0, pay))).toEqual({ kind: 'fresh' });
});

test('what is over is purged in portions, and nothing else', async () => {
  const later = '2030-01-01T00:00:00Z';
  const keys = ['old-1', 'old-2', 'old-3'];
  for (const key of keys) await beginIdempotentRequest(database, call(key, 0, { scope: 'purge' }));
  await beginIdempotentRequest(database, call('young', 0, { scope: 'purge', freedAt: '2031-01-01T00:00:00Z' }));
  expect(await purgeIdempotencyKeys(database, later, 2)).toBe(2);
  while ((await purgeIdempotencyKeys(database, later, 2)) > 0);
  const { rows } = await database.query('select key from idempotency_keys');
  expect(rows).toEqual([{ key: 'young' }]);
});
