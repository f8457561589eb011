import { fc, test as property } from '@fast-check/vitest';
import type { LightMyRequestResponse } from 'fastify';
import { describe, expect } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { type Operation, readDocument } from './document.ts';
import { approvalOf, createStandIn, startTestApi } from './support.ts';

/** S20: whatever is sent to whatever route, the answer is never a 500 and every refusal is a problem+json that tells nothing. */
const testDatabase = await createTestDatabase();
const purchases = createStandIn(testDatabase, async (_, order) => approvalOf(order));
const api = await startTestApi(testDatabase, { purchases, settings: { payWaitSeconds: 0 } });
const order = await api.createOrder();
const { operations } = await readDocument(api.app);

const RUNS = { numRuns: 400 };
/** Words of a program's inside that must never come out. */
const INSIDE = /select |insert |node_modules|\bat [\w.]+ \(|ECONN|postgres|pg_|Error:/;

/** What a database, a terminal or a log would trip over. */
const nasty = fc.constantFrom('\u0000', 'a\u0000b', '\ud800', '\u001b[2J');

const scalar = fc.oneof(
  { weight: 3, arbitrary: nasty },
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.double(),
  fc.integer(),
  fc.constantFrom(null, true, false, '', '01920000-0000-7000-8000-000000000000', '1e400', '-0'),
  fc.constantFrom(order.token, 'EUR', 'paid', 'https://shop.example', '🦊'.repeat(200), "'; drop table orders; --"),
);

const GOOD: Readonly<Record<string, Record<string, unknown>>> = {
  createOrder: { amount: { minor_units: 5, currency: 'EUR' }, description: 'good' },
  payOrder: { payment_token: order.token, payment_method: 'tok', wait_seconds: 0 },
  decideOrder: { outcome: 'paid', operator: 'Ada', reason: 'seen on the bank statement' },
};

/** Bodies that are nearly right reach further than noise does. */
function nearly(good: Record<string, unknown>) {
  const names = [...Object.keys(good), 'amount', 'return_url', 'expires_in_seconds', 'gateway', '__proto__'];
  return fc
    .dictionary(
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...names) },
        { weight: 1, arbitrary: fc.string({ maxLength: 10 }) },
      ),
      fc.oneof({ weight: 6, arbitrary: scalar }, { weight: 1, arbitrary: fc.object({ maxDepth: 3 }) }),
      { minKeys: 1, maxKeys: 1 },
    )
    .map((changes) => JSON.stringify({ ...good, ...changes }));
}

function bodyFor({ description }: Operation) {
  const good = GOOD[description.operationId ?? ''];
  return fc.oneof(
    ...(good === undefined ? [] : [nearly(good), nearly(good)]),
    fc.json(),
    fc.string({ unit: 'binary', maxLength: 200 }),
  );
}

const headerValue = fc.string({
  unit: fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code)),
  maxLength: 300,
});

function requestFor(operation: Operation) {
  return fc.record({
    id: fc.oneof(fc.constant(order.id), fc.string({ unit: 'binary', maxLength: 60 })),
    query: fc.oneof(
      fc.constant(''),
      fc.dictionary(fc.constantFrom('limit', 'cursor', 'status', 'shop_reference', 'x'), fc.string({ maxLength: 60 })),
    ),
    text: operation.method === 'POST' ? bodyFor(operation) : fc.constant(undefined),
    key: fc.option(headerValue, { nil: undefined }),
    type: fc.oneof({ weight: 5, arbitrary: fc.constant('application/json') }, { weight: 1, arbitrary: headerValue }),
  });
}

function expectDecentAnswer(answer: LightMyRequestResponse): void {
  expect(answer.statusCode).not.toBe(500);
  if (answer.statusCode < 400) return;
  expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  const problem = answer.json();
  expect(problem).toMatchObject({ status: answer.statusCode, code: expect.stringMatching(/^[a-z_]+$/) });
  expect(answer.body).not.toMatch(INSIDE);
}

describe.each(operations)('$name', (operation) => {
  property.prop([requestFor(operation)], RUNS)(
    'is never a 500, whatever is sent',
    async ({ id, query, text, key, type }) => {
      const path = operation.path.replace('{id}', encodeURIComponent(/\p{Cs}/u.test(id) ? 'half' : id));
      const search = new URLSearchParams(query).toString();
      const answer = await api.call({
        method: operation.method,
        url: search === '' ? path : `${path}?${search}`,
        role: 'operate',
        headers: {
          ...(key !== undefined && { 'idempotency-key': key }),
          ...(text !== undefined && { 'content-type': type }),
        },
        ...(text !== undefined && { text }),
      });
      expectDecentAnswer(answer);
    },
  );
});
