import type {
  ChargeNews,
  DisputeEventNews,
  EventNews,
  InboxEventState,
  RefundEventNews,
} from '../../domain/gateway-event.ts';
import { type Database, inTransaction, type Queryable } from '../database.ts';
import { insertOutboxEvent } from '../deliveries/outbox-events.ts';
import { insertEvidence } from '../orders/evidence.ts';
import { notifyOrderChanged } from '../orders/order-changes.ts';
import { recordNewsWithin } from '../orders/records.ts';
import { recordDisputeWithin } from '../refunds/disputes.ts';
import { recordRefundNewsWithin } from '../refunds/refund-records.ts';
import { findRefundAtGateway } from '../refunds/refunds.ts';

/**
 * Applies one stored event to its order: what it changes and the mark that it was applied are one commit, so a process
 * that dies leaves both or neither, and whoever comes second finds the mark. Returns how it stands afterwards; undefined when
 * there was nothing to do.
 */
export async function applyInboxEvent(
  database: Database,
  { id, now }: { readonly id: string; readonly now: string },
): Promise<InboxEventState | undefined> {
  return inTransaction(database, async (transaction) => {
    const event = await lockStored(transaction, id);
    if (event === undefined) return undefined;
    const result = await applyNews(transaction, event, now);
    await transaction.query(`update inbox_events set state = $2, remark = $3, applied_at = $4 where id = $1`, [
      id,
      result.state,
      result.remark,
      now,
    ]);
    return result.state;
  });
}

interface StoredEvent<News extends EventNews> {
  readonly id: string;
  readonly gateway: string;
  readonly orderId: string;
  readonly attemptNumber: number | null;
  /** Where the attempt was made, which need not be where the event came from. */
  readonly attemptGateway: string | null;
  readonly news: News;
}

interface Applied {
  readonly state: 'applied' | 'nothing_new' | 'doubted';
  readonly remark: string | null;
}

/** What each subject of an event does to the rows. */
const APPLY: {
  readonly [Subject in EventNews['subject']]: (
    transaction: Queryable,
    event: StoredEvent<Extract<EventNews, { subject: Subject }>>,
    now: string,
  ) => Promise<Applied>;
} = { charge: applyCharge, refund: applyRefund, dispute: applyDispute };

/** The type of a table's entry does not follow the type of its argument, so it is said once, here. */
function applyNews<News extends EventNews>(
  transaction: Queryable,
  event: StoredEvent<News>,
  now: string,
): Promise<Applied> {
  const apply = APPLY[event.news.subject] as (
    transaction: Queryable,
    event: StoredEvent<News>,
    now: string,
  ) => Promise<Applied>;
  return apply(transaction, event, now);
}

interface LockedRow {
  readonly gateway: string;
  readonly order_id: string;
  readonly attempt_number: number | null;
  readonly attempt_gateway: string | null;
  readonly news: EventNews;
}

