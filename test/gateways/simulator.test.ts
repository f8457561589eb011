import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FaultInput, SwitchesInput } from '../../gateways/simulator/control.ts';
import { TOKENS } from '../../gateways/simulator/server/tokens.ts';
import { createLedgerFolder, type SimulatorProcess, startSimulatorProcess } from '../support/simulator-process.ts';

interface Answer {
  readonly status: number;
  readonly replayed: boolean;
  readonly body: { id?: string; status?: string; error?: { code: string; field?: string }; [field: string]: unknown };
}

const folder = createLedgerFolder();
let simulator: SimulatorProcess;
let account = '';
let count = 0;

beforeAll(async () => {
  simulator = await startSimulatorProcess(folder.path);
});
beforeEach(async () => {
  await simulator.control.clearFaults();
  count += 1;
  account = `account-${count}`;
});
afterAll(async () => {
  expect(await simulator.stop()).toBe(0);
  folder.remove();
});

/** For what the simulator does later; a busy machine may take its time. */
const WAIT = { interval: 50, timeout: 15_000 };

const good = { reference: 'R1', amount: { minor_units: 500, currency: 'EUR' }, payment_method: 'tok_ok' };

async function send(path: string, init: RequestInit): Promise<Answer> {
  const headers = { authorization: 'Bearer any', ...init.headers };
  const response = await fetch(`${simulator.address}${path}`, { redirect: 'manual', ...init, headers });
  const text = await response.text();
  const body = text.startsWith('{') ? (JSON.parse(text) as Answer['body']) : {};
  return { status: response.status, replayed: response.headers.has('idempotent-replayed'), body };
}

function charge(change: object = {}, key?: string): Promise<Answer> {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  return send(`/${account}/v1/charges`, { method: 'POST', body: JSON.stringify({ ...good, ...change }), headers });
}

function inquire(reference = 'R1'): Promise<Answer> {
  return send(`/${account}/v1/charges?reference=${reference}`, { method: 'GET' });
}

async function statusesFound(reference = 'R1'): Promise<unknown[]> {
  const { charges } = (await inquire(reference)).body as { charges: { status: string }[] };
  return charges.map(({ status }) => status);
}

async function moved(reference = 'R1'): Promise<number> {
  const rows = await simulator.control.ledger({ account, reference });
  return rows.reduce((total, { charges }) => total + charges, 0);
}

const put = (switches: SwitchesInput): Promise<void> => simulator.control.putAccount(account, switches);
const script = (fault: FaultInput['fault'], rest: Omit<FaultInput, 'fault'> = {}): Promise<string> =>
  simulator.control.addFault({ fault, ...rest });

describe('what the simulator refuses', () => {
  const cases: Readonly<Record<string, readonly [unknown, string]>> = {
    'no reference': [{ reference: undefined }, 'reference_invalid'],
    'a reference with a hyphen': [{ reference: 'R-1' }, 'reference_invalid'],
    'a reference that is too long': [{ reference: 'R'.repeat(41) }, 'reference_invalid'],
    'an amount as text': [{ amount: { minor_units: '500', currency: 'EUR' } }, 'amount_invalid'],
    'a fraction': [{ amount: { minor_units: 1.5, currency: 'EUR' } }, 'amount_invalid'],
    nothing: [{ amount: { minor_units: 0, currency: 'EUR' } }, 'amount_invalid'],
    'a negative amount': [{ amount: { minor_units: -1, currency: 'EUR' } }, 'amount_invalid'],
    'an amount above 2^53': [{ amount: { minor_units: 2 ** 53, currency: 'EUR' } }, 'amount_invalid'],
    'an unknown currency': [{ amount: { minor_units: 1, currency: 'XXX' } }, 'currency_unknown'],
    'a currency in small letters': [{ amount: { minor_units: 1, currency: 'eur' } }, 'currency_unknown'],
    'no amount': [{ amount: undefined }, 'field_invalid'],
    'no payment method': [{ payment_method: undefined }, 'field_invalid'],
    'a field that it does not know': [{ captured: true }, 'field_invalid'],
    'a return address that is none': [{ return_url: 'javascript:alert(1)' }, 'field_invalid'],
  };

  it.each(Object.entries(cases))('%s', async (_name, [change, code]) => {
    expect(await charge(change as object)).toMatchObject({ status: 400, body: { error: { code } } });
    expect(await simulator.control.ledger({ account })).toEqual([]);
  });

  it('broken JSON, a large body, a bad key, no credentials, and paths that are not there', async () => {
    const path = `/${account}/v1/charges`;
    const code = (answer: Answer): unknown => [answer.status, answer.body.error?.code];
    expect(code(await send(path, { method: 'POST', body: '{' }))).toEqual([400, 'body_malformed']);
    expect(code(await send(path, { method: 'POST', body: 'x'.repeat(65_537) }))).toEqual([413, 'body_too_large']);
    expect(code(await charge({}, 'two words'))).toEqual([400, 'idempotency_key_invalid']);
    expect(code(await send(path, { method: 'POST', headers: { authorization: '' } }))).toEqual([
      401,
      'credentials_missing',
    ]);
    expect(code(await send('/ledger', { method: 'POST', body: '{}' }))).toEqual([404, 'route_not_found']);
    expect(code(await send(path, { method: 'DELETE' }))).toEqual([404, 'route_not_found']);
    expect(await simulator.control.ledger({ account })).toEqual([]);
  });

  it('switches and faults that it does not know', async () => {
    await expect(put({ inquiry: { mode: 'sometimes' } } as unknown as SwitchesInput)).rejects.toThrow(/400|refused/);
    await expect(script({ kind: 'explode' } as unknown as FaultInput['fault'])).rejects.toThrow(/refused/);
  });
});

