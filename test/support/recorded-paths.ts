import type { WorkflowHandle } from '@temporalio/client';
import type { PreparedCharge } from '../../domain/gateway.ts';
import type { Money } from '../../domain/money.ts';
import type { GatewayOutcome } from '../../domain/outcome.ts';
import { applyEventWorkflowId } from '../../workflows/ids.ts';
import {
  APPLY_EVENT_WORKFLOW,
  ASK_NOW_SIGNAL,
  EVENT_STORED_SIGNAL,
  EXPIRE_UNPAID_ORDERS_WORKFLOW,
  RECOVER_WORKFLOW,
  SETTLE_UPDATE,
  SWEEP_WORKFLOW,
} from '../../workflows/messages.ts';
import { type PlayOptions, type PlayOut, passTimeUntil, type Stage } from './plays.ts';
import { REFUND_PATHS } from './refund-paths.ts';
import {
  ANSWER_LOST,
  CHARGES,
  createScriptedGateway,
  DECLINES,
  NEVER_ARRIVES,
  type ScriptedCharge,
  type ScriptedInquiry,
  UNREACHABLE,
} from './scripted-gateway.ts';
import { waitUntil } from './stack.ts';
import { untilCommand } from './until-command.ts';

/** Plays a path to the end of its workflow. `options` are for those who play it with other workflow code. */
export type PlayPath = (playOut: PlayOut, options?: PlayOptions) => Promise<WorkflowHandle>;

const HOUR_MS = 3_600_000;
const SHORT_SCHEDULE = { scheduleSeconds: [5, 15] };
const AWAY: ScriptedInquiry = { kind: 'unavailable', reason: 'connection refused' };
const STILL_PENDING: ScriptedInquiry = { kind: 'found', outcome: { kind: 'unknown', reason: 'not yet', raw: '' } };
const ACTION = { kind: 'redirect', url: 'https://bank.example/confirm' } as const;
const NEEDS_ACTION = { kind: 'requires_action', action: ACTION, raw: 'action' } as const;
const STILL_ACTING: ScriptedInquiry = { kind: 'found', outcome: NEEDS_ACTION };
const CAN_CLOSE = { closing: { by: ['merchant_reference'] } } as const;
const DECISION = { outcome: 'paid', operator: 'operator@shop.example', reason: 'Seen on the bank statement of today.' };

