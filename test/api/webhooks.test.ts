import { describe, expect, test } from 'vitest';
import type { GatewayFacts } from '../../api/dependencies.ts';
import type { EventTeller } from '../../api/event-teller.ts';
import { CodedError } from '../../domain/errors.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { createSimulatorGateway } from '../../gateways/simulator/adapter.ts';
import { readSigningSecret, signStandardWebhook } from '../../gateways/standard-webhooks.ts';
import type { Database } from '../../store/database.ts';
import { applyInboxEvent } from '../../store/inbox/apply-event.ts';
import { setEventAside } from '../../store/inbox/inbox-upkeep.ts';
import { createTestDatabase } from '../support/database.ts';
import { approved, later, PRICE, sentOrder } from '../support/inbox.ts';
import { NO_PURCHASES, record, startTestApi } from './support.ts';

const testDatabase = await createTestDatabase();
const { database } = testDatabase;
const SECRET_TEXT = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const SECRET = readSigningSecret(SECRET_TEXT, 'X');
const simulator = createSimulatorGateway(
  { name: 'simulator', settings: { url: 'http://127.0.0.1:1', webhook_secret_envs: ['HOOK_SECRET'] } },
  { HOOK_SECRET: SECRET_TEXT },
);
const gateways: readonly [GatewayFacts, ...GatewayFacts[]] = [
  { name: 'simulator', currencyDecimals: {}, parseWebhook: simulator.parseWebhook! },
  { name: 'silent', currencyDecimals: {} },
];

const told: { readonly id: string; readonly orderId: string }[] = [];
const events: EventTeller = {
  tell: async (event) => void told.push(event),
  ended: () => Promise.resolve(),
};
const api = await startTestApi(testDatabase, { purchases: NO_PURCHASES, events, gateways });
const tellsNobody = await startTestApi(testDatabase, {
  purchases: NO_PURCHASES,
  events: { ...events, tell: () => Promise.reject(new CodedError('temporal_unavailable')) },
  gateways,
});

function bodyOf(orderId: string, changes: object = {}): string {
  const data = {
    id: `ch_${orderId.replaceAll('-', '')}`,
    reference: merchantReference(orderId, 1),
    status: 'approved',
    amount: { minor_units: 1_999, currency: 'EUR' },
    decline_code: null,
    action_url: null,
  };
  return JSON.stringify({ type: 'charge.approved', timestamp: later(0), account: 'simulator', data, ...changes });
}

let sent = 0;

function headersFor(body: string, { id = `evt_${++sent}`, ageSeconds = 0 } = {}): Record<string, string> {
  const timestampSeconds = Math.floor(Date.now() / 1_000) - ageSeconds;
  return { ...signStandardWebhook({ id, timestampSeconds, body }, [SECRET]), 'content-type': 'application/json' };
}

function deliver(text: string, headers = headersFor(text), { to = api, gateway = 'simulator' } = {}) {
  return to.call({ method: 'POST', url: `/v1/webhooks/${gateway}`, text, headers });
}

async function stored(): Promise<number> {
  const { rows } = await database.query<{ count: number }>('select count(*)::int as count from inbox_events');
  return rows[0]!.count;
}

const listed = (query: string) => api.call({ url: `/v1/inbox-events?${query}`, role: 'operate' });
const replay = (id: string, to = api) =>
  to.call({ method: 'POST', url: `/v1/inbox-events/${id}/replay`, role: 'operate' });

