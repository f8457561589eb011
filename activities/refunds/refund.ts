import type { EvidenceKind } from '../../domain/evidence.ts';
import type { Gateway, PreparedRefund, RefundCommand } from '../../domain/gateway.ts';
import type { GatewayOutcome, InquiryAnswer } from '../../domain/outcome.ts';
import { putRefundInReview as putInReview, recordRefundNews } from '../../store/refunds/refund-records.ts';
import { isAnotherRefundOnItsWay, markRefundSent, readStoredRequest } from '../../store/refunds/refund-sends.ts';
import { findRefund, type Refund } from '../../store/refunds/refunds.ts';
import type { RefundStanding } from '../../workflows/contracts.ts';
import { timeLeftOfCall } from '../clock.ts';
import { isSilent } from '../gateway-watch.ts';
import { RECORD_RETRY_MS } from '../record-retries.ts';
import type { Tools } from '../tools.ts';

const INQUIRY_TIMEOUT_MS = 10_000;

/** @throws Error when there is no such refund: a workflow is only ever started for one that is stored. */
export async function readRefund({ database }: Pick<Tools, 'database'>, refundId: string): Promise<Refund> {
  const refund = await findRefund(database, refundId);
  if (refund === undefined) throw new Error(`There is no refund ${refundId}`);
  return refund;
}

export function refundStandingOf({ status, waitsFor, reviewReason }: Refund): RefundStanding {
  return { status, waitsFor, inReview: reviewReason !== null };
}

export async function lookAtRefund(tools: Tools, refundId: string): Promise<RefundStanding> {
  return refundStandingOf(await readRefund(tools, refundId));
}

export async function putRefundInReview(
  tools: Tools,
  { refundId, reason }: { readonly refundId: string; readonly reason: string },
): Promise<RefundStanding> {
  await putInReview(tools.database, { refundId, reason, now: (await tools.clock()).toISOString() });
  return lookAtRefund(tools, refundId);
}

/**
 * Sends a refund that may be sent: marks it as sent, sends, and waits a little for the answer, exactly as a charge does.
 * Run again it finds the refund sent and sends nothing. One that has to wait stays as it is, with the reason.
 */
export async function sendRefund(
  tools: Tools,
  { refundId, handoverAfterMs }: { readonly refundId: string; readonly handoverAfterMs: number },
): Promise<RefundStanding> {
  const refund = await readRefund(tools, refundId);
  if (refund.status !== 'requested' || refund.waitsFor !== null) return refundStandingOf(refund);
  const gateway = tools.gateways.get(refund.gateway);
  const obstacle = await findObstacle(tools, gateway, refund);
  if (obstacle !== undefined) return obstacle;
  const prepared = await prepare(tools, gateway, refund);
  if (prepared === undefined) {
    const reason = 'The gateway has no way to take this refund; see the log of the worker.';
    return putRefundInReview(tools, { refundId, reason });
  }
  const permittedAt = await tools.clock();
  const permitted = await markRefundSent(tools.database, {
    ...{ refundId, orderId: refund.orderId, sendsBefore: refund.sends, oneAtATime: isUnprotected(gateway) },
    ...{ requestKey: prepared.requestKey, requestBody: prepared.body, now: permittedAt.toISOString() },
  });
  if (permitted) {
    await tools.calls.run(
      () => sendAndRecordRefund(tools, { gateway, prepared, refundId, permittedAt, isFirst: true }),
      handoverAfterMs,
      () => nudgeRefund(tools, refundId),
    );
  }
  return lookAtRefund(tools, refundId);
}

/** Nothing at the gateway keeps a repeat, or a second refund of the order, from being one refund too many. */
function isUnprotected({ capabilities }: Gateway): boolean {
  return capabilities.refund?.repeat.by === 'nothing';
}

/**
 * Where the gateway does not recognise a repeat it is asked before each try, and refunds of one order go one by one. What it
 * finds is written down, and then nothing is sent.
 */
async function findObstacle(tools: Tools, gateway: Gateway, refund: Refund): Promise<RefundStanding | undefined> {
  if (!isUnprotected(gateway)) return undefined;
  const { id: refundId, orderId } = refund;
  const standing = refundStandingOf(refund);
  if (await isAnotherRefundOnItsWay(tools.database, { refundId, orderId }))
    return { ...standing, waitsFor: 'another_refund' };
  const answer = await askAboutRefund(tools, gateway, refund);
  if (answer.kind === 'absent') return undefined;
  if (answer.kind === 'unavailable') return standing;
  await recordRefund(tools, { refundId, kind: 'inquiry', outcome: answer.outcome });
  return lookAtRefund(tools, refundId);
}

export async function askAboutRefund(tools: Tools, gateway: Gateway, refund: Refund): Promise<InquiryAnswer> {
  if (gateway.inquireRefund === undefined) return { kind: 'unavailable', reason: 'the gateway cannot be asked' };
  const answer = await callInquiry(tools, gateway, refund);
  await tools.watch.asked(gateway.name, answer.kind !== 'unavailable');
  return answer;
}

