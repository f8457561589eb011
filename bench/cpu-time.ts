import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts in ticks of 1/100 s for programs, on every architecture that Node runs on (sysconf(_SC_CLK_TCK)). */
const TICK_MS = 10;

export interface ProcessTimes {
  readonly parent: number;
  /** User and system time of the process and of its children that have ended and were waited for. */
  readonly milliseconds: number;
}

/**
 * Reads one line of /proc/<id>/stat (proc_pid_stat(5)). The program's name stands in parentheses and may hold spaces and
 * parentheses itself, so the fields are counted from the last closing one.
 */
export function parseProcessStat(line: string): ProcessTimes {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const ticks = [11, 12, 13, 14].map((index) => Number(fields[index]));
  return { parent: Number(fields[1]), milliseconds: ticks.reduce((sum, value) => sum + value, 0) * TICK_MS };
}

/**
 * CPU time spent so far by a process and everything below it. A Postgres session that ends between two readings is not
 * lost: its time moves to the postmaster that waited for it.
 */
export function cpuOfTree(root: number, processes: ReadonlyMap<number, ProcessTimes>): number {
  let sum = processes.get(root)?.milliseconds ?? 0;
  for (const [id, { parent }] of processes) if (parent === root) sum += cpuOfTree(id, processes);
  return sum;
}

export function readProcesses(): Map<number, ProcessTimes> {
  const processes = new Map<number, ProcessTimes>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const line = readStat(name);
    if (line !== undefined) processes.set(Number(name), parseProcessStat(line));
  }
  return processes;
}

function readStat(id: string): string | undefined {
  try {
    return readFileSync(`/proc/${id}/stat`, 'utf8');
  } catch {
    return undefined; // It ended between the listing and the reading.
  }
}

/** CPU time that all programs of the machine together have spent, and that there was to spend. */
export interface MachineTimes {
  readonly busyMs: number;
  readonly totalMs: number;
}

/** Reads the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal, all in ticks. */
export function parseMachineStat(text: string): MachineTimes {
  const ticks = (text.split('\n', 1)[0] ?? '').split(/\s+/).slice(1, 9).map(Number);
  const total = ticks.reduce((sum, value) => sum + value, 0);
  const waiting = (ticks[3] ?? 0) + (ticks[4] ?? 0);
  return { busyMs: (total - waiting) * TICK_MS, totalMs: total * TICK_MS };
}

export function readMachine(): MachineTimes {
  return parseMachineStat(readFileSync('/proc/stat', 'utf8'));
}
