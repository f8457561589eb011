import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { afterProvenAbsence, isAbsenceConclusive, stepsAfterUnknown } from '../../domain/after-unknown.ts';
import { judgeConfiguration } from '../../domain/capabilities.ts';
import type { CallScope, ChargeCommand, Gateway } from '../../domain/gateway.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { money } from '../../domain/money.ts';
import type { HttpResult } from '../../gateways/http.ts';
import { createPaperAdyen } from '../support/paper-gateways/adyen.ts';
import { createPaperPayworks } from '../support/paper-gateways/payworks.ts';
import { createPaperStripe } from '../support/paper-gateways/stripe.ts';
import { answered, createPaperTransport, LOST, REFUSED } from '../support/paper-gateways/transport.ts';

/** Three gateways unlike each other and unlike the simulator, on paper: the port has to fit them as it is. */
const REFERENCE = merchantReference('01938f2e-5b7a-7c3d-9e4f-0123456789ab', 1);
const CARD = { number: '4111111111111111', expiry: '1230', securityCode: '737' };
const PASSWORD = 'the-password';
const HMAC_KEY = '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056';

function build(answers: readonly HttpResult[] = []) {
  const transport = createPaperTransport(answers);
  return {
    transport,
    payworks: createPaperPayworks({ transport, password: PASSWORD, takeCard: () => Promise.resolve(CARD) }),
    stripe: createPaperStripe({ transport, secretKey: 'sk_test', webhookSecret: 'whsec_test' }),
    adyen: createPaperAdyen({ transport, apiKey: 'key', hmacKey: HMAC_KEY }),
  };
}

function command(currency: string, change: Partial<ChargeCommand> = {}): ChargeCommand {
  const amount = money(1_999, currency);
  return {
    merchantReference: REFERENCE,
    amount,
    paymentMethod: 'token-1',
    description: null,
    returnUrl: null,
    ...change,
  };
}

const saved: string[] = [];
const scope: CallScope = {
  timeoutMs: 1_000,
  saveGatewayReference: (reference) => {
    saved.push(reference);
    return Promise.resolve();
  },
};

async function chargeAt(name: 'payworks' | 'stripe' | 'adyen', ...answers: HttpResult[]) {
  const paper = build(answers);
  const gateway: Gateway = paper[name];
  const prepared = gateway.prepareCharge(command(name === 'payworks' ? 'MXN' : 'EUR'));
  return { outcome: await gateway.charge(prepared, scope), requests: paper.transport.requests, prepared };
}

