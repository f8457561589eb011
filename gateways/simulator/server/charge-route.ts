import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isCurrency } from '../../../domain/currencies.ts';
import { type ChargeRequest, processCharge } from './charging.ts';
import { deliver } from './delivery.ts';
import { type Exchange, originOf, Refusal, readJson } from './exchange.ts';
import { type DeliveryFault, deliveryFault, rulingFault, type Subject } from './faults.ts';
import type { Simulator } from './simulator.ts';
import { behaviourOf } from './tokens.ts';

const chargeBody = z.strictObject({
  reference: z.string().regex(/^[0-9A-Za-z]{1,40}$/),
  amount: z.strictObject({
    minor_units: z.number().int().positive().max(Number.MAX_SAFE_INTEGER),
    currency: z.string().refine(isCurrency),
  }),
  payment_method: z.string().min(1).max(255),
  /** False: hold the money, and take it by a capture only. */
  capture: z.boolean().default(true),
  description: z.string().max(255).nullable().optional(),
  return_url: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .optional(),
});

/** `POST /{account}/v1/charges`: makes the charge, and lets go wrong what a script or the token says. */
export async function postCharge(simulator: Simulator, account: string, exchange: Exchange): Promise<void> {
  const request = readChargeRequest(account, exchange);
  if (!request.capture && simulator.switchBoard.get(account).authorization.mode === 'absent')
    throw new Refusal(400, 'field_invalid', { message: 'Money is taken at once here.', field: 'capture' });
  const subject = { account, reference: request.reference, paymentMethod: request.paymentMethod };
  const token = behaviourOf(request.paymentMethod);
  const ruling = simulator.faultBook.take(rulingFault, subject) ?? token.ruling;
  const delivery =
    simulator.faultBook.take(deliveryFault, subject) ?? onFirstRequest(simulator, subject, token.delivery);
  await deliver({ exchange, delivery, process: () => processCharge(simulator, request, ruling) });
}

function readChargeRequest(account: string, exchange: Exchange): ChargeRequest {
  const parsed = chargeBody.safeParse(readJson(exchange));
  if (!parsed.success) throw refusalOf(parsed.error);
  const {
    reference,
    amount,
    payment_method: paymentMethod,
    capture,
    description = null,
    return_url: returnUrl = null,
  } = parsed.data;
  const key = exchange.headers['idempotency-key'];
  if (key !== undefined && (Array.isArray(key) || !/^[\x21-\x7e]{1,255}$/.test(key))) {
    throw new Refusal(400, 'idempotency_key_invalid', {
      message: 'The Idempotency-Key must be 1 to 255 printable characters.',
    });
  }
  const words = [reference, amount.minor_units, amount.currency, paymentMethod, description, returnUrl];
  // Only said where it is false: fingerprints from before there were authorizations have to stay what they are.
  const said = JSON.stringify(capture ? words : [...words, capture]);
  const fingerprint = createHash('sha256').update(said).digest('hex');
  return {
    account,
    reference,
    amount,
    paymentMethod,
    returnUrl,
    capture,
    idempotencyKey: key ?? null,
    fingerprint,
    origin: originOf(exchange),
  };
}

function refusalOf(error: z.ZodError): Refusal {
  const [issue] = error.issues;
  const field = issue?.path.join('.') ?? '';
  const codes: Readonly<Record<string, string>> = {
    reference: 'reference_invalid',
    'amount.minor_units': 'amount_invalid',
    'amount.currency': 'currency_unknown',
  };
  const message = `The field ${field || '(body)'} is missing or wrong.`;
  return new Refusal(400, codes[field] ?? 'field_invalid', { message, field });
}

/**
 * What a token does to the way of a request it does to the first one of a reference only: a repeat must be able to get
 * through, or no lost request could ever be made good.
 */
function onFirstRequest(
  simulator: Simulator,
  subject: Subject,
  delivery: DeliveryFault | undefined,
): DeliveryFault | undefined {
  if (delivery === undefined) return undefined;
  const place = `${subject.account}\n${subject.reference}`;
  if (simulator.disturbed.has(place) || simulator.books.chargesOf(subject.account, subject.reference).length > 0)
    return undefined;
  simulator.disturbed.add(place);
  return delivery;
}