describe('the switch of the idempotency key', () => {
  it('honoured: a repeat gets the charge again, another body is refused', async () => {
    const first = await charge({}, 'k');
    expect(first).toMatchObject({ status: 201, replayed: false });
    const again = await charge({}, 'k');
    expect(again).toEqual({ status: 200, replayed: true, body: first.body });
    const other = await charge({ amount: { minor_units: 501, currency: 'EUR' } }, 'k');
    expect(other).toMatchObject({ status: 422, body: { error: { code: 'idempotency_key_reused' } } });
    expect(await simulator.control.ledger({ account })).toMatchObject([{ charges: 1, requests: 3 }]);
  });

  it('honoured, but each account has its own keys', async () => {
    await charge({}, 'k');
    account = `${account}-other`;
    expect(await charge({}, 'k')).toMatchObject({ status: 201 });
  });

  it('ignored: the simulator charges twice, as some gateways do', async () => {
    await put({ idempotency_key: { mode: 'ignored' } });
    await charge({}, 'k');
    await charge({}, 'k');
    const [row] = await simulator.control.ledger({ account });
    expect(row).toMatchObject({ charges: 2, moved: { minor_units: 1_000, currency: 'EUR' }, requests: 2 });
    expect(row?.gateway_references).toHaveLength(2);
  });

  it('forgotten after a while: the same key moves money again', async () => {
    await put({ idempotency_key: { mode: 'forgotten', after_seconds: 1 } });
    const first = await charge({}, 'k');
    expect(await charge({}, 'k')).toMatchObject({ replayed: true });
    await expect.poll(async () => (await charge({}, 'k')).body.id, WAIT).not.toBe(first.body.id);
    expect(await moved()).toBe(2);
    expect(await charge({}, 'k')).toMatchObject({ replayed: true });
  });
});

describe('the switch of the unique reference', () => {
  it('refused: the second request gets 409, with or without a new key', async () => {
    await put({ unique_reference: 'refused' });
    await charge({}, 'k1');
    expect(await charge({}, 'k2')).toMatchObject({ status: 409, body: { error: { code: 'reference_used' } } });
    expect(await charge()).toMatchObject({ status: 409 });
    expect(await charge({ reference: 'R2' })).toMatchObject({ status: 201 });
    expect(await moved()).toBe(1);
  });

  it('refused also after a decline: a reference is used for ever', async () => {
    await put({ unique_reference: 'refused' });
    await charge({ payment_method: 'tok_declined' });
    expect(await charge()).toMatchObject({ status: 409 });
    expect(await moved()).toBe(0);
  });

  it('returns the original for the same amount, and refuses another', async () => {
    await put({ unique_reference: 'returns_original' });
    const first = await charge();
    expect(await charge()).toMatchObject({ status: 200, replayed: true, body: { id: first.body.id } });
    expect(await charge({ amount: { minor_units: 501, currency: 'EUR' } })).toMatchObject({ status: 409 });
    expect(await moved()).toBe(1);
  });

  it('ignored: two charges stand under one reference, oldest first', async () => {
    const first = await charge();
    const second = await charge();
    const { charges } = (await inquire()).body as { charges: { id: string }[] };
    expect(charges.map(({ id }) => id)).toEqual([first.body.id, second.body.id]);
  });
});

