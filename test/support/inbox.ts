import { v7 as newId } from 'uuid';
import type { ChargeNews } from '../../domain/gateway-event.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { type Money, money } from '../../domain/money.ts';
import type { GatewayOutcome } from '../../domain/outcome.ts';
import type { Database } from '../../store/database.ts';
import { type NewInboxEvent, storeInboxEvent } from '../../store/inbox/inbox-events.ts';
import { claimAttempt } from '../../store/orders/claims.ts';
import { markSent } from '../../store/orders/sends.ts';
import { insertRow, orderRow } from './rows.ts';

/** The price of every order here. */
export const PRICE: Money = money(1_999, 'EUR');

export const declined: GatewayOutcome = {
  kind: 'declined',
  decline: { code: 'card_declined', retriable: true },
  raw: 'declined',
};

export function approved(amount: Money = PRICE, gatewayReference = newGatewayReference()): GatewayOutcome {
  return { kind: 'approved', amount, gatewayReference, raw: 'approved' };
}

function newGatewayReference(): string {
  return `ch_${newId().replaceAll('-', '')}`;
}

export function later(seconds: number): string {
  return new Date(Date.now() + seconds * 1_000).toISOString();
}

export async function newOrder(database: Database, expiresInSeconds = 3_600): Promise<string> {
  const now = later(0);
  const order = orderRow({ expires_at: later(expiresInSeconds), created_at: now, updated_at: now });
  await insertRow(database, 'orders', order);
  return order.id;
}

/** Claims and marks as sent, as the charge step does right before the request leaves. */
export async function sendAttempt(database: Database, orderId: string, attemptNumber = 1): Promise<void> {
  const reference = merchantReference(orderId, attemptNumber);
  const step = { orderId, attemptNumber, run: 'run-1', now: later(0) };
  const claim = { ...step, merchantReference: reference, paymentMethod: 'tok_ok', returnUrl: null };
  if (!(await claimAttempt(database, claim))) throw new Error('The attempt could not be claimed');
  if (!(await markSent(database, { ...step, requestKey: reference, requestBody: '{}' }))) {
    throw new Error('The attempt could not be sent');
  }
}

export async function sentOrder(database: Database): Promise<string> {
  const orderId = await newOrder(database);
  await sendAttempt(database, orderId);
  return orderId;
}

/** An event about attempt 1 of the order; what is not told is as a gateway would tell of an approval. */
export function eventOf(
  orderId: string,
  news: Partial<ChargeNews> = {},
  event: Partial<NewInboxEvent> = {},
): NewInboxEvent {
  const whole: ChargeNews = {
    subject: 'charge',
    merchantReference: merchantReference(orderId, 1),
    gatewayReference: null,
    outcome: approved(),
    foreignAccount: null,
    ...news,
  };
  const said = { gateway: 'simulator', eventId: `evt_${newId()}`, type: 'charge.approved', occurredAt: null };
  return { ...said, body: Buffer.from('{}'), news: whole, now: later(0), ...event };
}

/** Stores it as the API would, and returns its id. */
export async function receive(database: Database, event: NewInboxEvent): Promise<string> {
  return (await storeInboxEvent(database, event)).id;
}
