const shows = (status: string, review = false): string => `shows NeedsReview=${review} OrderStatus=${status}`;
const ends = (status: string, attempts: number, provenBy: string): string =>
  `ends ${JSON.stringify({ status, attempts, provenBy })}`;

const ATTEMPT = ['local makeAttempt'];
const HANDED_OVER = [...ATTEMPT, 'timer 5 s'];
const FOUND_BY_INQUIRY = ['activity inquire', shows('paid'), ends('paid', 1, 'inquiry')];
const TRIED_AGAIN = [
  'timer 72 h',
  'signal pay',
  'timer cancelled',
  ...ATTEMPT,
  shows('paid'),
  ends('paid', 2, 'gateway_response'),
];
const IN_REVIEW = [
  ...ATTEMPT,
  shows('unknown'),
  'timer 5 s',
  'activity inquire',
  'local putInReview',
  shows('unknown', true),
  'timer 60 s',
];
const SETTLING = ['update settle', 'local settle', 'update answered', 'timer cancelled'];
const SETTLED = [shows('paid'), ends('paid', 1, 'operator_decision')];
const ANSWERED_LATE = ['local look', shows('paid'), ends('paid', 1, 'gateway_response')];

const REFUND_ENDS = 'ends {"status":"succeeded"}';
const REFUND_IN_DOUBT = ['local sendRefund', 'timer 5 s', 'activity inquireRefund'];

/**
 * What each path makes the workflow do, in the words of `commandsOf`, written by hand. Replay alone is not enough: a
 * renamed step, another wait or another shown value can pass it and still send orders in flight the wrong way. Whoever
 * changes a line here changes orders that are on their way: use `patched`, or a new workflow type, and record again.
 */
export const EXPECTED_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  refunded: ['local sendRefund', REFUND_ENDS],
  'refund-refused': ['local sendRefund', 'ends {"status":"failed"}'],
  'refund-answer-lost': [...REFUND_IN_DOUBT, REFUND_ENDS],
  'refund-unreachable-then-made': ['local sendRefund', 'timer 1 s', 'local sendRefund', REFUND_ENDS],
  'refund-never-arrived-asked-and-sent-again': [...REFUND_IN_DOUBT, 'local sendRefund', REFUND_ENDS],
  'refund-reviewed-then-found': [
    ...REFUND_IN_DOUBT,
    'local putRefundInReview',
    'timer 60 s',
    'activity inquireRefund',
    REFUND_ENDS,
  ],
  'refund-answered-after-handover': [
    'local sendRefund',
    'timer 5 s',
    'signal rowChanged',
    'timer cancelled',
    'local lookAtRefund',
    REFUND_ENDS,
  ],
  'refund-waits-for-a-dispute': [
    'local sendRefund',
    'timer 6 h',
    'signal rowChanged',
    'timer cancelled',
    'local sendRefund',
    REFUND_ENDS,
  ],
  paid: [...ATTEMPT, shows('paid'), ends('paid', 1, 'gateway_response')],
  'answer-lost': [...ATTEMPT, shows('unknown'), 'timer 5 s', ...FOUND_BY_INQUIRY],
  'never-arrived-sent-again': [
    ...ATTEMPT,
    shows('unknown'),
    'timer 5 s',
    'activity inquire',
    shows('paid'),
    ends('paid', 1, 'gateway_response'),
  ],
  'never-arrived-then-paid': [
    ...ATTEMPT,
    shows('unknown'),
    'timer 5 s',
    'activity inquire',
    shows('failed'),
    ...TRIED_AGAIN,
  ],
  'declined-then-cancelled': [
    ...ATTEMPT,
    shows('failed'),
    'timer 72 h',
    'signal cancel',
    'timer cancelled',
    'local look',
    shows('cancelled'),
    ends('cancelled', 1, 'gateway_response'),
  ],
  'cancelled-while-the-customer-acts': [
    ...ATTEMPT,
    shows('requires_action'),
    'timer 60 min',
    'signal cancel',
    'timer cancelled',
    'local look',
    'activity inquire',
    'local cancel',
    shows('cancelled'),
    ends('cancelled', 1, 'inquiry'),
  ],
  'action-left-alone': [
    ...ATTEMPT,
    shows('requires_action'),
    'timer 5 s',
    'activity inquire',
    shows('failed'),
    'local expire',
    shows('expired'),
    ends('expired', 1, 'inquiry'),
  ],
  'requires-action': [...ATTEMPT, shows('requires_action'), 'timer 5 s', ...FOUND_BY_INQUIRY],
  'unreachable-then-paid': [
    ...ATTEMPT,
    'timer 1 s',
    ...ATTEMPT,
    'timer 2 s',
    ...ATTEMPT,
    shows('paid'),
    ends('paid', 3, 'gateway_response'),
  ],
  'declined-then-paid': [...ATTEMPT, shows('failed'), ...TRIED_AGAIN],
  'declined-then-expired': [
    ...ATTEMPT,
    shows('failed'),
    'timer 2 h',
    'local expire',
    shows('expired'),
    ends('expired', 1, 'gateway_response'),
  ],
  'refused-then-expired': [
    ...ATTEMPT,
    shows('created'),
    'local expire',
    shows('expired'),
    ends('expired', 0, 'never_sent'),
  ],
  'handed-over-then-found': [...HANDED_OVER, ...FOUND_BY_INQUIRY],
  'handed-over-then-answered': [...HANDED_OVER, 'signal rowChanged', 'timer cancelled', ...ANSWERED_LATE],
  'answered-during-inquiry': [
    ...HANDED_OVER,
    'activity inquire',
    'signal rowChanged',
    'activity cancelled',
    ...ANSWERED_LATE,
  ],
  'event-before-the-answer': [
    ...HANDED_OVER,
    'signal eventStored',
    'timer cancelled',
    'local applyEvents',
    shows('paid'),
    ends('paid', 1, 'webhook'),
  ],
  'event-after-a-decline': [
    ...ATTEMPT,
    shows('failed'),
    'timer 2 h',
    'signal eventStored',
    'timer cancelled',
    'local applyEvents',
    'timer 2 h',
    'local expire',
    shows('expired'),
    ends('expired', 1, 'gateway_response'),
  ],
  'event-without-a-purchase': ['local applyEvent', 'ends "nothing_new"'],
  'reviewed-then-settled': [...IN_REVIEW, ...SETTLING, 'local look', ...SETTLED],
  'reviewed-then-found': [...IN_REVIEW, ...FOUND_BY_INQUIRY],
  'only-a-person-can-tell': [
    ...IN_REVIEW,
    'activity inquire',
    'local putInReview',
    'timer 24 h',
    ...SETTLING,
    ...SETTLED,
  ],
  'expire-unpaid-orders': ['activity expireUnpaidOrders', 'ends 0'],
  'called-while-waiting': [
    ...ATTEMPT,
    shows('unknown'),
    'timer 60 min',
    'signal askNow',
    'timer cancelled',
    ...FOUND_BY_INQUIRY,
  ],
  'called-during-inquiry': [
    ...ATTEMPT,
    shows('unknown'),
    'timer 5 s',
    'activity inquire',
    'signal askNow',
    'activity cancelled',
    ...FOUND_BY_INQUIRY,
  ],
  recover: ['activity askWaitingOrders', 'ends 0'],
  sweep: [
    'activity resumeOrders',
    'activity resumeRefunds',
    'activity sweepInbox',
    'activity countStuckDeliveries',
    'ends {"looked":0,"resumed":0,"refundsResumed":0,"eventsApplied":0,"eventsPooled":0,"stuckDeliveries":0}',
  ],
};
