import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  readSigningSecret,
  type SigningSecret,
  signStandardWebhook,
  verifyStandardWebhook,
} from '../../gateways/standard-webhooks.ts';

const TEXT = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
const SECRET = readSigningSecret(TEXT, 'TEST_SECRET');
const OTHER = readSigningSecret(`whsec_${Buffer.alloc(24, 7).toString('base64')}`, 'OTHER_SECRET');
const NOW = new Date('2026-12-01T03:00:00Z');
const SECONDS = NOW.getTime() / 1_000;
const BODY = '{"type": "charge.approved",  "n": 1.0, "name": "王小明 \\u00e9 \\/"}';

type Headers = Record<string, readonly string[]>;

function signed(secrets: readonly [SigningSecret, ...SigningSecret[]] = [SECRET], id = 'evt_1'): Headers {
  const headers = signStandardWebhook({ id, timestampSeconds: SECONDS, body: BODY }, secrets);
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
}

function verify(headers: Headers, body = BODY, { secrets = [SECRET], now = NOW } = {}): string {
  return verifyStandardWebhook(headers, Buffer.from(body), { secrets, now }).kind;
}

describe('Standard Webhooks', () => {
  it('signs id.timestamp.body with the bytes of the secret', () => {
    const expected = createHmac('sha256', '0123456789abcdef0123456789abcdef').update(`evt_1.${SECONDS}.${BODY}`);
    expect(signed()['webhook-signature']).toEqual([`v1,${expected.digest('base64')}`]);
  });

  it('believes its own signature, and no other secret, body, id or time', () => {
    expect(verify(signed())).toBe('genuine');
    expect(verify(signed([OTHER]))).toBe('rejected');
    expect(verify(signed(), BODY.replace(',  ', ', '))).toBe('rejected');
    expect(verify({ ...signed(), 'webhook-id': ['evt_2'] })).toBe('rejected');
    expect(verify({ ...signed(), 'webhook-timestamp': [String(SECONDS + 1)] })).toBe('rejected');
  });

  it('C110: refuses a missing, empty, doubled or otherwise versioned signature, and takes one good one of two', () => {
    const { 'webhook-signature': good = [], ...without } = signed();
    const [value = ''] = good;
    const bad = [
      [],
      [''],
      ['v1,'],
      ['v1'],
      [value, value],
      [value.replace('v1,', 'v2,')],
      [value.replace('v1,', 'v1a,')],
    ];
    for (const signatures of bad) expect(verify({ ...without, 'webhook-signature': signatures })).toBe('rejected');
    expect(verify(without)).toBe('rejected');
    expect(verify({ ...without, 'webhook-signature': [`${value}, ${value},`] })).toBe('rejected');
    expect(verify({ ...without, 'webhook-signature': [`v1,bm9uc2Vuc2U= ${value}`] })).toBe('genuine');
    expect(verify({ ...without, 'webhook-signature': [`${'v1,x '.repeat(16)}${value}`] })).toBe('rejected');
  });

  it('goes on believing either secret while it is changed', () => {
    expect(verify(signed([OTHER, SECRET]))).toBe('genuine');
    expect(verify(signed([OTHER]), BODY, { secrets: [SECRET, OTHER], now: NOW })).toBe('genuine');
  });

  it('C108: refuses what is more than five minutes old, or from the future', () => {
    const at = (seconds: number): string =>
      verify(signed(), BODY, { secrets: [SECRET], now: new Date(NOW.getTime() + seconds * 1_000) });
    expect([300, -300, 301, -301].map(at)).toEqual(['genuine', 'genuine', 'rejected', 'rejected']);
  });

  it('signs no id with a dot, which could be read as another message, and refuses one', () => {
    expect(() => signed([SECRET], 'evt.1')).toThrow('without a dot');
    const headers = signed();
    expect(verify({ ...headers, 'webhook-id': [`evt_1.${SECONDS}`] })).toBe('rejected');
  });

  it('takes a secret of 24 to 64 bytes, and never quotes a bad one', () => {
    for (const text of [
      '',
      'whsec_',
      'whsec_c2hvcnQ=',
      TEXT.slice(6),
      `${TEXT}!`,
      `whsec_${Buffer.alloc(65).toString('base64')}`,
    ]) {
      expect(() => readSigningSecret(text, 'X')).toThrow(/^X must be "whsec_"/);
    }
  });
});
