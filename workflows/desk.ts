import {
  allHandlersFinished,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
} from '@temporalio/workflow';
import { looksLikeCardNumber } from '../domain/card-number.ts';
import type { Standing } from './contracts.ts';
import {
  ASK_NOW_SIGNAL,
  type AttemptRequest,
  CANCEL_SIGNAL,
  EVENT_STORED_SIGNAL,
  type OperatorDecision,
  PAY_SIGNAL,
  type PurchaseInput,
  type PurchaseState,
  ROW_CHANGED_SIGNAL,
  SETTLE_UPDATE,
  STATE_QUERY,
} from './messages.ts';
import type { OperatorView } from './operator-view.ts';
import { local } from './steps.ts';

const paySignal = defineSignal<[AttemptRequest]>(PAY_SIGNAL);
const rowChangedSignal = defineSignal(ROW_CHANGED_SIGNAL);
const eventStoredSignal = defineSignal(EVENT_STORED_SIGNAL);
const askNowSignal = defineSignal(ASK_NOW_SIGNAL);
const cancelSignal = defineSignal(CANCEL_SIGNAL);
const settleUpdate = defineUpdate<PurchaseState, [OperatorDecision]>(SETTLE_UPDATE);
const stateQuery = defineQuery<PurchaseState>(STATE_QUERY);

/** Longer than any wait here; a wait without any limit sends a time-skipping test server years ahead. */
const WAIT_MS_MAX = 30 * 24 * 3_600_000;

/** Where messages for one order come in: what the workflow knows, and what others have said since it last looked. */
export interface Desk {
  standing: Standing;
  /** Somebody else (a late answer, a webhook, an operator) has written to the row. */
  hasNews(): boolean;
  takeNews(): boolean;
  /** Events of the gateway wait in the inbox. */
  hasEvents(): boolean;
  /** Applies the events that wait, if any, and looks at the row. */
  refresh(): Promise<Standing>;
  /** The gateway should be asked now: news, or a gateway that is heard again. */
  isCalled(): boolean;
  /** Forgets that the gateway should be asked, because that is what happens next. */
  takeCall(): void;
  /** The shop has asked to cancel since the row was last looked at. */
  hasCancel(): boolean;
  /**
   * The customer's next wish to pay, or undefined once `until` has passed, an event waits or the shop cancels. Wishes for
   * other attempts are stale.
   */
  nextRequest(until: number): Promise<AttemptRequest | undefined>;
  close(): Promise<void>;
}

/** What was said since the workflow last looked. */
type Heard = { [Word in 'news' | 'events' | 'called' | 'cancelled']: boolean };

/** The signals that only have to be noted, and as what. */
const NOTED = [
  { signal: rowChangedSignal, as: ['news'], description: 'The row of the order has changed: look at it.' },
  { signal: askNowSignal, as: ['called'], description: 'The gateway is heard again: ask it now.' },
  {
    signal: eventStoredSignal,
    as: ['news', 'events'],
    description: 'An event of the gateway is in the inbox: apply it.',
  },
  {
    signal: cancelSignal,
    as: ['news', 'called', 'cancelled'],
    description: 'The shop wants the order cancelled: look at its row.',
  },
] as const;

/** Opens the desk before anything else happens, so that no message that came with the start is missed. */
export function openDesk({ orderId, attempt }: PurchaseInput, view: OperatorView): Desk {
  const requests: AttemptRequest[] = [];
  const heard: Heard = { news: false, events: false, called: false, cancelled: false };
  const desk: Desk = {
    standing: {
      orderStatus: 'processing',
      attemptNumber: attempt.attemptNumber - 1,
      attemptStatus: null,
      needsReview: false,
      provenBy: null,
    },
    hasNews: () => heard.news,
    takeNews: () => {
      const there = heard.news;
      heard.news = false;
      return there;
    },
    isCalled: () => heard.news || heard.called,
    takeCall: () => {
      heard.called = false;
    },
    hasEvents: () => heard.events,
    hasCancel: () => heard.cancelled,
    refresh() {
      const waiting = heard.events;
      heard.news = false;
      heard.events = false;
      heard.cancelled = false;
      return waiting ? local.applyEvents({ orderId }) : local.look({ orderId });
    },
    async nextRequest(until) {
      const wanted = (): AttemptRequest | undefined =>
        requests.find(({ attemptNumber }) => attemptNumber === desk.standing.attemptNumber + 1);
      const woken = (): boolean => heard.events || heard.cancelled || wanted() !== undefined;
      const left = until - Date.now();
      if (left > 0) await condition(woken, Math.min(left, WAIT_MS_MAX));
      const found = wanted();
      requests.length = 0;
      return found;
    },
    async close() {
      if (!allHandlersFinished()) await condition(allHandlersFinished);
    },
  };
  setHandler(paySignal, (request) => void requests.push(request), { description: 'The customer tries again.' });
  for (const { signal, as, description } of NOTED) {
    const note = (): void => {
      for (const word of as) heard[word] = true;
    };
    setHandler(signal, note, { description });
  }
  takeDecisions({ orderId, desk, heard }, view);
  return desk;
}

interface Parts {
  readonly orderId: string;
  readonly desk: Desk;
  readonly heard: Heard;
}

/** Tells operators how the order stands, and takes their decision about it. */
function takeDecisions({ orderId, desk, heard }: Parts, view: OperatorView): void {
  const state = (): PurchaseState => ({
    status: desk.standing.orderStatus,
    attemptNumber: desk.standing.attemptNumber,
    waitsFor: view.waitsFor(),
    needsReview: desk.standing.needsReview,
  });
  setHandler(stateQuery, state, { description: 'What the order waits for.' });
  setHandler(
    settleUpdate,
    async (decision: OperatorDecision): Promise<PurchaseState> => {
      desk.standing = await local.settle({ orderId, decision });
      heard.news = true;
      return state();
    },
    {
      validator: (decision: OperatorDecision): void => refuseBadDecision(decision, desk.standing),
      description: 'Settle an unknown order: outcome (paid or failed), operator, reason.',
    },
  );
}

/** Refused before anything is written to the history, so that a mistaken click leaves no trace and moves nothing. */
function refuseBadDecision({ outcome, operator, reason }: OperatorDecision, { orderStatus }: Standing): void {
  if (orderStatus !== 'unknown') {
    throw new Error(`The order is ${orderStatus}. Only an unknown order can be settled by an operator.`);
  }
  if (!['paid', 'failed'].includes(outcome)) throw new Error('outcome must be "paid" or "failed".');
  if (typeof operator !== 'string' || operator.trim().length === 0) throw new Error('operator must say who decides.');
  if (typeof reason !== 'string' || reason.trim().length < 10) {
    throw new Error('reason must say why, in at least ten characters.');
  }
  if (looksLikeCardNumber(operator) || looksLikeCardNumber(reason))
    throw new Error('Card numbers are never accepted here.');
}