describe('the switch of the inquiry', () => {
  it('there: by reference, and by id in its own account only', async () => {
    const { body } = await charge();
    expect(await statusesFound()).toEqual(['approved']);
    expect(await statusesFound('R2')).toEqual([]);
    expect(await send(`/${account}/v1/charges/${body.id}`, { method: 'GET' })).toMatchObject({ status: 200, body });
    expect(await send(`/elsewhere/v1/charges/${body.id}`, { method: 'GET' })).toMatchObject({ status: 404 });
  });

  it('lagging: a charge is found only after a while', async () => {
    await put({ inquiry: { mode: 'lagging', seconds: 1.5 } });
    await charge();
    expect(await statusesFound()).toEqual([]);
    await expect.poll(() => statusesFound(), WAIT).toEqual(['approved']);
  });

  it('absent, or knowing nothing of anything', async () => {
    await charge();
    await put({ inquiry: { mode: 'absent' } });
    expect(await inquire()).toMatchObject({ status: 404, body: { error: { code: 'route_not_found' } } });
    await put({ inquiry: { mode: 'not_found_for_all' } });
    expect(await statusesFound()).toEqual([]);
  });
});

describe('charges that are decided later', () => {
  it.each([
    ['approved', 1],
    ['declined', 0],
  ] as const)('pending, then %s', async (settlesAs, charges) => {
    await script({ kind: 'pending', seconds: 1.5, settles_as: settlesAs }, { match: { account } });
    expect(await charge()).toMatchObject({ status: 201, body: { status: 'pending' } });
    expect(await simulator.control.ledger({ account })).toMatchObject([{ charges: 0, open: 1 }]);
    await expect.poll(() => statusesFound(), WAIT).toEqual([settlesAs]);
    expect(await simulator.control.ledger({ account })).toMatchObject([{ charges, open: 0, declined: 1 - charges }]);
  });

  it.each([
    ['complete', 'approved', 1],
    ['fail', 'declined', 0],
  ] as const)('requires action: %s makes it %s, once', async (way, status, charges) => {
    const { body } = await charge({ payment_method: 'tok_action', return_url: 'https://shop.example/back' });
    const { pathname } = new URL(body.action_url as string);
    expect(await moved()).toBe(0);
    expect(await send(pathname, { method: 'GET' })).toMatchObject({ status: 200 });
    expect(await send(`${pathname}/${way}`, { method: 'POST' })).toMatchObject({ status: 303 });
    expect(await statusesFound()).toEqual([status]);
    expect(await send(`${pathname}/complete`, { method: 'POST' })).toMatchObject({ status: 409 });
    expect(await moved()).toBe(charges);
  });
});

