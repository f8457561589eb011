import { describe, expect, it, test } from 'vitest';
import type { WebhookReading } from '../../domain/gateway-event.ts';
import { money } from '../../domain/money.ts';
import { createSimulatorGateway } from '../../gateways/simulator/adapter.ts';
import { readSigningSecret, signStandardWebhook } from '../../gateways/standard-webhooks.ts';
import { mutations } from './webhook-mutations.ts';

const SECRET_TEXT = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const SECRET = readSigningSecret(SECRET_TEXT, 'X');
const NOW = new Date('2026-12-01T03:00:00Z');
const VARIABLES = { HOOK_SECRET: SECRET_TEXT };
const SETTINGS = { url: 'http://127.0.0.1:1', account: 'shop', webhook_secret_envs: ['HOOK_SECRET'] };
const gateway = createSimulatorGateway({ name: 'main', settings: SETTINGS }, VARIABLES);

const CHARGE = {
  id: 'ch_1',
  reference: '01JDXW3Z9QFQ2V7W6N8K4M5P2T01',
  status: 'approved',
  amount: { minor_units: 1_999, currency: 'EUR' },
  decline_code: null,
  action_url: null,
};

function bodyOf(changes: object = {}): string {
  const event = { type: 'charge.approved', timestamp: '2026-12-01T02:59:59.000Z', account: 'shop', data: CHARGE };
  return JSON.stringify({ ...event, ...changes });
}

function signed(body: string, secret = SECRET): Record<string, readonly string[]> {
  const headers = signStandardWebhook({ id: 'evt_1', timestampSeconds: NOW.getTime() / 1_000, body }, [secret]);
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
}

function read(body: string, headers = signed(body)): WebhookReading {
  return gateway.parseWebhook!({ headers, body: Buffer.from(body) }, NOW);
}

describe('a webhook of the simulator', () => {
  it('says what happened to which charge', () => {
    expect(gateway.capabilities.webhooks).toBe('signed');
    expect(read(bodyOf())).toMatchObject({
      kind: 'genuine',
      event: {
        eventId: 'evt_1',
        type: 'charge.approved',
        occurredAt: '2026-12-01T02:59:59.000Z',
        news: {
          subject: 'charge',
          merchantReference: CHARGE.reference,
          gatewayReference: 'ch_1',
          outcome: { kind: 'approved', amount: money(1_999, 'EUR') },
          foreignAccount: null,
        },
      },
    });
  });

  it.each([
    ['declined', { status: 'declined', decline_code: 'insufficient_funds' }, { kind: 'declined' }],
    ['pending', { status: 'pending' }, { kind: 'pending' }],
    [
      'requires_action',
      { status: 'requires_action', action_url: 'http://bank.example/1' },
      { kind: 'requires_action' },
    ],
  ])('charge.%s', (status, changes, outcome) => {
    const reading = read(bodyOf({ type: `charge.${status}`, data: { ...CHARGE, ...changes } }));
    expect(reading).toMatchObject({ event: { news: { outcome } } });
  });

  it('about another account is told so', () => {
    expect(read(bodyOf({ account: 'other' }))).toMatchObject({ event: { news: { foreignAccount: 'other' } } });
    expect(read(bodyOf({ account: undefined }))).toMatchObject({ event: { news: { foreignAccount: 'none' } } });
  });

  it.each([
    ['an unknown kind', bodyOf({ type: 'charge.pondered' }), 'charge.pondered'],
    ['C29: a thin event', bodyOf({ data: null }), 'charge.approved'],
    ['no JSON at all', 'paid, have a nice day', 'unreadable'],
    ['half of it', bodyOf().slice(0, 60), 'unreadable'],
    [
      'an amount in no currency we know',
      bodyOf({ data: { ...CHARGE, amount: { minor_units: 1, currency: 'XXA' } } }),
      'charge.approved',
    ],
  ])('that is signed and not understood is genuine, with no news: %s', (_, body, type) => {
    expect(read(body)).toMatchObject({ kind: 'genuine', event: { type, news: null } });
  });

  it('C105: is verified over the bytes as they came, and a re-serialised copy is refused', () => {
    const odd = bodyOf()
      .replace('"amount":', '  "amount" :\t')
      .replace('1999', '1.999e3')
      .replace('"type"', '"typ\\u0065"')
      .replace('"shop"', '"s\\u0068op"')
      .replace('null,', 'null,"extra":"a\\/b","extra":"c",');
    expect(read(odd)).toMatchObject({
      event: { news: { outcome: { kind: 'approved', amount: money(1_999, 'EUR') } } },
    });
    expect(read(JSON.stringify(JSON.parse(odd)), signed(odd)).kind).toBe('rejected');
  });

  it('C106: may hold any alphabet', () => {
    const data = { ...CHARGE, note: 'Zoë Zoe\u0308 王小明 ₹ 🎫 \u2028 שלום 𝒳 a/b:c' };
    expect(read(bodyOf({ data }))).toMatchObject({ kind: 'genuine', event: { news: { gatewayReference: 'ch_1' } } });
  });

  it('C59: a number of the gateway above 2^53 is told digit for digit, or not at all', () => {
    const numbers = ['9196877626998785', '9196877626998784'].map((id) => {
      const reading = read(bodyOf({ data: { ...CHARGE, id } }));
      return reading.kind === 'genuine' && reading.event.news?.gatewayReference;
    });
    expect(numbers).toEqual(['9196877626998785', '9196877626998784']);
    const bare = bodyOf().replace('"ch_1"', '9196877626998785');
    expect(read(bare)).toMatchObject({ kind: 'genuine', event: { news: null } });
  });

  it('never tells a card number further', () => {
    const reading = read(bodyOf({ data: { ...CHARGE, note: 'card 4111 1111 1111 1111' } }));
    expect(JSON.stringify(reading)).not.toContain('4111 1111 1111 1111');
  });
});

