import type { Change } from '../support/changed-workflows.ts';

/** A mistake that somebody could make, as a change of the product's text; the product itself has no switch for it. */
export interface Bug {
  readonly name: string;
  readonly changes: readonly Change[];
  /** Constraints and guards of the database that somebody has dropped. */
  readonly dropped?: readonly string[];
}

const CHARGE = 'activities/purchase/charge.ts';
const MARK = 'if (!(await markSent(tools.database, { orderId, attemptNumber, run, ...request }))) {';
const IS_CLAIMED = "row.attempt?.status !== 'claimed' || row.attemptNumber !== attemptNumber";
const AMOUNT = '    amount: row.amount,\n    paymentMethod';

export const BUGS: readonly Bug[] = [
  {
    name: 'sends-again-on-retry',
    changes: [
      { file: CHARGE, from: IS_CLAIMED, to: 'row.attempt === null' },
      {
        file: CHARGE,
        from: MARK,
        to: `await markSent(tools.database, { orderId, attemptNumber, run, ...request });\n  if (row.attempt === null) {`,
      },
      { file: 'activities/purchase/claim.ts', from: "row.attempt.status !== 'claimed'", to: 'row.attempt === null' },
      {
        file: 'activities/purchase/claim.ts',
        from: 'row.attempt.claimedByRun === run ||',
        to: 'row.attempt !== null ||',
      },
    ],
  },
  {
    name: 'sends-before-the-mark',
    changes: [
      {
        file: CHARGE,
        from: MARK,
        to: `await gateway.charge(prepared, { timeoutMs: 30_000, saveGatewayReference: async () => undefined });\n  ${MARK}`,
      },
    ],
  },
  {
    name: 'repeats-where-nothing-protects',
    changes: [
      {
        file: 'domain/after-unknown.ts',
        from: 'const steps: ResolutionStep[] = [];',
        to: "const steps: ResolutionStep[] = ['replay_same_request'];",
      },
    ],
  },
  {
    name: 'key-with-a-clock',
    changes: [
      {
        file: CHARGE,
        from: 'requestKey: prepared.requestKey,',
        to: 'requestKey: prepared.requestKey + Date.now(),',
      },
    ],
  },
  {
    name: 'time-out-is-failure',
    changes: [
      {
        file: 'activities/purchase/send.ts',
        from: 'const outcome = await callGateway(tools, send);',
        to: "const heard = await callGateway(tools, send);\n  const outcome = heard.kind === 'unknown' ? { kind: 'not_processed', declineCode: 'never_arrived', reason: 'time-out', raw: '' } as const : heard;",
      },
    ],
  },
  {
    name: 'not-found-is-failed',
    changes: [
      {
        file: 'domain/after-unknown.ts',
        from: 'return secondsSinceLastSent >= capabilities.callTimeoutSeconds + absentConclusiveAfterSeconds;',
        to: 'return secondsSinceLastSent >= 0;',
      },
    ],
  },
  {
    name: 'forgets-the-time-of-delivery',
    changes: [
      {
        file: 'domain/after-unknown.ts',
        from: 'return secondsSinceLastSent >= capabilities.callTimeoutSeconds + absentConclusiveAfterSeconds;',
        to: 'return secondsSinceLastSent >= capabilities.callTimeoutSeconds;',
      },
    ],
  },
  {
    name: 'silence-is-absence',
    changes: [
      {
        file: 'activities/purchase/find-out.ts',
        from: "    case 'unavailable':\n      return",
        to: "    case 'unavailable':\n      if (answer.reason !== '') return { kind: 'news', reason: '', outcome: { kind: 'not_processed', declineCode: 'never_arrived', reason: 'silence', raw: '' } };\n      return",
      },
    ],
  },
  {
    name: 'pending-counts-as-paid',
    changes: [{ file: 'domain/attempt.ts', from: "pending: 'processing',", to: "pending: 'paid'," }],
    dropped: ['orders_final_status_has_evidence'],
  },
  {
    name: 'action-counts-as-paid',
    changes: [
      { file: 'domain/attempt.ts', from: "requires_action: 'requires_action',", to: "requires_action: 'paid'," },
    ],
    dropped: ['orders_final_status_has_evidence'],
  },
  {
    name: 'yen-times-hundred',
    changes: [
      {
        file: CHARGE,
        from: AMOUNT,
        to: "    amount: row.amount.currency === 'JPY' ? { ...row.amount, minorUnits: row.amount.minorUnits * 100 } : row.amount,\n    paymentMethod",
      },
    ],
  },
  {
    name: 'amount-as-a-decimal',
    changes: [
      {
        file: CHARGE,
        from: AMOUNT,
        to: '    amount: { ...row.amount, minorUnits: row.amount.minorUnits / 100 },\n    paymentMethod',
      },
    ],
  },
  {
    name: 'paid-is-not-told',
    changes: [{ file: 'store/orders/records.ts', from: "  paid: 'order.paid',\n", to: '' }],
  },
  {
    name: 'gives-up-in-silence',
    changes: [
      {
        file: 'workflows/resolve.ts',
        from: 'desk.standing = await local.putInReview({ orderId: input.orderId, reason: REVIEW_REASON });',
        to: 'desk.standing = await local.look({ orderId: input.orderId });',
      },
    ],
  },
  {
    name: 'state-outside-of-the-history',
    changes: [
      {
        file: 'workflows/make-attempts.ts',
        from: 'export async function makeAttempts',
        to: 'let made = 0;\n\nexport async function makeAttempts',
      },
      {
        file: 'workflows/make-attempts.ts',
        from: '  let attemptNumber = request.attemptNumber;',
        to: '  made += 1;\n  if (made % 2 === 0) await sleep(1);\n  let attemptNumber = request.attemptNumber;',
      },
    ],
  },
  {
    name: 'gives-up-after-one-try',
    changes: [
      {
        file: 'workflows/steps.ts',
        from: 'maximumInterval: 5_000 },',
        to: 'maximumInterval: 5_000, maximumAttempts: 1 },',
      },
    ],
  },
  {
    name: 'next-attempt-forgets-review',
    changes: [
      {
        file: 'domain/ruling.ts',
        from: "if (outcome.kind === 'not_processed' && anotherFollows && orderStatus === 'processing') return orderStatus;",
        to: "if (outcome.kind === 'not_processed' && anotherFollows) return orderStatus;",
      },
    ],
  },
];
