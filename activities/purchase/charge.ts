import type { ChargeCommand, Gateway, PreparedCharge } from '../../domain/gateway.ts';
import type { GatewayOutcome } from '../../domain/outcome.ts';
import { reach } from '../../process/points.ts';
import { recordNews } from '../../store/orders/records.ts';
import { markSent } from '../../store/orders/sends.ts';
import { type AttemptRow, type PurchaseRow, readPurchase } from '../../store/orders/standing.ts';
import type { MakeAttemptCommand, Standing } from '../../workflows/contracts.ts';
import type { Tools } from '../tools.ts';
import { nudgeWorkflow, sendAndRecord } from './send.ts';
import { standingOf } from './standing.ts';

export interface ChargeOfAttempt extends Omit<MakeAttemptCommand, 'attempt'> {
  readonly attemptNumber: number;
}

/**
 * Charges a claimed attempt: marks it as sent, sends, and waits a little for the answer. Temporal may run this step any
 * number of times (a lost worker, a reset, an operator); whoever comes second finds the attempt sent and sends nothing.
 * Returns how the order stands: an attempt that is still `sent` has its request out, or had, and nobody has its answer.
 */
export async function charge(tools: Tools, command: ChargeOfAttempt): Promise<Standing> {
  const { orderId, attemptNumber, run } = command;
  const row = await readPurchase(tools.database, orderId);
  if (row.attempt?.status !== 'claimed' || row.attemptNumber !== attemptNumber) return standingOf(row);

  const gateway = tools.gateways.get(row.gateway);
  const permittedAt = await tools.clock();
  if (Date.parse(row.expiresAt) <= permittedAt.getTime()) return closeUnsent(tools, row, EXPIRED);
  if (row.cancelRequested) return closeUnsent(tools, row, CANCELLED);
  const prepared = prepare(tools, gateway, commandFor(row, row.attempt));
  if (prepared === undefined) return closeUnsent(tools, row, UNFIT);
  const request = { requestKey: prepared.requestKey, requestBody: prepared.body, now: permittedAt.toISOString() };
  if (!(await markSent(tools.database, { orderId, attemptNumber, run, ...request }))) {
    return standingOf(await readPurchase(tools.database, orderId));
  }
  await reach('send_permitted', orderId);

  const anotherFollows = command.anotherFollowsIfNotProcessed;
  const send = { gateway, prepared, orderId, attemptNumber, permittedAt, isFirst: true, anotherFollows };
  await tools.calls.run(
    () => sendAndRecord(tools, send),
    command.handoverAfterMs,
    () => nudgeWorkflow(tools, orderId),
  );
  await reach('answer_recorded', orderId);
  return standingOf(await readPurchase(tools.database, orderId));
}

/** Nothing has left yet, so a request that cannot even be written down ends the attempt and not the worker's patience. */
function prepare({ log }: Tools, gateway: Gateway, command: ChargeCommand): PreparedCharge | undefined {
  try {
    return gateway.prepareCharge(command);
  } catch (cause) {
    log.error(
      { merchantReference: command.merchantReference, err: cause },
      'A charge could not be put into a request.',
    );
    return undefined;
  }
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

type Unsent = Extract<GatewayOutcome, { kind: 'not_processed' }>;

/** The order expired while its attempt waited (Temporal was away for hours): the customer is not charged any more. */
const EXPIRED: Unsent = {
  kind: 'not_processed',
  declineCode: 'never_arrived',
  reason: 'The order expired before its attempt was sent.',
  raw: '',
};

/** The shop took the order back between the claim and the send. */
const CANCELLED: Unsent = {
  kind: 'not_processed',
  declineCode: 'never_arrived',
  reason: 'The order was to be cancelled before its attempt was sent.',
  raw: '',
};

const UNFIT: Unsent = {
  kind: 'not_processed',
  declineCode: 'refused_by_gateway',
  reason: 'The gateway has no way to take this charge; see the log of the worker.',
  raw: '',
};

async function closeUnsent(tools: Tools, { orderId, attemptNumber }: PurchaseRow, outcome: Unsent): Promise<Standing> {
  const now = (await tools.clock()).toISOString();
  await recordNews(tools.database, { orderId, attemptNumber, kind: 'never_sent', outcome, now });
  return standingOf(await readPurchase(tools.database, orderId));
}