test('10,000 mutations of a valid webhook: none is accepted', () => {
  const body = Buffer.from(bodyOf({ data: { ...CHARGE, note: 'Zoë 王小明' } }));
  const headers = signed(body.toString());
  expect(gateway.parseWebhook!({ headers, body }, NOW).kind).toBe('genuine');
  const accepted: string[] = [];
  const kinds = new Map<string, number>();
  for (const { kind, webhook, now } of mutations({ headers, body }, { now: NOW, count: 10_000, seed: 4 })) {
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    if (gateway.parseWebhook!(webhook, now).kind !== 'rejected') accepted.push(kind);
  }
  expect(accepted).toEqual([]);
  expect([...kinds.values()].reduce((sum, count) => sum + count, 0)).toBe(10_000);
  for (const [kind, count] of kinds) expect(count, kind).toBeGreaterThan(100);
});

describe('an account without its secret', () => {
  const create = (variables: NodeJS.ProcessEnv) => () =>
    createSimulatorGateway({ name: 'main', settings: SETTINGS }, variables);

  it.each([
    ['no secret', {}],
    ['an empty one', { HOOK_SECRET: '' }],
    ['one that is too short', { HOOK_SECRET: 'whsec_c2hvcnQ=' }],
  ])('is refused at the start: %s', (_, variables) => {
    expect(create(variables)).toThrow(/webhook secret of gateway main, HOOK_SECRET/);
  });

  it('and the mistake quotes nothing', () => {
    expect(create({ HOOK_SECRET: 'my-secret' })).not.toThrow(/my-secret/);
  });

  it('takes no webhooks when it declares none', () => {
    const silent = createSimulatorGateway({ name: 'main', settings: { url: SETTINGS.url } }, {});
    expect(silent.capabilities.webhooks).toBe('none');
    expect(silent.parseWebhook).toBeUndefined();
  });
});
