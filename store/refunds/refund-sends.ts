import { type Database, inTransaction, type Queryable } from '../database.ts';

/** The bytes of a refund as they were stored before they first left. */
export interface StoredRequest {
  readonly requestKey: string;
  readonly requestBody: string;
}

export async function readStoredRequest(database: Queryable, refundId: string): Promise<StoredRequest | undefined> {
  const { rows } = await database.query<{ request_key: string | null; request_body: string | null }>(
    'select request_key, request_body from refunds where id = $1',
    [refundId],
  );
  const { request_key: requestKey = null, request_body: requestBody = null } = rows[0] ?? {};
  return requestKey === null || requestBody === null ? undefined : { requestKey, requestBody };
}

/**
 * Marks a refund as sent, before its request leaves, by compare-and-set: of all processes and retries one gets `true` and
 * may send. Not while the order is in dispute or a person has to look; and where the gateway cannot tell two refunds
 * apart, not while another refund of the order is on its way. The order's row is locked first, so that none of these can
 * come about in the same moment. What was stored by an earlier send is kept: every try sends the same bytes.
 */
export async function markRefundSent(
  database: Database,
  send: StoredRequest & {
    readonly refundId: string;
    readonly orderId: string;
    readonly sendsBefore: number;
    readonly oneAtATime: boolean;
    /** ISO time. */
    readonly now: string;
  },
): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    await transaction.query('select from orders where id = $1 for update', [send.orderId]);
    const { rowCount } = await transaction.query(
      `update refunds
       set status = 'sent', sends = sends + 1, sent_at = coalesce(sent_at, $5), last_sent_at = $5,
         request_key = coalesce(request_key, $3), request_body = coalesce(request_body, $4), updated_at = $5
       where id = $1 and status = 'requested' and sends = $2 and review_reason is null
         and not exists (select from orders where orders.id = $6 and disputed_minor_units > 0)
         and not ($7::boolean and exists (
           select from refunds other
           where other.order_id = $6 and other.id <> $1 and other.status in ('sent', 'pending', 'unknown')))`,
      [send.refundId, send.sendsBefore, send.requestKey, send.requestBody, send.now, send.orderId, send.oneAtATime],
    );
    return rowCount === 1;
  });
}

/** Permits one repeat of a request whose outcome is not known; see `markSentAgain` of payment attempts. */
export async function markRefundSentAgain(
  database: Queryable,
  repeat: { readonly refundId: string; readonly sendsBefore: number; readonly now: string },
): Promise<boolean> {
  const { rowCount } = await database.query(
    `update refunds set sends = sends + 1, last_sent_at = $3, updated_at = $3
     where id = $1 and sends = $2 and status in ('sent', 'unknown') and review_reason is null`,
    [repeat.refundId, repeat.sendsBefore, repeat.now],
  );
  return rowCount === 1;
}

/** Is another refund of the order on its way? */
export async function isAnotherRefundOnItsWay(
  database: Queryable,
  { refundId, orderId }: { readonly refundId: string; readonly orderId: string },
): Promise<boolean> {
  const { rows } = await database.query(
    `select from refunds where order_id = $2 and id <> $1 and status in ('sent', 'pending', 'unknown') limit 1`,
    [refundId, orderId],
  );
  return rows.length > 0;
}
