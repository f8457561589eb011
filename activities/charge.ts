import type { ChargeCommand, PreparedCharge } from '../domain/gateway.ts';
import { recordNews } from '../store/records.ts';
import { markSent } from '../store/sends.ts';
import { type AttemptRow, type PurchaseRow, readPurchase } from '../store/standing.ts';
import type { ChargeActivityCommand, ChargeResult } from '../workflows/contracts.ts';
import { now } from './clock.ts';
import { nudgeWorkflow, sendAndRecord } from './send.ts';
import { readStanding, standingOf } from './standing.ts';
import type { Tools } from './tools.ts';

/**
 * Charges a claimed attempt: marks it as sent, sends, and waits a little for the answer. Temporal may run this step any
 * number of times (a lost worker, a reset, an operator); whoever comes second finds the attempt sent and answers
 * `in_flight`, because all it can know is that a request may be out.
 */
export async function charge(tools: Tools, command: ChargeActivityCommand): Promise<ChargeResult> {
  const { orderId, attemptNumber, run } = command;
  const row = await readPurchase(tools.database, orderId);
  if (row.attempt?.status !== 'claimed' || row.attemptNumber !== attemptNumber) return resultOf(row, attemptNumber);

  const gateway = tools.gateways.get(row.gateway);
  const prepared = gateway.prepareCharge(commandFor(row, row.attempt));
  const permittedAt = now(command);
  if (
    !(await markSent(tools.database, {
      ...forRow(prepared),
      orderId,
      attemptNumber,
      run,
      now: permittedAt.toISOString(),
    }))
  ) {
    if (Date.parse(row.expiresAt) <= permittedAt.getTime()) await closeUnsent(tools, command, permittedAt);
    return resultOf(await readPurchase(tools.database, orderId), attemptNumber);
  }

  const send = { gateway, prepared, orderId, attemptNumber, permittedAt, isFirst: true };
  const ended = await tools.calls.run(
    () => sendAndRecord(tools, { ...send, anotherFollows: command.anotherFollowsIfNotProcessed }),
    command.handoverAfterMs,
    () => nudgeWorkflow(tools, orderId),
  );
  return ended ? resultOf(await readPurchase(tools.database, orderId), attemptNumber) : { kind: 'in_flight' };
}

function commandFor(row: PurchaseRow, attempt: AttemptRow): ChargeCommand {
  return {
    merchantReference: attempt.merchantReference,
    amount: row.amount,
    paymentMethod: attempt.paymentMethod,
    description: row.description,
    returnUrl: attempt.returnUrl,
  };
}

function forRow({ requestKey, body }: PreparedCharge): { readonly requestKey: string; readonly requestBody: string } {
  return { requestKey, requestBody: body };
}

/** An attempt in `sent` has no answer on its row, whoever sent it; one in `claimed` is another run's to send. */
function resultOf(row: PurchaseRow, attemptNumber: number): ChargeResult {
  const status = row.attempt?.status;
  if (row.attemptNumber === attemptNumber && (status === 'sent' || status === 'claimed')) return { kind: 'in_flight' };
  return { kind: 'recorded', standing: standingOf(row) };
}

/** The order expired while its attempt waited to be sent (Temporal was away for hours): the customer is not charged any more. */
async function closeUnsent(tools: Tools, { orderId, attemptNumber }: ChargeActivityCommand, at: Date): Promise<void> {
  const standing = await readStanding(tools, orderId);
  if (standing.attemptStatus !== 'claimed') return;
  await recordNews(tools.database, {
    orderId,
    attemptNumber,
    kind: 'never_sent',
    outcome: {
      kind: 'not_processed',
      declineCode: 'never_arrived',
      reason: 'The order expired before its attempt was sent.',
      raw: '',
    },
    now: at.toISOString(),
  });
}
