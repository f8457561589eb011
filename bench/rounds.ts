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

export interface Rounds {
  readonly samples: Readonly<Record<LoadName, readonly Sample[]>>;
  /** The plain call of the 50 ms gateway, without paidonce. */
  readonly gatewayCallMs: readonly number[];
}

/** Runs every load once a round, so that what changes on the machine in the meantime changes for all of them. */
export async function runRounds(bench: Bench): Promise<Rounds> {
  const { plan, remark } = bench;
  remark('warming up');
  for (const load of LOADS) await runLoad(bench, load, plan.warmUp);
  const samples = Object.fromEntries(LOADS.map(({ name }) => [name, []])) as unknown as Record<LoadName, Sample[]>;
  const gatewayCallMs: number[] = [];
  for (let round = 1; round <= plan.rounds; round += 1) {
    for (const load of LOADS) {
      remark(`round ${round} of ${plan.rounds}: ${load.name}`);
      samples[load.name].push(await runLoad(bench, load, load.inFlight === 1 ? plan.oneByOne : plan.sideBySide));
    }
    const { milliseconds } = await timeGatewayCalls(bench.simulatorAddress, 'fifty-ms', plan.oneByOne);
    gatewayCallMs.push(...milliseconds);
  }
  return { samples, gatewayCallMs };
}

async function runLoad(bench: Bench, { gateway, inFlight }: Load, count: number): Promise<Sample> {
  const { shop, database, floor, parts } = bench;
  if (gateway === null) {
    return meter(database, { ...parts, node: floor.processId }, () => floor.run(count, inFlight));
  }
  const orders = await createOrders(shop, gateway, count);
  return meter(database, parts, () => timeAll(orders, inFlight, (order) => payAndExpectPaid(shop, order)));
}