describe('fault scripts', () => {
  it('hit the reference, the order, the token or the account that they name, and nothing else', async () => {
    const order = '01JDXW3Z9QFQ2V7W6N8K4M5P2T';
    await script({ kind: 'decline', code: 'by_reference' }, { match: { account, reference: 'A1' } });
    await script({ kind: 'decline', code: 'by_order' }, { match: { account, reference_prefix: order } });
    await script({ kind: 'decline', code: 'by_token' }, { match: { account, payment_method: 'tok_ok_1' } });
    const code = async (change: object): Promise<unknown> => (await charge(change)).body.decline_code;
    expect(await code({ reference: 'B1' })).toBeNull();
    expect(await code({ reference: 'A1' })).toBe('by_reference');
    expect(await code({ reference: `${order}01` })).toBe('by_order');
    expect(await code({ reference: 'B2', payment_method: 'tok_ok_1' })).toBe('by_token');
    await script({ kind: 'decline', code: 'by_account' }, { match: { account } });
    account = `${account}-other`;
    expect(await code({ reference: 'B3' })).toBeNull();
  });

  it('hit the next n, or all until they are cleared', async () => {
    await script({ kind: 'decline' }, { match: { account }, times: 2 });
    const statuses = async (n: number): Promise<unknown[]> => {
      const answers: unknown[] = [];
      for (let place = 0; place < n; place += 1) answers.push((await charge()).body.status);
      return answers;
    };
    expect(await statuses(3)).toEqual(['declined', 'declined', 'approved']);
    await script({ kind: 'decline' }, { match: { account }, times: null });
    expect(await statuses(3)).toEqual(['declined', 'declined', 'declined']);
    expect(await simulator.control.faults()).toMatchObject([{ used: 2 }, { used: 3 }]);
    await simulator.control.clearFaults();
    expect(await statuses(1)).toEqual(['approved']);
  });

  it('hit by chance the same requests for the same seed, in whatever order they come', async () => {
    const references = Array.from({ length: 40 }, (_unused, place) => `C${place}`);
    const declined = async (seed: number, order: readonly string[]): Promise<string[]> => {
      await simulator.control.clearFaults();
      await script({ kind: 'decline' }, { match: { account }, chance: { seed, probability: 0.5 } });
      const answers = await Promise.all(order.map((reference) => charge({ reference })));
      return order.filter((_reference, place) => answers[place]?.body.status === 'declined').sort();
    };
    const first = await declined(7, references);
    expect(first.length).toBeGreaterThan(5);
    expect(first.length).toBeLessThan(35);
    expect(await declined(7, references.toReversed())).toEqual(first);
    expect(await declined(8, references)).not.toEqual(first);
  });

  it('a duplicated request is processed twice at once, which only protection makes harmless', async () => {
    await script({ kind: 'duplicated' }, { match: { account }, times: null });
    await charge({ reference: 'D1' }, 'k1');
    expect(await moved('D1')).toBe(1);
    await charge({ reference: 'D2' });
    expect(await moved('D2')).toBe(2);
  });

  it('a late request moves money after its sender was told nothing', async () => {
    await script({ kind: 'late', seconds: 1.5 }, { match: { account } });
    await expect(charge()).rejects.toThrow();
    expect(await moved()).toBe(0);
    expect(await statusesFound()).toEqual([]);
    await expect.poll(() => moved(), WAIT).toBe(1);
  });

  it.each([
    ['at_once', ['approved']],
    ['at_the_end', []],
  ] as const)('a slow answer whose charge is made %s', async (when, found) => {
    await script({ kind: 'slow', seconds: 2, charge: when }, { match: { account } });
    const started = Date.now();
    const slow = charge();
    await expect.poll(async () => (await simulator.control.faults())[0]?.used).toBe(1);
    expect(await statusesFound()).toEqual(found);
    // Nobody else waits for it.
    expect(await charge({ reference: 'R2' })).toMatchObject({ status: 201 });
    expect(Date.now() - started).toBeLessThan(2_000);
    expect(await slow).toMatchObject({ status: 201 });
    expect(Date.now() - started).toBeGreaterThanOrEqual(1_990);
  });

  it('an inquiry may say "not found" or "pending" for a while about what is charged', async () => {
    await charge();
    await script({ kind: 'inquiry_not_found' }, { match: { account } });
    await script({ kind: 'inquiry_stale_pending' }, { match: { account } });
    expect([await statusesFound(), await statusesFound(), await statusesFound()]).toEqual([
      [],
      ['pending'],
      ['approved'],
    ]);
  });

  it('a ruling and a fault on the way can fall together', async () => {
    await script({ kind: 'decline' }, { match: { account } });
    await script({ kind: 'lost_answer' }, { match: { account } });
    await expect(charge()).rejects.toThrow();
    expect(await statusesFound()).toEqual(['declined']);
  });
});

describe('tokens', () => {
  it('that are not known are refused as a card would be', async () => {
    expect(await charge({ payment_method: 'tok_okay' })).toMatchObject({
      body: { decline_code: 'invalid_payment_method' },
    });
    expect(await charge({ payment_method: 'tok_ok_anything' })).toMatchObject({ body: { status: 'approved' } });
  });

  it('disturb the first request of a reference only, so that a repeat can make it good', async () => {
    const lost = { payment_method: 'tok_never_arrives' };
    await expect(charge(lost)).rejects.toThrow();
    expect(await charge(lost)).toMatchObject({ body: { status: 'approved' } });
    await expect(charge({ ...lost, reference: 'R2' })).rejects.toThrow();
  });

  it('decide as their names say', async () => {
    const told: Record<string, unknown> = {};
    for (const [place, token] of Object.keys(TOKENS).entries()) {
      if (TOKENS[token]?.delivery !== undefined) continue;
      const { body } = await charge({ reference: `T${place}`, payment_method: token });
      told[token] = body.decline_code ?? body.status;
    }
    expect(told).toEqual({
      tok_ok: 'approved',
      tok_declined: 'card_declined',
      tok_insufficient_funds: 'insufficient_funds',
      tok_expired_card: 'expired_card',
      tok_action: 'requires_action',
      tok_pending_approved: 'pending',
      tok_pending_declined: 'pending',
    });
  });
});
