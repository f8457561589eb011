import { type AttemptStatus, isSettled } from '../../domain/attempt.ts';
import type { Currency } from '../../domain/currencies.ts';
import type { EvidenceKind } from '../../domain/evidence.ts';
import { needsEvidence, type OrderStatus } from '../../domain/order.ts';
import { type Decline, type GatewayOutcome, RAW_LENGTH_MAX } from '../../domain/outcome.ts';
import { type AttemptOnTrial, type Ruling, ruleOn } from '../../domain/ruling.ts';
import { type Database, inTransaction, type Queryable } from '../database.ts';
import { insertOutboxEvent, type OutboxEventKind } from '../deliveries/outbox-events.ts';
import { recordCapture } from '../refunds/journal.ts';
import { insertOverPayment, isOverPaymentKnown } from '../refunds/over-payments.ts';
import { insertEvidence } from './evidence.ts';
import { notifyOrderChanged } from './order-changes.ts';

export interface News {
  readonly orderId: string;
  readonly attemptNumber: number;
  readonly kind: EvidenceKind;
  readonly outcome: GatewayOutcome;
  /** ISO time. */
  readonly now: string;
  readonly anotherFollows?: boolean;
  /** Only an order in this status takes the news; an operator may settle nothing but an unknown one. */
  readonly onlyWhile?: OrderStatus;
  /** See `AttemptOnTrial.stranger`. */
  readonly stranger?: string;
}

export type Recorded =
  | Exclude<Ruling, { kind: 'over_paid' }>
  /** `refundId`: the refund that was asked for in the same transaction; somebody has to start its workflow. */
  | (Ruling & { readonly kind: 'over_paid'; readonly refundId: string; readonly gateway: string })
  | { readonly kind: 'not_now'; readonly orderStatus: OrderStatus };

/**
 * Writes down what somebody said about an attempt: attempt, order, evidence, outbox event and notification in one
 * transaction, or nothing. The rows are locked first, so that of two answers that come at once the second sees what
 * the first wrote; what it means is decided by domain/ruling.ts alone.
 */
export async function recordNews(database: Database, news: News): Promise<Recorded> {
  return inTransaction(database, (transaction) => recordNewsWithin(transaction, news));
}

/** The same inside a transaction of the caller's, which marks there that the news was dealt with. */
export async function recordNewsWithin(transaction: Queryable, news: News): Promise<Recorded> {
  const attempt = await lockAttempt(transaction, news);
  if (news.onlyWhile !== undefined && attempt.orderStatus !== news.onlyWhile) {
    return { kind: 'not_now', orderStatus: attempt.orderStatus };
  }
  const { stranger } = news;
  const trial = { ...attempt, mayBeOld: news.kind === 'webhook', ...(stranger !== undefined && { stranger }) };
  const ruling = ruleOn(trial, news.outcome, news.anotherFollows);
  if (ruling.kind === 'nothing_new') return ruling;
  const evidenceId = await write(transaction, { news, before: attempt, ruling });
  if (ruling.kind !== 'over_paid') return ruling;
  const { orderId, attemptNumber, now } = news;
  const refundId = await insertOverPayment(transaction, {
    ...{ orderId, attemptNumber, gateway: attempt.gateway, gatewayReference: referenceIn(news.outcome) },
    ...{ amount: attempt.orderAmount, reason: ruling.reason, evidenceId, now },
  });
  return { ...ruling, refundId, gateway: attempt.gateway };
}

interface LockedRow {
  readonly status: OrderStatus;
  readonly amount_minor_units: number;
  readonly currency: Currency;
  readonly attempt_status: AttemptStatus;
  readonly gateway: string;
  readonly gateway_reference: string | null;
  readonly reference_taken: boolean;
}

interface LockedAttempt extends AttemptOnTrial {
  readonly gateway: string;
}

/**
 * Whether news from a gateway would change nothing for sure, looked at without a lock: the attempt is settled, which never
 * changes, and the row says the same or knows better. Almost every webhook is of this kind, for the answer came before it.
 */
export async function isNothingNew(database: Queryable, news: Omit<News, 'now'>, gateway: string): Promise<boolean> {
  const { rows } = await database.query<LockedRow>(SELECT_ATTEMPT, attemptIn(news));
  const attempt = await attemptOf(database, rows[0], news);
  if (attempt === undefined || attempt.gateway !== gateway || !isSettled(attempt.attemptStatus)) return false;
  return ruleOn({ ...attempt, mayBeOld: true }, news.outcome).kind === 'nothing_new';
}

async function lockAttempt(transaction: Queryable, news: News): Promise<LockedAttempt> {
  const { rows } = await transaction.query<LockedRow>(LOCK_ATTEMPT, attemptIn(news));
  const attempt = await attemptOf(transaction, rows[0], news);
  if (attempt === undefined) throw new Error(`Order ${news.orderId} has no attempt ${news.attemptNumber}`);
  return attempt;
}

const SELECT_ATTEMPT = `select orders.status, amount_minor_units, currency, payment_attempts.status as attempt_status,
       payment_attempts.gateway, gateway_reference,
       exists (select from payment_attempts other
               where other.gateway = payment_attempts.gateway and other.gateway_reference = $3
                 and (other.order_id, other.attempt_number) <> ($1, $2)) as reference_taken
     from orders join payment_attempts on order_id = id and attempt_number = $2
     where id = $1`;

const LOCK_ATTEMPT = `${SELECT_ATTEMPT} for update of orders, payment_attempts`;

