import { v7 as newId } from 'uuid';
import type { Currency } from '../../domain/currencies.ts';
import { type DisputeStatus, ruleOnDispute } from '../../domain/dispute.ts';
import type { EvidenceKind } from '../../domain/evidence.ts';
import type { Money } from '../../domain/money.ts';
import { type Database, inTransaction, type Queryable } from '../database.ts';
import { insertOutboxEvent } from '../deliveries/outbox-events.ts';
import { insertEvidence } from '../orders/evidence.ts';
import { notifyOrderChanged } from '../orders/order-changes.ts';
import { insertMovement, type JournalAccount } from './journal.ts';

export interface DisputeNews {
  readonly orderId: string;
  readonly attemptNumber: number;
  readonly gateway: string;
  /** The gateway's number for the dispute: it makes all reports of it one row. */
  readonly gatewayReference: string;
  readonly amount: Money;
  readonly status: DisputeStatus;
  readonly kind: EvidenceKind;
  /** The source's own words, without card data. */
  readonly detail: string;
  /** ISO time. */
  readonly now: string;
}

export type DisputeRecorded = 'recorded' | 'nothing_new' | 'doubted';

/**
 * Writes down that a dispute was opened, won or lost: dispute, order, evidence, journal and outbox event in one
 * transaction. An open one keeps refunds of the order from leaving; a lost one counts against what can be refunded. In
 * another currency or amount than before it is not applied: a person looks.
 */
export async function recordDispute(database: Database, news: DisputeNews): Promise<DisputeRecorded> {
  return inTransaction(database, (transaction) => recordDisputeWithin(transaction, news));
}

/** The same inside a transaction of the caller's, which marks there that the news was dealt with. */
export async function recordDisputeWithin(transaction: Queryable, news: DisputeNews): Promise<DisputeRecorded> {
  const order = await lockOrder(transaction, news);
  const before = await findDispute(transaction, news);
  const ruling = ruleOnDispute({ known: before, orderId: news.orderId, orderCurrency: order.currency }, news);
  if (ruling.kind === 'nothing_new') return 'nothing_new';
  const evidenceId = await insertEvidence(transaction, {
    orderId: news.orderId,
    attemptNumber: news.attemptNumber,
    kind: news.kind,
    provesOrderStatus: null,
    provesAttemptStatus: null,
    detail: news.detail,
    now: news.now,
  });
  if (ruling.kind === 'applied') await apply(transaction, { news, evidenceId, id: before?.id, steps: ruling.steps });
  const reason = ruling.kind === 'doubted' ? ruling.reason : excessIn(ruling.steps, order, news.amount);
  if (reason !== undefined) await reviewOrder(transaction, news, reason);
  await notifyOrderChanged(transaction, news.orderId);
  return ruling.kind === 'applied' ? 'recorded' : 'doubted';
}

interface LockedOrder {
  readonly currency: Currency;
  readonly left: number;
}

async function lockOrder(transaction: Queryable, { orderId }: DisputeNews): Promise<LockedOrder> {
  const { rows } = await transaction.query<LockedOrder>(
    `select currency, captured_minor_units - refund_reserved_minor_units - dispute_lost_minor_units as left
     from orders where id = $1 for update`,
    [orderId],
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`There is no order ${orderId}`);
  return row;
}

interface KnownDispute {
  readonly id: string;
  readonly orderId: string;
  readonly status: DisputeStatus;
  readonly amount: Money;
}

async function findDispute(
  transaction: Queryable,
  { gateway, gatewayReference }: DisputeNews,
): Promise<KnownDispute | undefined> {
  const { rows } = await transaction.query<{
    id: string;
    order_id: string;
    status: DisputeStatus;
    amount_minor_units: number;
    currency: Currency;
  }>(
    'select id, order_id, status, amount_minor_units, currency from disputes where gateway = $1 and gateway_reference = $2',
    [gateway, gatewayReference],
  );
  const row = rows[0];
  if (row === undefined) return undefined;
  const amount = { minorUnits: row.amount_minor_units, currency: row.currency };
  return { id: row.id, orderId: row.order_id, status: row.status, amount };
}

