import type { EvidenceKind } from '../../domain/evidence.ts';
import type { Gateway, PreparedCharge } from '../../domain/gateway.ts';
import type { GatewayOutcome } from '../../domain/outcome.ts';
import { reach } from '../../process/points.ts';
import { type News, recordNews } from '../../store/orders/records.ts';
import { saveGatewayReference } from '../../store/orders/sends.ts';
import { timeLeftOfCall } from '../clock.ts';
import { RECORD_RETRY_MS } from '../record-retries.ts';
import { startRefundOf } from '../refunds/refund-news.ts';
import type { Tools } from '../tools.ts';

export interface PermittedSend {
  readonly gateway: Gateway;
  readonly prepared: PreparedCharge;
  readonly orderId: string;
  readonly attemptNumber: number;
  /** The permission's time as written to the row; ISO. */
  readonly permittedAt: Date;
  /** Whether this is the first request of the attempt; what a repeat fails to do says nothing about the first. */
  readonly isFirst: boolean;
  readonly anotherFollows: boolean;
}

/**
 * Makes the one call that the row has permitted and writes down what came of it. Never rejects and never sends twice:
 * what goes wrong on the way is an outcome, and an outcome that cannot be stored is found again by inquiry.
 */
export async function sendAndRecord(tools: Tools, send: PermittedSend): Promise<void> {
  const outcome = await callGateway(tools, send);
  await reach('answer_received', send.orderId);
  if (send.isFirst || saysSomething(outcome)) {
    const { orderId, attemptNumber, anotherFollows } = send;
    const kind: EvidenceKind = 'gateway_response';
    await recordPersistently(tools, { orderId, attemptNumber, kind, outcome, anotherFollows });
  }
  await tools.watch.charged(send.gateway.name, outcome);
}

/** What a repeat fails to do says nothing about the first request. */
function saysSomething({ kind }: GatewayOutcome): boolean {
  return kind !== 'not_processed' && kind !== 'unknown';
}

/** Tells the workflow that went on without the answer that it is here now. Best effort: its next inquiry sees the row. */
export async function nudgeWorkflow(tools: Tools, orderId: string): Promise<void> {
  await tools.nudge(orderId).catch((cause: unknown) => {
    tools.log.warn(
      { orderId, err: cause },
      'The workflow could not be told of an answer; its next inquiry will see it.',
    );
  });
}

async function callGateway(
  tools: Tools,
  { gateway, prepared, orderId, attemptNumber, permittedAt }: PermittedSend,
): Promise<GatewayOutcome> {
  const timeoutMs = timeLeftOfCall(gateway, permittedAt, new Date());
  if (timeoutMs <= 0) {
    return { kind: 'unknown', reason: 'The process stood still between its permission to send and the send.', raw: '' };
  }
  try {
    return await gateway.charge(prepared, {
      timeoutMs,
      saveGatewayReference: (gatewayReference) =>
        saveGatewayReference(tools.database, {
          orderId,
          attemptNumber,
          gatewayReference,
          now: new Date().toISOString(),
        }),
    });
  } catch (cause) {
    tools.log.error({ orderId, attemptNumber, err: cause }, 'A gateway adapter failed; the outcome counts as unknown.');
    return { kind: 'unknown', reason: 'The adapter failed while it made the call.', raw: '' };
  }
}

async function recordPersistently(tools: Tools, news: Omit<News, 'now'>): Promise<void> {
  for (const retryAfterMs of [...RECORD_RETRY_MS, undefined]) {
    try {
      const recorded = await recordNews(tools.database, { ...news, now: new Date().toISOString() });
      await startRefundOf(tools, news.orderId, recorded);
      if (recorded.kind === 'doubted')
        tools.log.warn({ orderId: news.orderId, reason: recorded.reason }, 'An answer was not applied.');
      return;
    } catch (cause) {
      tools.log.error({ orderId: news.orderId, err: cause }, 'A gateway answer could not be stored yet.');
      if (retryAfterMs === undefined) return;
      await new Promise((resolve) => setTimeout(resolve, retryAfterMs));
    }
  }
}
