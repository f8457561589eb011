import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { CodedError } from '../domain/errors.ts';
import { readIfThere, writePrivateFile } from './files.ts';
import { startMark } from './process-identity.ts';

/** Time for a rival that saw the same dead holder to have replaced the file too; the last one to do so holds the lock. */
const SETTLE_MS = 150;

const holderSchema = z.object({
  processId: z.number(),
  mark: z.string().nullable(),
  addresses: z.record(z.string(), z.string()),
});
type Holder = z.infer<typeof holderSchema>;

export interface StackLock {
  /** Leaves the addresses for whoever finds the lock taken. */
  publish(addresses: Readonly<Record<string, string>>): void;
  release(): void;
}

/**
 * Takes a data folder for one stack. A lock whose holder is dead is taken over: after a kill nothing needs to be removed
 * by hand.
 * @throws CodedError `stack_already_running`, with the addresses of the stack that runs
 */
export async function takeStackLock(path: string): Promise<StackLock> {
  const own: Holder = { processId: process.pid, mark: startMark(process.pid), addresses: {} };
  mkdirSync(dirname(path), { recursive: true });
  if (!create(path, own)) await takeOver(path, own);
  return {
    publish: (addresses) => writePrivateFile(path, JSON.stringify({ ...own, addresses })),
    release: () => {
      if (isHeldBy(readHolder(path), own)) rmSync(path, { force: true });
    },
  };
}

/** The addresses that a running stack left for others, or null when none runs on this data folder. */
export function findRunningStack(dataFolder: string): Readonly<Record<string, string>> | null {
  const holder = readHolder(lockFile(dataFolder));
  return holder !== null && isRunning(holder) ? holder.addresses : null;
}

export function lockFile(dataFolder: string): string {
  return join(dataFolder, 'stack.lock');
}

async function takeOver(path: string, own: Holder): Promise<void> {
  const holder = readHolder(path);
  if (holder !== null && isRunning(holder)) throw alreadyRunning(path, holder);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600 });
  renameSync(draft, path);
  await sleep(SETTLE_MS);
  const winner = readHolder(path);
  if (winner !== null && !isHeldBy(winner, own)) throw alreadyRunning(path, winner);
}

function create(path: string, own: Holder): boolean {
  try {
    writeFileSync(path, JSON.stringify(own), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Null for a file that is gone or that its writer never finished. */
function readHolder(path: string): Holder | null {
  try {
    return holderSchema.parse(JSON.parse(readIfThere(path) ?? 'null'));
  } catch {
    return null;
  }
}

function isRunning(holder: Holder): boolean {
  const mark = startMark(holder.processId);
  return mark !== null && mark === holder.mark;
}

function isHeldBy(holder: Holder | null, own: Holder): boolean {
  return holder !== null && holder.processId === own.processId && holder.mark === own.mark;
}

function alreadyRunning(path: string, holder: Holder): CodedError {
  const addresses = Object.entries(holder.addresses).map(([name, address]) => `${name} ${address}`);
  const where = addresses.length === 0 ? 'it is still starting' : addresses.join(', ');
  const sentence = `A paidonce stack (process ${holder.processId}) already runs on ${dirname(path)}: ${where}. Use that one, or stop it with Ctrl-C first.`;
  return new CodedError('stack_already_running', sentence);
}
