import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const KIBIBYTES = 1_024;

/**
 * The memory of processes and all their descendants, in MiB. On Linux a page that several processes share is divided among
 * them; elsewhere it counts in full for each, which for Postgres' many processes is far too much.
 */
export function memoryOf(roots: Readonly<Record<string, number>>): Record<string, number> {
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,rss='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([id = 0, parent = 0, resident = 0]) => ({ id, parent, resident }));
  const sum = (id: number): number => {
    const own = proportional(id) ?? processes.find((process) => process.id === id)?.resident ?? 0;
    return processes.filter(({ parent }) => parent === id).reduce((total, child) => total + sum(child.id), own);
  };
  return Object.fromEntries(Object.entries(roots).map(([name, id]) => [name, Math.round(sum(id) / KIBIBYTES)]));
}

/** In KiB, as proc(5) gives it; undefined where there is no such file or it may not be read. */
function proportional(processId: number): number | undefined {
  try {
    const [, kibibytes] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${processId}/smaps_rollup`, 'utf8')) ?? [];
    return kibibytes === undefined ? undefined : Number(kibibytes);
  } catch {
    return undefined;
  }
}
