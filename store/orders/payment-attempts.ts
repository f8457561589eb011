import type { AttemptStatus } from '../../domain/attempt.ts';
import type { CustomerAction, Decline } from '../../domain/outcome.ts';
import type { Queryable } from '../database.ts';

/** One attempt as people may see it: without the payment method and without the bytes that were sent. Times are ISO strings. */
export interface PaymentAttempt {
  readonly orderId: string;
  readonly attemptNumber: number;
  readonly merchantReference: string;
  readonly gateway: string;
  readonly gatewayReference: string | null;
  readonly status: AttemptStatus;
  /** How often the request was sent; more than once only where the gateway's protection allows a repeat. */
  readonly sends: number;
  readonly firstSentAt: string | null;
  readonly lastSentAt: string | null;
  readonly decline: Decline | null;
  readonly action: CustomerAction | null;
  readonly evidenceId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The columns that hold what an attempt said to the customer. */
export interface AnswerRow {
  readonly decline_code: Decline['code'] | null;
  readonly decline_gateway_code: string | null;
  readonly decline_retriable: boolean | null;
  readonly action_kind: CustomerAction['kind'] | null;
  readonly action_url: string | null;
}

interface Row extends AnswerRow {
  readonly order_id: string;
  readonly attempt_number: number;
  readonly merchant_reference: string;
  readonly gateway: string;
  readonly gateway_reference: string | null;
  readonly status: AttemptStatus;
  readonly sends: number;
  readonly sent_at: string | null;
  readonly last_sent_at: string | null;
  readonly evidence_id: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

const SELECT_ATTEMPT = `select order_id, attempt_number, merchant_reference, gateway, gateway_reference, status, sends,
    sent_at, last_sent_at, decline_code, decline_gateway_code, decline_retriable, action_kind, action_url, evidence_id,
    created_at, updated_at
  from payment_attempts`;

/** All attempts of an order, the first first; there are never more than 99. */
export async function listAttempts(database: Queryable, orderId: string): Promise<PaymentAttempt[]> {
  const { rows } = await database.query<Row>(`${SELECT_ATTEMPT} where order_id = $1 order by attempt_number`, [
    orderId,
  ]);
  return rows.map(readAttempt);
}

function readAttempt(row: Row): PaymentAttempt {
  return {
    orderId: row.order_id,
    attemptNumber: row.attempt_number,
    merchantReference: row.merchant_reference,
    gateway: row.gateway,
    gatewayReference: row.gateway_reference,
    status: row.status,
    sends: row.sends,
    firstSentAt: row.sent_at,
    lastSentAt: row.last_sent_at,
    decline: readDecline(row),
    action: readAction(row),
    evidenceId: row.evidence_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function readDecline(row: AnswerRow): Decline | null {
  if (row.decline_code === null) return null;
  const gatewayCode = row.decline_gateway_code === null ? {} : { gatewayCode: row.decline_gateway_code };
  return { code: row.decline_code, ...gatewayCode, retriable: row.decline_retriable ?? false };
}

export function readAction(row: AnswerRow): CustomerAction | null {
  if (row.action_kind === null || row.action_url === null) return null;
  return { kind: row.action_kind, url: row.action_url };
}