function attemptIn({ orderId, attemptNumber, outcome }: Omit<News, 'now'>): readonly unknown[] {
  return [orderId, attemptNumber, referenceIn(outcome)];
}

async function attemptOf(
  database: Queryable,
  row: LockedRow | undefined,
  { orderId, attemptNumber, outcome }: Omit<News, 'now'>,
): Promise<LockedAttempt | undefined> {
  if (row === undefined) return undefined;
  const { gateway } = row;
  const charge = { orderId, attemptNumber, gateway, gatewayReference: referenceIn(outcome) };
  return {
    gateway,
    gatewayReference: row.gateway_reference,
    overPaymentKnown: outcome.kind === 'approved' && (await isOverPaymentKnown(database, charge)),
    orderStatus: row.status,
    orderAmount: { minorUnits: row.amount_minor_units, currency: row.currency },
    attemptStatus: row.attempt_status,
    gatewayReferenceTaken: row.reference_taken,
  };
}

/** What is to be written: the news, how the rows stood, and what was decided. */
interface Writing {
  readonly news: News;
  readonly before: LockedAttempt;
  readonly ruling: Exclude<Ruling, { kind: 'nothing_new' }>;
}

/** @returns the id of the evidence */
async function write(transaction: Queryable, writing: Writing): Promise<string> {
  const { news, before, ruling } = writing;
  const { orderId, attemptNumber, kind, now } = news;
  const evidenceId = await insertEvidence(transaction, {
    orderId,
    attemptNumber,
    kind,
    provesOrderStatus: ruling.kind === 'applied' ? ruling.provesOrderStatus : null,
    provesAttemptStatus: ruling.kind === 'doubted' ? null : ruling.provesAttemptStatus,
    detail: describe(news.outcome),
    now,
  });
  if (ruling.attemptStatus !== before.attemptStatus) await updateAttempt(transaction, writing, evidenceId);
  await updateOrder(transaction, writing, evidenceId);
  for (const event of eventsFor(writing)) {
    await insertOutboxEvent(transaction, { orderId, attemptNumber, kind: event, now });
  }
  await notifyOrderChanged(transaction, orderId);
  return evidenceId;
}

async function updateAttempt(transaction: Queryable, { news, ruling }: Writing, evidenceId: string): Promise<void> {
  const applied = ruling.kind === 'doubted' ? undefined : news.outcome;
  const settles = ruling.kind !== 'doubted' && ruling.provesAttemptStatus !== null;
  const decline = applied === undefined ? undefined : declineIn(applied);
  const action = applied?.kind === 'requires_action' ? applied.action : undefined;
  await transaction.query(
    `update payment_attempts
     set status = $3, evidence_id = $4, gateway_reference = coalesce(gateway_reference, $5),
       decline_code = $6, decline_gateway_code = $7, decline_retriable = $8, action_kind = $9, action_url = $10, updated_at = $11
     where order_id = $1 and attempt_number = $2`,
    [
      news.orderId,
      news.attemptNumber,
      ruling.attemptStatus,
      settles ? evidenceId : null,
      applied === undefined ? null : referenceIn(applied),
      decline?.code ?? null,
      decline?.gatewayCode ?? null,
      decline?.retriable ?? null,
      action?.kind ?? null,
      action?.url ?? null,
      news.now,
    ],
  );
}

async function updateOrder(
  transaction: Queryable,
  { news, before, ruling }: Writing,
  evidenceId: string,
): Promise<void> {
  const moves = ruling.orderStatus !== before.orderStatus;
  const review = ruling.kind === 'doubted' ? ruling.reason : null;
  if (!moves && review === null) return;
  const settles = moves && needsEvidence(ruling.orderStatus);
  await transaction.query(
    `update orders
     set status = $2,
       evidence_id = case when $3 then $4 else evidence_id end,
       needs_review = case when $3 then false else needs_review or $5::text is not null end,
       review_reason = case when $3 then null else coalesce($5, review_reason) end,
       updated_at = $6
     where id = $1`,
    [news.orderId, ruling.orderStatus, settles, evidenceId, review, news.now],
  );
  if (moves && ruling.orderStatus === 'paid') {
    await recordCapture(transaction, { orderId: news.orderId, amount: before.orderAmount, now: news.now });
  }
}

const EVENT_FOR: Readonly<Partial<Record<OrderStatus, OutboxEventKind>>> = {
  paid: 'order.paid',
  failed: 'order.failed',
};

function eventsFor({ before, ruling }: Writing): OutboxEventKind[] {
  if (ruling.kind === 'doubted') return ['order.needs_review'];
  if (ruling.kind === 'over_paid') return [];
  const event = ruling.orderStatus === before.orderStatus ? undefined : EVENT_FOR[ruling.orderStatus];
  return event === undefined ? [] : [event];
}

function referenceIn(outcome: GatewayOutcome): string | null {
  return 'gatewayReference' in outcome ? (outcome.gatewayReference ?? null) : null;
}

/** A request that provably never arrived is, to the customer, a refusal that may be tried again. */
function declineIn(outcome: GatewayOutcome): Decline | undefined {
  if (outcome.kind === 'declined') return outcome.decline;
  if (outcome.kind === 'not_processed') return { code: outcome.declineCode, retriable: true };
  return undefined;
}

function describe(outcome: GatewayOutcome): string {
  const { raw, ...said } = outcome;
  return JSON.stringify({ ...said, raw: raw.slice(0, RAW_LENGTH_MAX) }).slice(0, 2 * RAW_LENGTH_MAX);
}