async function lockStored(transaction: Queryable, id: string): Promise<StoredEvent<EventNews> | undefined> {
  const { rows } = await transaction.query<LockedRow>(
    `select event.gateway, event.order_id, event.attempt_number, attempt.gateway as attempt_gateway, news
     from inbox_events event
     left join payment_attempts attempt on (attempt.order_id, attempt.attempt_number) = (event.order_id, event.attempt_number)
     where event.id = $1 and state = 'stored' for update of event`,
    [id],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { gateway, order_id: orderId, attempt_number: attemptNumber, attempt_gateway: attemptGateway, news } = row;
  return { id, gateway, orderId, attemptNumber, attemptGateway, news };
}

async function applyCharge(transaction: Queryable, event: StoredEvent<ChargeNews>, now: string): Promise<Applied> {
  const { orderId, attemptNumber, news } = event;
  if (attemptNumber === null) return doubt(transaction, event, { reason: unmadeAttempt(news), now });
  const stranger = strangerIn(event);
  const recorded = await recordNewsWithin(transaction, {
    orderId,
    attemptNumber,
    kind: 'webhook',
    outcome: news.outcome,
    now,
    ...(stranger !== undefined && { stranger }),
  });
  if (recorded.kind === 'doubted') return { state: 'doubted', remark: recorded.reason };
  if (recorded.kind === 'over_paid') return { state: 'applied', remark: recorded.reason.slice(0, 1_000) };
  return { state: recorded.kind === 'applied' ? 'applied' : 'nothing_new', remark: null };
}

async function applyRefund(transaction: Queryable, event: StoredEvent<RefundEventNews>, now: string): Promise<Applied> {
  const { orderId, gateway, news } = event;
  const { refundReference, refundGatewayReference: gatewayReference, outcome } = news;
  const stranger = strangerIn(event);
  if (stranger !== undefined) return doubt(transaction, event, { reason: stranger, now });
  const refund = await findRefundAtGateway(transaction, { gateway, refundReference, gatewayReference });
  if (refund?.orderId !== orderId) {
    // Ours is stored before it is sent, so it cannot be one that is still to come.
    const reason = `The gateway says ${outcome.kind} for ${refundReference ?? gatewayReference}, a refund that was not made here.`;
    return doubt(transaction, event, { reason, now });
  }
  const ruling = await recordRefundNewsWithin(transaction, { refundId: refund.id, kind: 'webhook', outcome, now });
  if (ruling.kind === 'doubted') return { state: 'doubted', remark: ruling.reason };
  return { state: ruling.kind, remark: null };
}

async function applyDispute(
  transaction: Queryable,
  event: StoredEvent<DisputeEventNews>,
  now: string,
): Promise<Applied> {
  const { orderId, attemptNumber, gateway, news } = event;
  if (attemptNumber === null) return doubt(transaction, event, { reason: unmadeAttempt(news), now });
  const stranger = strangerIn(event);
  if (stranger !== undefined) return doubt(transaction, event, { reason: stranger, now });
  const { amount, status, raw: detail, disputeGatewayReference: gatewayReference } = news;
  const dispute = { orderId, attemptNumber, gateway, gatewayReference, amount, status };
  const recorded = await recordDisputeWithin(transaction, { ...dispute, kind: 'webhook', detail, now });
  if (recorded === 'doubted') return { state: 'doubted', remark: 'It contradicts the dispute or its order.' };
  return { state: recorded === 'recorded' ? 'applied' : 'nothing_new', remark: null };
}

function strangerIn({ gateway, attemptGateway, news: { foreignAccount } }: StoredEvent<EventNews>): string | undefined {
  if (foreignAccount !== null) return `The gateway's event is about its account ${foreignAccount}, which is not ours.`;
  if (attemptGateway === null || attemptGateway === gateway) return undefined;
  return `The gateway ${gateway} tells of an attempt that was made at ${attemptGateway}.`;
}

/** The row was lost, or somebody else uses our references. */
function unmadeAttempt(news: ChargeNews | DisputeEventNews): string {
  const said = news.subject === 'charge' ? news.outcome.kind : `dispute ${news.status}`;
  return `The gateway says ${said} for ${news.merchantReference}, an attempt that the order never made.`;
}

/**
 * The event names an order of ours and something of it that we do not know, or must not believe. The order is put before a
 * person, which also keeps it from being charged meanwhile.
 */
async function doubt(
  transaction: Queryable,
  { orderId, news }: StoredEvent<EventNews>,
  { reason, now }: { readonly reason: string; readonly now: string },
): Promise<Applied> {
  await insertEvidence(transaction, {
    orderId,
    attemptNumber: null,
    kind: 'webhook',
    provesOrderStatus: null,
    provesAttemptStatus: null,
    detail: JSON.stringify(news.subject === 'dispute' ? news : news.outcome).slice(0, 8_000),
    now,
  });
  await transaction.query(
    `update orders set needs_review = true, review_reason = coalesce(review_reason, $2), updated_at = $3 where id = $1`,
    [orderId, reason.slice(0, 500), now],
  );
  await insertOutboxEvent(transaction, { orderId, attemptNumber: null, kind: 'order.needs_review', now });
  await notifyOrderChanged(transaction, orderId);
  return { state: 'doubted', remark: reason.slice(0, 1_000) };
}