describe('Payworks on paper', () => {
  it('is asked, never sent to again, and "not found" is believed after its 120 seconds and a margin', () => {
    const { capabilities } = build().payworks;
    const attempt = { capabilities, secondsSinceFirstSent: 60, gatewayReferenceKnown: false };
    expect(stepsAfterUnknown(attempt)).toEqual(['inquire_by_merchant_reference', 'wait_for_word', 'ask_a_person']);
    expect(isAbsenceConclusive({ capabilities, secondsSinceLastSent: 279 })).toBe(false);
    expect(isAbsenceConclusive({ capabilities, secondsSinceLastSent: 280 })).toBe(true);
    expect(afterProvenAbsence(attempt)).toBe('send_again');
  });

  it('stores a form without card and password, and fills both in when it sends', async () => {
    const { prepared, requests } = await chargeAt('payworks', LOST);
    const stored = new URLSearchParams(prepared.body);
    expect(stored.get('NUMERO_CONTROL')).toBe(REFERENCE);
    expect(stored.get('MONTO')).toBe('19.99');
    for (const secret of [CARD.number, CARD.securityCode, PASSWORD]) expect(prepared.body).not.toContain(secret);
    const wire = new URLSearchParams(requests[0]?.body);
    expect(wire.get('NUMERO_TARJETA')).toBe(CARD.number);
    expect(wire.get('CLAVE_USR')).toBe(PASSWORD);
    expect(wire.has('CARD_TOKEN')).toBe(false);
    expect(requests[0]?.url).not.toContain('?');
  });

  it('takes our reference, which has neither hyphen nor underscore', () => {
    const { pattern, lengthMax } = build().payworks.capabilities.reference;
    expect(REFERENCE).toMatch(new RegExp(pattern));
    expect(REFERENCE.length).toBeLessThanOrEqual(lengthMax);
  });

  const header = (resultado: string, { aut = '', codigo = '', status = 200 } = {}): HttpResult =>
    answered(status, '', {
      resultado_payw: resultado,
      resultado_aut: aut,
      codigo_payw: codigo,
      referencia: '123456789012',
    });

  it.each([
    [
      'approved',
      header('A', { aut: '00' }),
      { kind: 'approved', amount: money(1_999, 'MXN'), gatewayReference: '123456789012' },
    ],
    [
      'approved, in English',
      answered(200, '', { payw_result: 'A', reference: '9' }),
      { kind: 'approved', gatewayReference: '9' },
    ],
    ['no funds', header('D', { aut: '51' }), { kind: 'declined', decline: { code: 'insufficient_funds' } }],
    ['the issuer calls it a duplicate', header('D', { aut: '94' }), { kind: 'unknown' }],
    ['the number was used before', header('R', { codigo: 'PAYW-3039' }), { kind: 'unknown' }],
    [
      'a wrong field',
      header('R', { codigo: 'PAYW-3002' }),
      { kind: 'not_processed', declineCode: 'refused_by_gateway' },
    ],
    ['a rejection without a code', header('R'), { kind: 'unknown' }],
    ['the authoriser did not answer', header('T'), { kind: 'unknown' }],
    ['reversed after a time-out', header('Z'), { kind: 'unknown' }],
    ['no header at all', answered(200, 'OK'), { kind: 'unknown' }],
    ['approved in a header of an error page', header('A', { aut: '00', status: 500 }), { kind: 'unknown' }],
    ['a lost answer', LOST, { kind: 'unknown' }],
    ['a refused connection', REFUSED, { kind: 'not_processed', declineCode: 'gateway_unreachable' }],
  ])('understands: %s', async (_name, answer, expected) => {
    expect((await chargeAt('payworks', answer)).outcome).toMatchObject(expected);
  });

  it('reads a verification, and its "nothing found"', async () => {
    const texto = encodeURIComponent(
      'VTA|123456789012|4111********1111|19.99|000|A|00|123456|20261130 12:00:00|null|null|null',
    );
    const question = {
      merchantReference: REFERENCE,
      gatewayReference: null,
      amount: money(1_999, 'MXN'),
      firstSentAt: '',
    };
    const ask = (answer: HttpResult) => build([answer]).payworks.inquire?.(question, scope);
    expect(await ask(answered(200, '', { texto }))).toMatchObject({
      kind: 'found',
      outcome: { kind: 'approved', amount: money(1_999, 'MXN'), gatewayReference: '123456789012' },
    });
    expect(await ask(answered(200, '', { codigo_payw: 'PAYW-3054' }))).toMatchObject({ kind: 'absent' });
    expect(await ask(answered(200, ''))).toMatchObject({ kind: 'unavailable' });
  });
});