describe('a webhook', () => {
  test('is stored before it is answered 204, and its order is told', async () => {
    const orderId = await sentOrder(database);
    const answer = await deliver(bodyOf(orderId));
    expect(answer.statusCode).toBe(204);
    expect(answer.body).toBe('');
    const { inbox_events } = (await listed(`order_id=${orderId}`)).json();
    expect(inbox_events).toMatchObject([{ state: 'stored', type: 'charge.approved', order_id: orderId }]);
    expect(told.filter((event) => event.orderId === orderId)).toHaveLength(1);
  });

  test('C32: twenty at once are answered alike and stored once', async () => {
    const orderId = await sentOrder(database);
    const body = bodyOf(orderId);
    const headers = headersFor(body);
    const answers = await Promise.all(Array.from({ length: 20 }, () => deliver(body, headers)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 20 }, () => 204));
    expect((await listed(`order_id=${orderId}`)).json().inbox_events).toHaveLength(1);
  });

  test('C105, C106: is taken as bytes, with odd spacing, escapes and any alphabet', async () => {
    const orderId = await sentOrder(database);
    const body = bodyOf(orderId).replace('"type":', '\n "note":"Zoë 王小明 ₹ 🎫 \u2028 a\\/b \\u00e9",  "type" : ');
    expect((await deliver(body)).statusCode).toBe(204);
    const [event] = (await listed(`order_id=${orderId}`)).json().inbox_events;
    expect(event.body).toBe(body);
    const copy = JSON.stringify(JSON.parse(body));
    expect((await deliver(copy, headersFor(body))).statusCode).toBe(400);
  });

  test('of another content type, or of none, is taken all the same', async () => {
    const body = bodyOf(await sentOrder(database));
    const { 'content-type': _, ...headers } = headersFor(body);
    expect((await deliver(body, { ...headers, 'content-type': 'text/plain' })).statusCode).toBe(204);
  });

  test('C109: is taken whole at 99 kB, 101 kB and just under 1 MB, and refused beyond the limit with nothing stored', async () => {
    const orderId = await sentOrder(database);
    const answers: number[] = [];
    for (const kilobytes of [99, 101, 1_023, 1_025, 10_000]) {
      const note = 'x'.repeat(kilobytes * 1_024 - bodyOf(orderId, { note: '' }).length);
      answers.push((await deliver(bodyOf(orderId, { note }))).statusCode);
    }
    expect(answers).toEqual([204, 204, 204, 413, 413]);
    expect((await listed(`order_id=${orderId}`)).json().inbox_events).toHaveLength(3);
  });

  test('of an unknown kind is stored, answered 2xx and shown', async () => {
    const orderId = await sentOrder(database);
    const answer = await deliver(bodyOf(orderId, { type: 'payout.created' }));
    expect(answer.statusCode).toBe(204);
    const { inbox_events } = (await listed('state=not_understood')).json();
    expect(inbox_events[0]).toMatchObject({ type: 'payout.created', order_id: null });
    expect(told.some((event) => event.orderId === orderId)).toBe(false);
  });

  test('with a card number in it is stored without', async () => {
    const orderId = await sentOrder(database);
    expect((await deliver(bodyOf(orderId, { note: '4111 1111 1111 1111' }))).statusCode).toBe(204);
    const { rows } = await database.query<{ text: string }>(
      `select convert_from(body, 'UTF8') || news::text as text from inbox_events where order_id = $1`,
      [orderId],
    );
    expect(rows[0]!.text).not.toContain('4111 1111');
    expect(api.logged()).not.toContain('4111 1111');
  });

  test('is answered 204 when Temporal is away: it is stored, and found later', async () => {
    const orderId = await sentOrder(database);
    const body = bodyOf(orderId);
    expect((await deliver(body, headersFor(body), { to: tellsNobody })).statusCode).toBe(204);
    expect((await listed(`order_id=${orderId}`)).json().inbox_events).toMatchObject([{ state: 'stored' }]);
  });

  test('that says what the row says already is stored as nothing new, and nobody is told', async () => {
    const orderId = await sentOrder(database);
    const gatewayReference = `ch_${orderId.replaceAll('-', '')}`;
    const approval = approved(PRICE, gatewayReference);
    await record(database, { id: orderId, attemptNumber: 1 }, approval);
    await deliver(bodyOf(orderId));
    await deliver(bodyOf(orderId, { type: 'charge.pending' }));
    const { inbox_events } = (await listed(`order_id=${orderId}`)).json();
    expect(inbox_events.map(({ state }: { state: string }) => state)).toEqual(['nothing_new', 'nothing_new']);
    expect(told.some((event) => event.orderId === orderId)).toBe(false);
  });

  test('that contradicts the row is told to be applied', async () => {
    const orderId = await sentOrder(database);
    await record(database, { id: orderId, attemptNumber: 1 }, approved(PRICE, 'ch_another'));
    await deliver(bodyOf(orderId));
    await deliver(bodyOf(orderId, { account: 'other' }));
    const { inbox_events } = (await listed(`order_id=${orderId}`)).json();
    expect(inbox_events.map(({ state }: { state: string }) => state)).toEqual(['stored', 'stored']);
    expect(told.filter((event) => event.orderId === orderId)).toHaveLength(2);
  });

  test('is answered 503 when the database is away, so that it comes again', async () => {
    const away: Database = { ...database, query: () => Promise.reject(new Error('Connection terminated')) };
    const noDatabase = await startTestApi(testDatabase, { purchases: NO_PURCHASES, events, gateways, database: away });
    const body = bodyOf(await sentOrder(database));
    expect((await deliver(body, headersFor(body), { to: noDatabase })).json()).toMatchObject({
      code: 'database_unavailable',
    });
  });
});

