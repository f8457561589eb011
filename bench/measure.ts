import { createSimulatorControl } from '../gateways/simulator/control.ts';
import { figuresOf, rateRatio } from './figures.ts';
import { measureRepeatedPay } from './final-order.ts';
import { REFERENCE_OF_PLAIN_CALLS } from './gateway-call.ts';
import { describeMachine } from './machine.ts';
import type { Sample } from './meter.ts';
import { latencyOf, percentile } from './percentiles.ts';
import type { BenchReport } from './report.ts';
import { type Bench, LOADS, type LoadName, type Rounds, runRounds } from './rounds.ts';
import { measureBesideSlowGateway, type SlowGatewayTimes } from './slow-gateway.ts';
import { isReached, type Measured, targetsFor } from './targets.ts';

export type { Bench } from './rounds.ts';

/** @throws Error when the gateway's own ledger does not show one charge for each paid order */
export async function measureEverything(bench: Bench, loadBefore: number): Promise<BenchReport> {
  const { shop, database, plan, parts, remark } = bench;
  const machine = await describeMachine(database, loadBefore);
  const rounds = await runRounds(bench);
  remark(`${plan.waitingAtSlowGateway} orders at a gateway of 20 s, and others beside them`);
  const slow = await measureBesideSlowGateway(shop, database, plan.waitingAtSlowGateway);
  remark('a final order, paid again with Temporal stopped');
  const repeated = await measureRepeatedPay(shop, parts.temporal, plan.repeatedPays);
  const ledger = await compareWithLedger(bench);

  const figures = figuresByLoad(rounds);
  const gatewayCallMs = rounds.counted.flatMap((round) => round.gatewayCallMs);
  const addedMs = figures['gateway of 50 ms, 1 in flight'].latencyMs.p50 - percentile(gatewayCallMs, 0.5);
  const ratioToFloor = {
    at0ms: ratioAt16(rounds, 'gateway of 0 ms, 16 in flight'),
    at50ms: ratioAt16(rounds, 'gateway of 50 ms, 16 in flight'),
  };
  const besideSlowGateway = describeSlowGateway(slow, plan.waitingAtSlowGateway);
  const measured: Measured = {
    ratioToFloor: ratioToFloor.at0ms,
    addedMs,
    commits: figures['gateway of 0 ms, 16 in flight'].commits,
    healthyMaxMs: besideSlowGateway.latencyMs.max,
    answeredWithoutTemporal: repeated.length / plan.repeatedPays,
  };
  return {
    machine,
    rounds: { run: rounds.run, counted: rounds.counted.length, disturbed: rounds.disturbed },
    loads: figures,
    ratioToFloor,
    gatewayCallMs: latencyOf(gatewayCallMs),
    addedMs,
    besideSlowGateway,
    repeatedPay: { count: repeated.length, latencyMs: latencyOf(repeated) },
    ledger,
    targets: targetsFor(measured).map((target) => ({ ...target, reached: isReached(target) })),
  };
}

function figuresByLoad(rounds: Rounds): BenchReport['loads'] {
  const entries = LOADS.map(({ name }) => [name, figuresOf(samplesOf(rounds, name))]);
  return Object.fromEntries(entries) as BenchReport['loads'];
}

function ratioAt16(rounds: Rounds, load: LoadName): number {
  return rateRatio(samplesOf(rounds, load), samplesOf(rounds, 'empty workflow, 16 in flight'));
}

function samplesOf({ counted }: Rounds, load: LoadName): Sample[] {
  return counted.map(({ samples }) => samples[load]);
}

function describeSlowGateway(times: SlowGatewayTimes, waiting: number): BenchReport['besideSlowGateway'] {
  const slowest = (milliseconds: readonly number[]): number | null =>
    milliseconds.length === 0 ? null : percentile(milliseconds, 1);
  return {
    waiting,
    orders: times.waiting.length,
    latencyMs: latencyOf(times.waiting),
    arrivingMaxMs: slowest(times.arriving),
    leavingMaxMs: slowest(times.leaving),
  };
}

async function compareWithLedger({ database, simulatorAddress }: Bench): Promise<BenchReport['ledger']> {
  const rows = await createSimulatorControl(simulatorAddress).ledger();
  const charges = rows
    .filter(({ reference }) => !reference.startsWith(REFERENCE_OF_PLAIN_CALLS))
    .reduce((sum, row) => sum + row.charges, 0);
  const { rows: counted } = await database.query<{ readonly paid: number }>(
    `select count(*) as paid from orders where status = 'paid'`,
  );
  const orders = counted[0]?.paid ?? 0;
  if (charges !== orders) throw new Error(`The gateway's ledger shows ${charges} charges for ${orders} paid orders.`);
  return { orders, charges };
}
