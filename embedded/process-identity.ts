import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Whether there is a process of this id. A killed process that its parent has not yet reaped counts as there. */
export function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * What tells a process from a later one that got the same id: when it started, in words of the system. Null when there is
 * no such process, or a dead one that was not reaped. Process ids repeat soon in containers and after a reboot, so an id
 * from a file alone must never be killed or believed.
 */
export function startMark(processId: number): string | null {
  if (process.platform !== 'linux') return ask(processId, 'lstart=');
  try {
    // proc(5): the name in parentheses may hold spaces; behind it field 3 is the state and field 22 the start time.
    const fields = readFileSync(`/proc/${processId}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return fields[0] === 'Z' || fields[19] === undefined ? null : fields[19];
  } catch {
    return null;
  }
}

/** The command line of a process, words joined by spaces; empty when there is no such process. */
export function commandLine(processId: number): string {
  if (process.platform !== 'linux') return ask(processId, 'args=') ?? '';
  try {
    return readFileSync(`/proc/${processId}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

function ask(processId: number, field: string): string | null {
  const { stdout } = spawnSync('ps', ['-o', field, '-p', String(processId)], { encoding: 'utf8' });
  return stdout?.trim() || null;
}