interface Application {
  readonly news: DisputeNews;
  readonly evidenceId: string;
  /** Undefined for a dispute that nobody has told us of before. */
  readonly id: string | undefined;
  readonly steps: readonly DisputeStatus[];
}

async function apply(transaction: Queryable, { news, evidenceId, id = newId(), steps }: Application): Promise<void> {
  for (const status of steps) {
    if (status === 'opened') await insertDispute(transaction, { news, evidenceId, id });
    else await closeDispute(transaction, { news, evidenceId, id }, status);
    await EFFECTS[status](transaction, news);
    const { orderId, attemptNumber, amount, now } = news;
    const [from, to] = MOVES[status];
    await insertMovement(transaction, { movement: `dispute:${id}:${status}`, orderId, amount, from, to, now });
    const dispute = { id, minor_units: amount.minorUnits, currency: amount.currency, status };
    const subject = { subjectId: id, details: { dispute }, now };
    await insertOutboxEvent(transaction, { orderId, attemptNumber, kind: `dispute.${status}`, ...subject });
  }
}

type Step = Omit<Application, 'steps' | 'id'> & { readonly id: string };

async function insertDispute(transaction: Queryable, { news, evidenceId, id }: Step): Promise<void> {
  await transaction.query(
    `insert into disputes (id, order_id, attempt_number, gateway, gateway_reference, amount_minor_units, currency, status,
       evidence_id, opened_at)
     values ($1, $2, $3, $4, $5, $6, $7, 'opened', $8, $9)`,
    [
      id,
      news.orderId,
      news.attemptNumber,
      news.gateway,
      news.gatewayReference,
      news.amount.minorUnits,
      news.amount.currency,
      evidenceId,
      news.now,
    ],
  );
}

async function closeDispute(transaction: Queryable, { news, evidenceId, id }: Step, status: string): Promise<void> {
  await transaction.query('update disputes set status = $2, evidence_id = $3, closed_at = $4 where id = $1', [
    id,
    status,
    evidenceId,
    news.now,
  ]);
}

/** What an open dispute is about is held back by the gateway; lost it is gone, won it comes back. */
const MOVES: Readonly<Record<DisputeStatus, readonly [JournalAccount, JournalAccount]>> = {
  opened: ['gateway', 'disputes_open'],
  won: ['disputes_open', 'gateway'],
  lost: ['disputes_open', 'disputes_lost'],
};

const EFFECTS: Readonly<Record<DisputeStatus, (transaction: Queryable, news: DisputeNews) => Promise<void>>> = {
  opened: async (transaction, { orderId, amount, now }) => {
    await transaction.query(
      'update orders set disputed_minor_units = disputed_minor_units + $2, updated_at = $3 where id = $1',
      [orderId, amount.minorUnits, now],
    );
  },
  won: async (transaction, { orderId, amount, now }) => {
    await transaction.query(
      'update orders set disputed_minor_units = disputed_minor_units - $2, updated_at = $3 where id = $1',
      [orderId, amount.minorUnits, now],
    );
  },
  lost: async (transaction, { orderId, amount, now }) => {
    await transaction.query(
      `update orders set disputed_minor_units = disputed_minor_units - $2, updated_at = $3,
         dispute_lost_minor_units = dispute_lost_minor_units
           + least($2, captured_minor_units - refund_reserved_minor_units - dispute_lost_minor_units)
       where id = $1`,
      [orderId, amount.minorUnits, now],
    );
  },
};

/** A dispute that is lost after a refund pays the customer twice; nothing here can undo that, so a person has to know. */
function excessIn(steps: readonly DisputeStatus[], { left }: LockedOrder, { minorUnits }: Money): string | undefined {
  if (!steps.includes('lost') || minorUnits <= left) return undefined;
  return 'A lost dispute took more than was left of the order after its refunds.';
}

async function reviewOrder(transaction: Queryable, { orderId, now }: DisputeNews, reason: string): Promise<void> {
  await transaction.query(
    'update orders set needs_review = true, review_reason = coalesce(review_reason, $2), updated_at = $3 where id = $1',
    [orderId, reason, now],
  );
  await insertOutboxEvent(transaction, {
    orderId,
    attemptNumber: null,
    kind: 'order.needs_review',
    subjectId: newId(),
    details: { review_reason: reason },
    now,
  });
}
