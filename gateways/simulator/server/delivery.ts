import { setTimeout as sleep } from 'node:timers/promises';
import { type Exchange, type Reply, reset, send } from './exchange.ts';
import type { DeliveryFault } from './faults.ts';
import { later } from './simulator.ts';
import { sendUnreadable } from './unreadable.ts';

interface Delivery {
  readonly exchange: Exchange;
  readonly delivery: DeliveryFault | undefined;
  /** Processes the request once; each call is one more arrival of it. */
  readonly process: () => Promise<Reply>;
}

/** Lets a request reach the gateway, and its answer the caller, as the fault has it. */
export async function deliver({ exchange: { response }, delivery, process }: Delivery): Promise<void> {
  switch (delivery?.kind) {
    case undefined:
      return send(response, await process());
    case 'lost_answer':
      await process();
      return reset(response);
    case 'error_after':
      await process();
      return send(response, {
        status: delivery.status,
        body: { error: { code: 'internal_error', message: 'Something went wrong.' } },
      });
    case 'never_arrives':
      return reset(response);
    case 'not_accepted':
      return send(response, notAccepted(delivery.status));
    case 'slow':
      return send(response, await slowly(delivery, process));
    case 'late':
      reset(response);
      return later(delivery.seconds * 1_000, async () => void (await process()));
    case 'duplicated': {
      const [first] = await Promise.all([process(), process()]);
      return send(response, first);
    }
    case 'wrong_amount':
    case 'wrong_reference':
      return send(response, falsified(await process(), delivery));
    case 'unreadable':
      return sendUnreadable(response, delivery.as, await process());
  }
}

function notAccepted(status: 429 | 503): Reply {
  const code = status === 429 ? 'rate_limited' : 'maintenance';
  const message = 'The request was not accepted; nothing was done.';
  return { status, body: { error: { code, message } }, headers: { 'retry-after': '1' } };
}

async function slowly(
  { seconds, charge: when }: DeliveryFault & { kind: 'slow' },
  process: () => Promise<Reply>,
): Promise<Reply> {
  if (when === 'at_the_end') {
    await sleep(seconds * 1_000, undefined, { ref: false });
    return process();
  }
  const reply = await process();
  await sleep(seconds * 1_000, undefined, { ref: false });
  return reply;
}

function falsified(reply: Reply, fault: DeliveryFault & { kind: 'wrong_amount' | 'wrong_reference' }): Reply {
  const body = reply.body as {
    readonly reference?: string;
    readonly amount?: { minor_units: number; currency: string };
  };
  if (body.amount === undefined) return reply;
  if (fault.kind === 'wrong_reference')
    return { ...reply, body: { ...body, reference: '0000000000000000000000000099' } };
  const { minor_units: minorUnits, currency } = body.amount;
  return {
    ...reply,
    body: { ...body, amount: { minor_units: minorUnits + fault.by, currency: fault.currency ?? currency } },
  };
}