describe('Stripe on paper', () => {
  const intent = (status: string, more: object = {}): HttpResult =>
    answered(200, { id: 'pi_1', status, amount_received: 1_999, currency: 'eur', ...more });
  const created = intent('requires_confirmation', { amount_received: 0 });

  it('can be asked only by the intent that was saved, and repeats only inside the day', () => {
    const { capabilities } = build().stripe;
    const steps = (secondsSinceFirstSent: number, gatewayReferenceKnown: boolean) =>
      stepsAfterUnknown({ capabilities, secondsSinceFirstSent, gatewayReferenceKnown });
    expect(steps(60, true)[0]).toBe('inquire_by_gateway_reference');
    expect(steps(60, false)[0]).toBe('replay_same_request');
    expect(steps(24 * 3_600 - 160, false)).toEqual(['wait_for_word', 'ask_a_person']);
  });

  it('saves the intent before the step that can charge, each step with a key of its own', async () => {
    saved.length = 0;
    const { outcome, requests } = await chargeAt('stripe', created, intent('succeeded'));
    expect(outcome).toMatchObject({ kind: 'approved', amount: money(1_999, 'EUR'), gatewayReference: 'pi_1' });
    expect(saved).toEqual(['pi_1']);
    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual([
      '/v1/payment_intents',
      '/v1/payment_intents/pi_1/confirm',
    ]);
    const keys = requests.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(2);
    expect(keys.every((key) => key?.startsWith(REFERENCE))).toBe(true);
    expect(new URLSearchParams(requests[0]?.body).get('metadata[merchant_reference]')).toBe(REFERENCE);
  });

  it('sends nothing that can charge when the intent could not be saved', async () => {
    const { transport, stripe } = build([created, intent('succeeded')]);
    const broken = { ...scope, saveGatewayReference: () => Promise.reject(new Error('the database is away')) };
    await expect(stripe.charge(stripe.prepareCharge(command('EUR')), broken)).rejects.toThrow('the database is away');
    expect(transport.requests).toHaveLength(1);
  });

  it.each([
    ['the creation was lost, so nothing can have moved', [LOST], { kind: 'not_processed' }],
    ['the confirmation was lost', [created, LOST], { kind: 'unknown' }],
    ['a 500 to the confirmation', [created, answered(500, {})], { kind: 'unknown' }],
    [
      'the same key in use',
      [created, answered(409, { error: { code: 'idempotency_key_in_use' } })],
      { kind: 'unknown' },
    ],
    [
      'a card that is declined',
      [created, answered(402, { error: { type: 'card_error', decline_code: 'insufficient_funds' } })],
      { kind: 'declined', decline: { code: 'insufficient_funds' } },
    ],
    [
      'a redirect',
      [
        created,
        intent('requires_action', { next_action: { redirect_to_url: { url: 'https://hooks.stripe.com/3ds' } } }),
      ],
      { kind: 'requires_action', action: { kind: 'redirect', url: 'https://hooks.stripe.com/3ds' } },
    ],
    ['a bank debit on its way', [created, intent('processing')], { kind: 'pending' }],
    ['a status of tomorrow', [created, intent('levitating')], { kind: 'unknown' }],
  ] as const)('understands: %s', async (_name, answers, expected) => {
    expect((await chargeAt('stripe', ...answers)).outcome).toMatchObject(expected);
  });

  it('counts some currencies in other units than ISO 4217', () => {
    const { stripe } = build();
    const { body } = stripe.prepareCharge(command('ISK'));
    expect(new URLSearchParams(body).get('amount')).toBe('199900');
  });

  it('reads a webhook only when the signature fits the exact bytes', () => {
    const object = {
      id: 'pi_1',
      status: 'succeeded',
      amount_received: 1_999,
      currency: 'eur',
      metadata: { merchant_reference: REFERENCE },
    };
    const body = Buffer.from(JSON.stringify({ id: 'evt_1', data: { object } }));
    const v1 = createHmac('sha256', 'whsec_test').update('1790000000.').update(body).digest('hex');
    const headers = { 'stripe-signature': [`t=1790000000,v1=${v1}`] };
    const now = new Date(1_790_000_000_000);
    const { stripe } = build();
    expect(stripe.parseWebhook?.({ headers, body }, now)).toMatchObject({
      kind: 'genuine',
      event: {
        eventId: 'evt_1',
        news: { merchantReference: REFERENCE, outcome: { kind: 'approved', gatewayReference: 'pi_1' } },
      },
    });
    const rewritten = Buffer.from(body.toString().replace(':', ': '));
    expect(stripe.parseWebhook?.({ headers, body: rewritten }, now)).toMatchObject({ kind: 'rejected' });
  });
});

