import type { Shop } from '../cli/tour/shop.ts';
import type { Database } from '../store/database.ts';
import type { Floor } from './floor.ts';
import { timeGatewayCalls } from './gateway-call.ts';
import { timeAll } from './load.ts';
import { meter, type Parts, type Sample } from './meter.ts';
import type { Plan } from './plan.ts';
import { createOrders, payAndExpectPaid } from './purchases.ts';

export interface Bench {
  readonly shop: Shop;
  readonly database: Database;
  readonly floor: Floor;
  readonly parts: Parts;
  readonly simulatorAddress: string;
  readonly plan: Plan;
  readonly remark: (line: string) => void;
}

/** What is measured, by name: an empty workflow, or purchases at a gateway, with so many in flight. */
export const LOADS = [
  { name: 'empty workflow, 1 in flight', gateway: null, inFlight: 1 },
  { name: 'gateway of 0 ms, 1 in flight', gateway: 'at-once', inFlight: 1 },
  { name: 'gateway of 50 ms, 1 in flight', gateway: 'fifty-ms', inFlight: 1 },
  { name: 'gateway of 50 ms, 16 in flight', gateway: 'fifty-ms', inFlight: 16 },
  { name: 'empty workflow, 16 in flight', gateway: null, inFlight: 16 },
  { name: 'gateway of 0 ms, 16 in flight', gateway: 'at-once', inFlight: 16 },
] as const;

export type Load = (typeof LOADS)[number];
export type LoadName = Load['name'];

/** Every load once, so that what changes on the machine in the meantime changes for all of them. */
export interface Round {
  readonly samples: Readonly<Record<LoadName, Sample>>;
  /** The plain call of the 50 ms gateway, without paidonce. */
  readonly gatewayCallMs: readonly number[];
}

export interface Rounds {
  /** The rounds that count. */
  readonly counted: readonly Round[];
  /** How many were run. */
  readonly run: number;
  /** Other programs took part of the machine in each round, so that the figures are lower bounds at best. */
  readonly disturbed: boolean;
}

/** What other programs may take of the machine in any part of a round that counts. */
const OTHERS_SHARE_MAX = 0.1;

/** Runs rounds until enough were undisturbed by other programs, or as many as there is patience for. */
export async function runRounds(bench: Bench): Promise<Rounds> {
  const { plan, remark } = bench;
  remark('warming up');
  for (const load of LOADS) if (load.inFlight > 1) await runLoad(bench, load, plan.warmUp);
  const rounds: Round[] = [];
  const undisturbed = (): Round[] => rounds.filter((round) => othersShareOf(round) <= OTHERS_SHARE_MAX);
  while (undisturbed().length < plan.rounds && rounds.length < plan.roundsMax) {
    const round = await runRound(bench);
    rounds.push(round);
    const others = `other programs took up to ${(100 * othersShareOf(round)).toFixed(0)} % of the machine`;
    remark(`round ${rounds.length}: ${others}; ${undisturbed().length} of ${plan.rounds} undisturbed`);
  }
  const counted = undisturbed();
  if (counted.length > 0) return { counted, run: rounds.length, disturbed: false };
  return { counted: rounds, run: rounds.length, disturbed: true };
}

async function runRound(bench: Bench): Promise<Round> {
  const { plan, simulatorAddress } = bench;
  const samples: [LoadName, Sample][] = [];
  for (const load of LOADS) {
    const count = load.inFlight === 1 ? plan.oneByOne : plan.sideBySide;
    samples.push([load.name, await runLoad(bench, load, count)]);
  }
  const { milliseconds } = await timeGatewayCalls(simulatorAddress, 'fifty-ms', plan.oneByOne);
  return { samples: Object.fromEntries(samples) as Record<LoadName, Sample>, gatewayCallMs: milliseconds };
}

function othersShareOf({ samples }: Round): number {
  return Math.max(...Object.values(samples).map(({ othersMs, machineMs }) => othersMs / machineMs));
}

async function runLoad(bench: Bench, { gateway, inFlight }: Load, count: number): Promise<Sample> {
  const { shop, database, floor, parts } = bench;
  if (gateway === null) {
    return meter(database, { ...parts, node: floor.processId }, () => floor.run(count, inFlight));
  }
  const orders = await createOrders(shop, gateway, count);
  return meter(database, parts, () => timeAll(orders, inFlight, (order) => payAndExpectPaid(shop, order)));
}