/** One way through the purchase workflow each, and the housekeeping; every branch of workflows/ is in one of them. */
export const PATHS: Readonly<Record<string, PlayPath>> = {
  ...REFUND_PATHS,
  paid: plainly({ charges: [CHARGES] }),
  'answer-lost': plainly({ charges: [ANSWER_LOST] }),
  'never-arrived-sent-again': plainly({ charges: [NEVER_ARRIVES, CHARGES] }),
  'requires-action': plainly({
    charges: [{ moves: true, answers: NEEDS_ACTION }],
    inquiries: [{ kind: 'found', outcome: NEEDS_ACTION }, 'truth'],
  }),
  'unreachable-then-paid': plainly({ charges: [UNREACHABLE, UNREACHABLE, CHARGES] }),
  'declined-then-expired': plainly({ charges: [DECLINES] }, { expiresInMs: 2 * HOUR_MS }),
  'refused-then-expired': plainly({ charges: [CHARGES] }, { expiresInMs: -HOUR_MS }),
  'declined-then-paid': plainly({ charges: [DECLINES, CHARGES] }, {}, async ({ purchase }) => {
    await untilCommand(purchase.handle, 'timer 72 h');
    await purchase.payAgain(2);
  }),

  'declined-then-cancelled': plainly({ charges: [DECLINES] }, {}, async ({ purchase }) => {
    await untilCommand(purchase.handle, 'timer 72 h');
    await purchase.cancel();
  }),

  'cancelled-while-the-customer-acts': plainly(
    { charges: [{ moves: false, answers: NEEDS_ACTION }], inquiries: [STILL_ACTING], capabilities: CAN_CLOSE },
    { scheduleSeconds: [3_600] },
    async ({ purchase }) => {
      await untilCommand(purchase.handle, 'timer 60 min');
      await purchase.cancel();
    },
  ),

  'action-left-alone': plainly(
    { charges: [{ moves: false, answers: NEEDS_ACTION }], inquiries: [STILL_ACTING], capabilities: CAN_CLOSE },
    { expiresInMs: 2 * HOUR_MS },
  ),

  'never-arrived-then-paid': plainly(
    { charges: [NEVER_ARRIVES, CHARGES], capabilities: { repeat: { by: 'nothing' } } },
    {},
    async ({ environment, purchase }) => {
      await passTimeUntil(environment, async () => (await purchase.row()).orderStatus === 'failed');
      await untilCommand(purchase.handle, 'timer 72 h');
      await purchase.payAgain(2);
    },
  ),

  'handed-over-then-found': async (playOut, options) => {
    const { charge, answer } = slowly();
    const gateway = createScriptedGateway({ charges: [charge] });
    const { inquire } = gateway;
    gateway.inquire = async (command, scope) => {
      // Late enough for the workflow to have ended: the answer would be one more message to it otherwise.
      setTimeout(answer, 1_000);
      return inquire?.(command, scope) ?? { kind: 'absent', raw: '' };
    };
    const { purchase } = await playOut(gateway, { handoverAfterMs: 50, ...options });
    return purchase.handle;
  },

  'handed-over-then-answered': async (playOut, options) => {
    const { charge, answer } = slowly();
    const gateway = createScriptedGateway({ charges: [charge] });
    const { purchase } = await playOut(gateway, { handoverAfterMs: 50, ...options }, async ({ purchase: begun }) => {
      await untilCommand(begun.handle, 'timer 5 s');
      answer();
      await untilCommand(begun.handle, 'signal rowChanged');
    });
    return purchase.handle;
  },

  'reviewed-then-settled': plainly({ charges: [ANSWER_LOST], inquiries: [AWAY] }, SHORT_SCHEDULE, async (stage) => {
    await untilReview(stage);
    await stage.purchase.handle.executeUpdate(SETTLE_UPDATE, { args: [DECISION] });
  }),

  'reviewed-then-found': async (playOut, options) => {
    const gateway = createScriptedGateway({ charges: [ANSWER_LOST], inquiries: [AWAY] });
    const { purchase } = await playOut(gateway, { ...SHORT_SCHEDULE, ...options }, async (stage) => {
      await untilReview(stage);
      gateway.answersToInquiries.splice(0, 1, 'truth');
    });
    return purchase.handle;
  },

  'only-a-person-can-tell': plainly(
    {
      charges: [ANSWER_LOST],
      capabilities: { repeat: { by: 'nothing' }, inquiry: { by: [], absentConclusiveAfterSeconds: null } },
    },
    SHORT_SCHEDULE,
    async ({ environment, purchase }) => {
      await untilCommand(purchase.handle, 'timer 24 h', () => environment.sleep('5s'));
      await purchase.handle.executeUpdate(SETTLE_UPDATE, { args: [DECISION] });
    },
  ),

  'expire-unpaid-orders': housekeeping(EXPIRE_UNPAID_ORDERS_WORKFLOW),
  sweep: housekeeping(SWEEP_WORKFLOW),
  recover: housekeeping(RECOVER_WORKFLOW, { gateway: 'of nobody', after: null }),

  'called-while-waiting': plainly({ charges: [ANSWER_LOST] }, { scheduleSeconds: [3_600] }, async ({ purchase }) => {
    await untilCommand(purchase.handle, 'timer 60 min');
    await purchase.handle.signal(ASK_NOW_SIGNAL);
  }),

  'called-during-inquiry': async (playOut, options) => {
    const gateway = createScriptedGateway({ charges: [ANSWER_LOST], inquiries: [STILL_PENDING] });
    const { purchase } = await playOut(gateway, { scheduleSeconds: [5, 7_200], ...options }, async (stage) => {
      const { handle } = stage.purchase;
      await untilCommand(handle, 'activity inquire', () => stage.environment.sleep('5s'));
      await waitUntil('the first answer', async () => gateway.inquiries.length > 0);
      gateway.answersToInquiries.splice(0, 1, 'truth');
      await handle.signal(ASK_NOW_SIGNAL);
    });
    return purchase.handle;
  },

  'event-before-the-answer': async (playOut, options) => {
    const { charge, answer } = slowly();
    const gateway = createScriptedGateway({ charges: [charge] });
    const { purchase } = await playOut(gateway, { handoverAfterMs: 50, ...options }, async ({ purchase: begun }) => {
      await untilCommand(begun.handle, 'timer 5 s');
      await begun.receive({ kind: 'approved', amount: { minorUnits: 1_000, currency: 'EUR' }, raw: '' });
      await begun.handle.signal(EVENT_STORED_SIGNAL);
      await begun.handle.result();
      answer();
    });
    return purchase.handle;
  },

  'event-after-a-decline': plainly({ charges: [DECLINES] }, { expiresInMs: 2 * HOUR_MS }, async ({ purchase }) => {
    await untilCommand(purchase.handle, 'timer 2 h');
    await purchase.receive({ kind: 'declined', decline: { code: 'card_declined', retriable: true }, raw: '' });
    await purchase.handle.signal(EVENT_STORED_SIGNAL);
  }),

  'event-without-a-purchase': async (playOut, options) => {
    let applying: WorkflowHandle | undefined;
    await playOut(createScriptedGateway(), options, async ({ environment, purchase }) => {
      await purchase.handle.result();
      const id = await purchase.receive({ kind: 'pending', raw: '' });
      const { taskQueue } = await purchase.handle.describe();
      applying = await environment.client.workflow.start(APPLY_EVENT_WORKFLOW, {
        workflowId: applyEventWorkflowId(id),
        taskQueue,
        args: [{ inboxEventId: id }],
      });
      await applying.result();
    });
    if (applying === undefined) throw new Error('The event was not applied');
    return applying;
  },

  'answered-during-inquiry': async (playOut, options) => {
    const { charge, answer } = slowly();
    const gateway = createScriptedGateway({ charges: [charge], inquiries: [AWAY] });
    const settings = { handoverAfterMs: 50, ...options };
    const { purchase } = await playOut(gateway, settings, async ({ environment, purchase: begun }) => {
      await environment.sleep('8s');
      await untilCommand(begun.handle, 'activity inquire');
      answer();
      await untilCommand(begun.handle, 'signal rowChanged');
    });
    return purchase.handle;
  },
};