describe('Adyen on paper', () => {
  it('has no inquiry: the same request again tells, and after its window only a webhook', () => {
    const { adyen } = build();
    expect(adyen.inquire).toBeUndefined();
    const { capabilities } = adyen;
    const steps = (secondsSinceFirstSent: number) =>
      stepsAfterUnknown({ capabilities, secondsSinceFirstSent, gatewayReferenceKnown: false });
    expect(steps(60)).toEqual(['replay_same_request', 'wait_for_word', 'ask_a_person']);
    expect(steps(7 * 24 * 3_600)).toEqual(['wait_for_word', 'ask_a_person']);
  });

  it('sends the stored bytes as they are, the key beside them', async () => {
    const { prepared, requests } = await chargeAt('adyen', LOST);
    expect(requests[0]?.body).toBe(prepared.body);
    expect(requests[0]?.headers['idempotency-key']).toBe(REFERENCE);
    expect(JSON.parse(prepared.body)).toMatchObject({
      reference: REFERENCE,
      amount: { value: 1_999, currency: 'EUR' },
    });
  });

  const result = (resultCode: string, more: object = {}): HttpResult =>
    answered(200, { resultCode, pspReference: 'PSP1', amount: { value: 1_999, currency: 'EUR' }, ...more });

  it.each([
    ['authorised', result('Authorised'), { kind: 'approved', amount: money(1_999, 'EUR'), gatewayReference: 'PSP1' }],
    ['refused', result('Refused', { refusalReasonCode: '6' }), { kind: 'declined', decline: { code: 'expired_card' } }],
    [
      'a redirect',
      result('RedirectShopper', { action: { url: 'https://adyen.example' } }),
      { kind: 'requires_action' },
    ],
    ['received', result('Received'), { kind: 'pending' }],
    ['an error of theirs as a result', result('Error'), { kind: 'unknown' }],
    ['a field that is wrong', answered(422, { errorCode: '130' }), { kind: 'not_processed' }],
    ['the key is in use at this moment', answered(422, { errorCode: '704' }), { kind: 'unknown' }],
    ['a 500', answered(500, {}), { kind: 'unknown' }],
    ['a page of HTML', answered(200, '<html>'), { kind: 'unknown' }],
    ['a lost answer', LOST, { kind: 'unknown' }],
    ['a refused connection', REFUSED, { kind: 'not_processed' }],
  ])('understands: %s', async (_name, answer, expected) => {
    expect((await chargeAt('adyen', answer)).outcome).toMatchObject(expected);
  });

  it('refuses an amount that it cannot express', () => {
    const { adyen } = build();
    expect(() => adyen.prepareCharge(command('IDR'))).toThrow(/cannot express/);
  });

  it('reads a webhook whose signature stands inside it', () => {
    const item = {
      pspReference: 'PSP1',
      merchantAccountCode: 'PaidonceECOM',
      merchantReference: REFERENCE,
      amount: { value: 1_999, currency: 'EUR' },
      eventCode: 'AUTHORISATION',
      success: 'true',
    };
    const text = `PSP1::PaidonceECOM:${REFERENCE}:1999:EUR:AUTHORISATION:true`;
    const hmacSignature = createHmac('sha256', Buffer.from(HMAC_KEY, 'hex')).update(text).digest('base64');
    const read = (change: object) => {
      const NotificationRequestItem = { ...item, additionalData: { hmacSignature }, ...change };
      const body = Buffer.from(JSON.stringify({ notificationItems: [{ NotificationRequestItem }] }));
      return build().adyen.parseWebhook?.({ headers: {}, body }, new Date());
    };
    expect(read({})).toMatchObject({
      kind: 'genuine',
      event: { news: { merchantReference: REFERENCE, outcome: { kind: 'approved' } } },
    });
    expect(read({ success: 'false' })).toMatchObject({ kind: 'rejected' });
  });
});

describe('all three', () => {
  it('promise "charged once", and prepare the same bytes for the same command', () => {
    const { payworks, stripe, adyen } = build();
    for (const gateway of [payworks, stripe, adyen]) {
      expect(judgeConfiguration(gateway.name, gateway.capabilities)).toEqual({ kind: 'exactly_once' });
      const wanted = command('MXN', { returnUrl: 'https://shop.example/back?order=1' });
      expect(gateway.prepareCharge(wanted)).toEqual(gateway.prepareCharge(structuredClone(wanted)));
      expect(gateway.capabilities.inquiry.by.length > 0).toBe(gateway.inquire !== undefined);
    }
  });
});
