import type { FaultInput } from '../../gateways/simulator/control.ts';
import type { Deed, PointName } from '../../process/points.ts';

export type Happening = 'kill_worker' | 'kill_api' | 'restart_database' | 'restart_temporal' | 'gateway_away';

/** What goes wrong for one order, and when. */
export type Strike =
  /** At a point in the product's code. */
  | { readonly at: 'point'; readonly point: PointName; readonly deed: Deed }
  /** At the gateway or on the way there. */
  | { readonly at: 'gateway'; readonly faults: readonly FaultInput['fault'][]; readonly times?: number }
  /** To a whole process, once the gateway holds the money and its answer is still to come. */
  | { readonly at: 'charged'; readonly happening: Happening }
  /** Many clicks at once, with a key each or one key. */
  | { readonly at: 'clicks'; readonly clicks: number; readonly keys: 'same' | 'new' };

export interface Cell {
  readonly fault: string;
  readonly point: string;
  readonly what: string;
  readonly strike: Strike;
  /** An account with the gateway's keys ignored, where only asking helps. */
  readonly account?: 'asks';
  readonly paymentMethod?: string;
}

/** A cell of the plan that cannot be walked, and why. */
export interface LeftOut {
  readonly fault: string;
  readonly point: string;
  readonly reason: string;
}

const KILL: Deed = { do: 'kill' };
const CUT: Deed = { do: 'throw', message: 'Connection terminated unexpectedly', code: 'ECONNRESET' };
const serverError = (code: string): Deed => ({ do: 'throw', message: 'undone for another', code, severity: 'ERROR' });

const WORKER_POINTS: readonly (readonly [PointName, string])[] = [
  ['attempt_begun', 'P2'],
  ['claim_committed', 'P3'],
  ['send_permitted', 'P4'],
  ['answer_received', 'P7'],
  ['answer_recorded', 'P8'],
];

const atPoint = (fault: string, [point, number]: readonly [PointName, string], deed: Deed): Cell => ({
  fault,
  point: number,
  what: `${deed.do} at ${point}`,
  strike: { at: 'point', point, deed },
});

const atGateway = (fault: string, point: string, ...faults: FaultInput['fault'][]): Cell => ({
  fault,
  point,
  what: faults.map(({ kind }) => kind).join(', '),
  strike: { at: 'gateway', faults },
});

const whenCharged = (fault: string, happening: Happening): Cell => ({
  fault,
  point: 'P6',
  what: happening,
  strike: { at: 'charged', happening },
});

/** Each on an account that honours keys and on one where only asking helps. */
const onBoth = (cell: Cell): Cell[] => [cell, { ...cell, account: 'asks' }];

const INQUIRY = ['inquiry_answered', 'P13'] as const;

/** Every cell that can be walked; a new point or fault is a row. */
export const CELLS: readonly Cell[] = [
  ...WORKER_POINTS.flatMap((point) => onBoth(atPoint('F1', point, KILL))),
  { ...atPoint('F1', INQUIRY, KILL), paymentMethod: 'tok_lost_answer' },
  whenCharged('F1', 'kill_worker'),
  atPoint('F2', ['pay_received', 'P0'], KILL),
  atPoint('F2', ['start_due', 'P1'], KILL),
  whenCharged('F2', 'kill_api'),
  ...onBoth(atGateway('F3', 'P6', { kind: 'lost_answer' })),
  ...[500, 502].map((status) => atGateway('F4', 'P6', { kind: 'error_after', status })),
  ...(['html', 'empty', 'truncated', 'cut_off'] as const).map((as) =>
    atGateway('F4', 'P6', { kind: 'unreadable', as }),
  ),
  atGateway('F5', 'P5', { kind: 'slow', seconds: 6, charge: 'at_the_end' }),
  ...onBoth(atGateway('F5', 'P6', { kind: 'slow', seconds: 6 })),
  atGateway('F5', 'P6', { kind: 'decline' }, { kind: 'slow', seconds: 6 }),
  atGateway('F5', 'P13', { kind: 'lost_answer' }, { kind: 'inquiry_slow', seconds: 12 }),
  ...[1, 3, 5].flatMap((seconds) => onBoth(atGateway('F6', 'P4', { kind: 'late', seconds }))),
  whenCharged('F7', 'gateway_away'),
  atGateway('F7', 'P4', { kind: 'not_accepted', status: 429 }),
  atGateway('F7', 'P13', { kind: 'lost_answer' }, { kind: 'inquiry_unavailable' }),
  ...onBoth(atGateway('F8', 'P4', { kind: 'never_arrives' })),
  atGateway('F9', 'P13', { kind: 'lost_answer' }, { kind: 'inquiry_not_found' }),
  atGateway('F9', 'P13', { kind: 'lost_answer' }, { kind: 'inquiry_stale_pending' }),
  ...([2, 20] as const).flatMap((clicks) =>
    (['same', 'new'] as const).map(
      (keys): Cell => ({
        fault: 'F10',
        point: 'P0',
        what: `${clicks} clicks, ${keys} key`,
        strike: { at: 'clicks', clicks, keys },
      }),
    ),
  ),
  ...(['commit_due', 'committed'] as const).map((point) => atPoint('F14', [point, 'P8'], CUT)),
  ...['40001', '40P01'].map((code) => atPoint('F14', ['commit_due', 'P8'], serverError(code))),
  ...WORKER_POINTS.filter(([point]) => point !== 'attempt_begun').map((point) => atPoint('F14', point, CUT)),
  whenCharged('F14', 'restart_database'),
  whenCharged('F15', 'restart_temporal'),
  // Longer than a call may take: who wakes up after that must not send, and others may have acted on its silence.
  ...WORKER_POINTS.flatMap((point) => onBoth(atPoint('F17', point, { do: 'stop', seconds: 10 }))),
];

export const LEFT_OUT: readonly LeftOut[] = [
  { fault: 'F1', point: 'P9, P10, P12, P14', reason: 'deliveries, webhooks and refunds have no points yet' },
  { fault: 'F2', point: 'P11, P12', reason: 'webhooks have no points yet' },
  { fault: 'F3-F8', point: 'P14', reason: 'refunds have no points yet' },
  { fault: 'F11-F13', point: 'all', reason: 'webhooks have no points yet' },
  { fault: 'F22', point: 'all', reason: 'cancelling against paying is tested by test/workflows, not walked here yet' },
  { fault: 'all', point: 'P15, P16', reason: 'reconciliation is not built' },
];

export function nameOf({ fault, point, what, account }: Cell): string {
  return `${fault} ${point}: ${what}${account === undefined ? '' : ', a gateway without keys'}`;
}
