import { painted, table } from '../cli/output.ts';
import type { Figures } from './figures.ts';
import type { Machine } from './machine.ts';
import type { Latency } from './percentiles.ts';
import type { LoadName } from './rounds.ts';
import { isReached, type Target } from './targets.ts';

export interface BenchReport {
  readonly machine: Machine;
  readonly rounds: { readonly run: number; readonly counted: number; readonly disturbed: boolean };
  readonly loads: Readonly<Record<LoadName, Figures>>;
  readonly ratioToFloor: { readonly at0ms: number; readonly at50ms: number };
  /** The 50 ms gateway's own call. */
  readonly gatewayCallMs: Latency;
  readonly addedMs: number;
  readonly besideSlowGateway: {
    readonly waiting: number;
    readonly orders: number;
    readonly latencyMs: Latency;
    /** Slowest while the many arrived, and while they were answered; null when none fell into it. */
    readonly arrivingMaxMs: number | null;
    readonly leavingMaxMs: number | null;
  };
  readonly repeatedPay: { readonly count: number; readonly latencyMs: Latency };
  readonly ledger: { readonly orders: number; readonly charges: number };
  readonly targets: readonly (Target & { readonly reached: boolean })[];
}

export function inWords(report: BenchReport): string {
  const { machine, besideSlowGateway: slow, repeatedPay, gatewayCallMs, ratioToFloor, ledger } = report;
  const ms = (value: number | null): string => (value === null ? 'none' : `${value.toFixed(0)} ms`);
  return [
    `${machine.date}: ${machine.cores} cores (${machine.processor}), ${machine.memoryGb} GB, Node ${machine.node}, PostgreSQL ${machine.postgres}, Temporal CLI ${machine.temporal}, load before ${machine.loadBefore.toFixed(1)}`,
    roundsLine(report.rounds),
    '',
    loadTable(report.loads),
    '',
    `purchases against empty workflows, 16 in flight: ${ratioToFloor.at0ms.toFixed(2)} at 0 ms, ${ratioToFloor.at50ms.toFixed(2)} at 50 ms`,
    `the 50 ms gateway's own call: ${latencyInWords(gatewayCallMs)}; paidonce adds ${report.addedMs.toFixed(1)} ms to the median`,
    `beside ${slow.waiting} orders at a gateway of 20 s: ${slow.orders} orders, ${latencyInWords(slow.latencyMs)}; slowest while the ${slow.waiting} arrived ${ms(slow.arrivingMaxMs)}, while they were answered ${ms(slow.leavingMaxMs)}`,
    `a final order paid again ${repeatedPay.count} times with Temporal stopped: ${latencyInWords(repeatedPay.latencyMs)}`,
    `the gateway's own ledger: ${ledger.charges} charges for ${ledger.orders} orders`,
    '',
    ...report.targets.map(targetLine),
  ].join('\n');
}

function roundsLine({ run, counted, disturbed }: BenchReport['rounds']): string {
  return disturbed
    ? `${run} rounds, ALL disturbed by other programs: a quiet machine gives other figures`
    : `${counted} rounds, and ${run - counted} more that other programs disturbed and that are not counted`;
}

function loadTable(loads: BenchReport['loads']): string {
  const heading = ['', 'per s', 'p50', 'p95', 'p99 ms', 'CPU ms: Node', 'Temporal', 'Postgres', 'commits', 'others'];
  const rows = Object.entries(loads).map(([name, { perSecond, latencyMs, cpuMs, commits, othersShare }]) => [
    name,
    perSecond.toFixed(1),
    latencyMs.p50.toFixed(1),
    latencyMs.p95.toFixed(1),
    latencyMs.p99.toFixed(1),
    cpuMs.node.toFixed(1),
    cpuMs.temporal.toFixed(1),
    cpuMs.postgres.toFixed(1),
    commits.toFixed(2),
    `${(100 * othersShare).toFixed(0)} %`,
  ]);
  return table([heading, ...rows]);
}

function latencyInWords({ p50, p95, p99, max }: Latency): string {
  const [middle, high, higher, slowest] = [p50, p95, p99, max].map((value) => value.toFixed(1));
  return `p50 ${middle}, p95 ${high}, p99 ${higher}, max ${slowest} ms`;
}

function targetLine(target: BenchReport['targets'][number]): string {
  const { name, measured, is, limit, unit } = target;
  const mark = isReached(target) ? painted('green', 'reached') : painted('red', 'MISSED ');
  return `${mark} ${name}: ${measured.toFixed(2)} (${is} ${limit} ${unit})`;
}
