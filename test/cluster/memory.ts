import { execFileSync } from 'node:child_process';

const MEBIBYTE_IN_KIBIBYTES = 1_024;

/**
 * The resident memory of processes and all their descendants, in MiB, as `ps` counts it. What Postgres' processes share is
 * counted in each of them, so for Postgres the figure is an upper bound.
 */
export function residentMemory(roots: Readonly<Record<string, number>>): Record<string, number> {
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,rss='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([id = 0, parent = 0, kibibytes = 0]) => ({ id, parent, kibibytes }));
  const sum = (id: number): number => {
    const own = processes.find((process) => process.id === id)?.kibibytes ?? 0;
    return processes.filter(({ parent }) => parent === id).reduce((total, child) => total + sum(child.id), own);
  };
  return Object.fromEntries(
    Object.entries(roots).map(([name, id]) => [name, Math.round(sum(id) / MEBIBYTE_IN_KIBIBYTES)]),
  );
}