describe('bad input is answered 4xx, and nothing is stored', () => {
  const body = bodyOf('01938f2e-5b7a-7c3d-9e4f-0123456789ab');
  const good = () => headersFor(body);
  const without = (name: string) => Object.fromEntries(Object.entries(good()).filter(([key]) => key !== name));

  test.each([
    ['without a signature', () => deliver(body, without('webhook-signature')), 400],
    ['without an id', () => deliver(body, without('webhook-id')), 400],
    ['with an empty signature', () => deliver(body, { ...good(), 'webhook-signature': '' }), 400],
    ['signed by somebody else', () => deliver(body, { ...good(), 'webhook-signature': 'v1,bm9uc2Vuc2U=' }), 400],
    ['too old', () => deliver(body, headersFor(body, { ageSeconds: 301 })), 400],
    ['from the future', () => deliver(body, headersFor(body, { ageSeconds: -310 })), 400],
    ['cut off', () => deliver(body.slice(0, -1), good()), 400],
    [
      'without a body',
      () => api.call({ method: 'POST', url: '/v1/webhooks/simulator', headers: without('content-type') }),
      400,
    ],
    ['too large', () => deliver(`${body}${' '.repeat(1_100_000)}`, good()), 413],
    ['to a gateway that sends none', () => deliver(body, good(), { gateway: 'silent' }), 404],
    ['to no gateway', () => deliver(body, good(), { gateway: 'nobody' }), 404],
  ] as const)('%s', async (_, send, status) => {
    const before = await stored();
    const answer = await send();
    expect(answer.statusCode).toBe(status);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(await stored()).toBe(before);
  });

  test('and the log says why, without secrets and signatures', async () => {
    await deliver(body, { ...good(), 'webhook-signature': 'v1,bm9uc2Vuc2U=' });
    expect(api.logged()).toContain('no signature fits the message');
    expect(api.logged()).not.toContain('bm9uc2Vuc2U');
    expect(api.logged()).not.toContain('whsec_');
  });
});

describe('the inbox', () => {
  test('is for operators', async () => {
    expect((await api.call({ url: '/v1/inbox-events', role: 'write' })).statusCode).toBe(403);
    expect((await api.call({ url: '/v1/inbox-events' })).statusCode).toBe(401);
  });

  test('is listed newest first, in pages, by state', async () => {
    const page = (await listed('limit=2')).json();
    expect(page.inbox_events).toHaveLength(2);
    const next = (await listed(`limit=2&cursor=${page.next_cursor}`)).json();
    expect(next.inbox_events[0].id < page.inbox_events[1].id).toBe(true);
    expect((await listed('state=lost')).json()).toMatchObject({ code: 'field_invalid' });
  });

  test('an event that is stuck is replayed, and one that was applied is left alone', async () => {
    const orderId = await sentOrder(database);
    await deliver(bodyOf(orderId));
    const [{ id }] = (await listed(`order_id=${orderId}`)).json().inbox_events;
    await setEventAside(database, { id, remark: 'a mistake of ours' });
    told.length = 0;
    const answer = await replay(id);
    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toMatchObject({ id, state: 'stored', remark: null });
    expect(told).toEqual([{ id, orderId }]);
    await applyInboxEvent(database, { id, now: later(0) });
    told.length = 0;
    expect((await replay(id)).json()).toMatchObject({ state: 'applied' });
    expect(told).toEqual([]);
  });

  test('C33: an event without an order looks for it again', async () => {
    const orderId = await sentOrder(database);
    const charge = { reference: 'SOMEBODYELSE', status: 'approved', amount: { minor_units: 1_999, currency: 'EUR' } };
    const data = { ...charge, id: 'ch_replayed', decline_code: null, action_url: null };
    await deliver(bodyOf(orderId, { data }));
    const [{ id }] = (await listed('state=unmatched')).json().inbox_events;
    expect((await replay(id)).json()).toMatchObject({ state: 'unmatched' });
    await database.query(`update payment_attempts set gateway_reference = 'ch_replayed' where order_id = $1`, [
      orderId,
    ]);
    expect((await replay(id)).json()).toMatchObject({ state: 'stored', order_id: orderId });
  });

  test('answers when there is no such event, or when Temporal is away', async () => {
    expect((await replay('01938f2e-5b7a-7c3d-9e4f-0123456789ab')).json()).toMatchObject({
      code: 'inbox_event_not_found',
    });
    const orderId = await sentOrder(database);
    await deliver(bodyOf(orderId));
    const [{ id }] = (await listed(`order_id=${orderId}`)).json().inbox_events;
    expect((await replay(id, tellsNobody)).json()).toMatchObject({ code: 'temporal_unavailable' });
  });
});