type Script = Parameters<typeof createScriptedGateway>[0];

function plainly(script: Script, settings: PlayOptions = {}, meanwhile?: (stage: Stage) => Promise<void>): PlayPath {
  return async (playOut, options) => {
    const { charges = [], inquiries = ['truth'], ...rest } = script ?? {};
    const gateway = createScriptedGateway({ ...rest, charges: [...charges], inquiries: [...inquiries] });
    const { purchase } = await playOut(gateway, { ...settings, ...options }, meanwhile);
    return purchase.handle;
  };
}

/** What a schedule starts, beside an order that needs none of it. */
function housekeeping(workflowType: string, ...args: readonly unknown[]): PlayPath {
  return async (playOut, options) => {
    let handle: WorkflowHandle | undefined;
    await playOut(createScriptedGateway(), options, async ({ environment, purchase }) => {
      const { taskQueue } = await purchase.handle.describe();
      const workflowId = `${workflowType}-${purchase.orderId}`;
      handle = await environment.client.workflow.start(workflowType, { workflowId, taskQueue, args: [...args] });
      await handle.result();
    });
    if (handle === undefined) throw new Error('The housekeeping was not started');
    return handle;
  };
}

/** A charge that moves the money at once and whose answer comes when the test says so. */
function slowly(): { readonly charge: ScriptedCharge; readonly answer: () => void } {
  let answer: () => void = () => undefined;
  const told = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const answers = async ({ body }: PreparedCharge): Promise<GatewayOutcome> => {
    await told;
    return { kind: 'approved', amount: (JSON.parse(body) as { readonly amount: Money }).amount, raw: 'approved' };
  };
  return { charge: { moves: true, answers }, answer: () => answer() };
}

/** In small steps, for the gateway is asked again a minute after the review began. */
function untilReview({ environment, purchase }: Stage): Promise<void> {
  return untilCommand(purchase.handle, 'timer 60 s', () => environment.sleep('5s'));
}