async function callInquiry(tools: Tools, gateway: Gateway, refund: Refund): Promise<InquiryAnswer> {
  const scope = { timeoutMs: INQUIRY_TIMEOUT_MS, saveGatewayReference: () => Promise.resolve() };
  try {
    const { gatewayReference } = refund;
    if (gateway.inquireRefund === undefined) throw new Error(`Gateway ${gateway.name} cannot be asked`);
    return await gateway.inquireRefund({ ...commandFor(refund), gatewayReference }, scope);
  } catch (cause) {
    tools.log.error({ refundId: refund.id, err: cause }, 'A gateway adapter failed at an inquiry about a refund.');
    return { kind: 'unavailable', reason: 'the adapter failed' };
  }
}

function commandFor(refund: Refund): RefundCommand {
  const { refundReference, merchantReference, chargeGatewayReference, amount } = refund;
  return { refundReference, charge: { merchantReference, gatewayReference: chargeGatewayReference }, amount };
}

/** The bytes that were stored before, or else new ones: every try sends the same. */
async function prepare(tools: Tools, gateway: Gateway, refund: Refund): Promise<PreparedRefund | undefined> {
  const stored = await readStoredRequest(tools.database, refund.id);
  if (stored !== undefined) {
    const { requestKey, requestBody: body } = stored;
    return { refundReference: refund.refundReference, requestKey, body };
  }
  try {
    return gateway.prepareRefund?.(commandFor(refund));
  } catch (cause) {
    tools.log.error({ refundId: refund.id, err: cause }, 'A refund could not be put into a request.');
    return undefined;
  }
}

export interface PermittedRefund {
  readonly gateway: Gateway;
  readonly prepared: PreparedRefund;
  readonly refundId: string;
  /** As written to the row. */
  readonly permittedAt: Date;
  /** False for a repeat: what it fails to do says nothing about the first request. */
  readonly isFirst: boolean;
}

/** Makes the one call that the row has permitted and writes down what came of it. Never rejects and never sends twice. */
export async function sendAndRecordRefund(tools: Tools, send: PermittedRefund): Promise<void> {
  const outcome = await callGateway(tools, send);
  // Not as a charge: the breaker keeps charges from a gateway that takes none, and a refund says nothing of those.
  await tools.watch.asked(send.gateway.name, !isSilent(outcome));
  if (!send.isFirst && (outcome.kind === 'not_processed' || outcome.kind === 'unknown')) return;
  for (const retryAfterMs of [...RECORD_RETRY_MS, undefined]) {
    try {
      await recordRefund(tools, { refundId: send.refundId, kind: 'gateway_response', outcome });
      return;
    } catch (cause) {
      tools.log.error(
        { refundId: send.refundId, err: cause },
        "A gateway's answer to a refund could not be stored yet.",
      );
      if (retryAfterMs === undefined) return;
      await new Promise((resolve) => setTimeout(resolve, retryAfterMs));
    }
  }
}

async function callGateway(
  tools: Tools,
  { gateway, prepared, refundId, permittedAt }: PermittedRefund,
): Promise<GatewayOutcome> {
  const timeoutMs = timeLeftOfCall(gateway, permittedAt, await tools.clock());
  if (timeoutMs <= 0) {
    return { kind: 'unknown', reason: 'The process stood still between its permission to send and the send.', raw: '' };
  }
  try {
    if (gateway.refund === undefined) throw new Error(`Gateway ${gateway.name} prepares refunds and makes none`);
    return await gateway.refund(prepared, { timeoutMs, saveGatewayReference: () => Promise.resolve() });
  } catch (cause) {
    tools.log.error({ refundId, err: cause }, 'A gateway adapter failed at a refund; its outcome counts as unknown.');
    return { kind: 'unknown', reason: 'The adapter failed while it made the call.', raw: '' };
  }
}

/** Writes news down by this machine's clock. */
export async function recordRefund(
  tools: Tools,
  news: { readonly refundId: string; readonly kind: EvidenceKind; readonly outcome: GatewayOutcome },
): Promise<void> {
  const ruling = await recordRefundNews(tools.database, { ...news, now: (await tools.clock()).toISOString() });
  if (ruling.kind === 'doubted')
    tools.log.warn({ refundId: news.refundId, reason: ruling.reason }, 'News about a refund was not applied.');
}

/** Tells the refund's workflow that its row has changed. Best effort: its next inquiry sees the row. */
export async function nudgeRefund(tools: Pick<Tools, 'nudgeRefund' | 'log'>, refundId: string): Promise<void> {
  await tools.nudgeRefund(refundId).catch((cause: unknown) => {
    tools.log.warn({ refundId, err: cause }, 'The workflow of a refund could not be told of an answer.');
  });
}
