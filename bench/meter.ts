import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../store/database.ts';
import { cpuOfTree, type MachineTimes, readMachine, readProcesses } from './cpu-time.ts';
import type { Timed } from './load.ts';

/** The processes whose CPU time is told apart, by their ids. */
export interface Parts {
  readonly node: number;
  readonly temporal: number;
  readonly postgres: number;
  readonly simulator: number;
}

export type PartTimes = Readonly<Record<keyof Parts, number>>;

/** What one run of a load has cost, all of it in sums, so that the runs of several rounds can be added up. */
export interface Sample extends Timed {
  readonly cpuMs: PartTimes;
  readonly commits: number;
  /** CPU time that programs outside of the bench took meanwhile: the measure of how far the figures can be trusted. */
  readonly othersMs: number;
  readonly machineMs: number;
}

/** The last answers are there before the last workflows have closed; what those cost belongs to the purchases too. */
const AFTERMATH_MS = 400;

/** Runs a load between two readings of everything that is counted. */
export async function meter(database: Database, parts: Parts, load: () => Promise<Timed>): Promise<Sample> {
  const before = await read(database, parts);
  const timed = await load();
  await sleep(AFTERMATH_MS);
  const after = await read(database, parts);
  const cpuMs = mapParts((part) => after.cpuMs[part] - before.cpuMs[part]);
  const ours = after.oursMs - before.oursMs;
  const busyMs = after.machine.busyMs - before.machine.busyMs;
  return {
    ...timed,
    cpuMs,
    commits: after.transactions - before.transactions,
    othersMs: Math.max(0, busyMs - ours),
    machineMs: after.machine.totalMs - before.machine.totalMs,
  };
}

interface Reading {
  readonly cpuMs: PartTimes;
  /** Of the bench with all that it started, whether it is told apart or not. */
  readonly oursMs: number;
  readonly machine: MachineTimes;
  readonly transactions: number;
}

async function read(database: Database, parts: Parts): Promise<Reading> {
  const transactions = await nextTransaction(database);
  const processes = readProcesses();
  return {
    cpuMs: mapParts((part) => cpuOfTree(parts[part], processes)),
    // Everything is a child of this process but Postgres, which its launcher leaves to the system.
    oursMs: cpuOfTree(process.pid, processes) + cpuOfTree(parts.postgres, processes),
    machine: readMachine(),
    transactions,
  };
}

/**
 * The number that the next writing transaction will get. Postgres gives a number to each transaction that writes and to no
 * other, and each of them waits for the disk at its commit (synchronous_commit is on), so a difference of two is the count
 * of durable commits. The statistics views do not say it: they count reading transactions too, and syncs of the log that
 * several commits share.
 */
async function nextTransaction(database: Database): Promise<number> {
  const { rows } = await database.query<{ readonly next: string }>(
    'select pg_snapshot_xmax(pg_current_snapshot())::text as next',
  );
  return Number(rows[0]?.next);
}

function mapParts(amountOf: (part: keyof Parts) => number): PartTimes {
  return {
    node: amountOf('node'),
    temporal: amountOf('temporal'),
    postgres: amountOf('postgres'),
    simulator: amountOf('simulator'),
  };
}
