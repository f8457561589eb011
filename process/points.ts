import { spawn } from 'node:child_process';
import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { CodedError } from '../domain/errors.ts';

/**
 * The places along an order where the test build may be made to fail, by the number they have in docs/reliability.md. Each
 * is placed once in the code; test/unit/points.test.ts holds this table against it. What happens on the wire (P5, P6) is
 * the gateway simulator's to spoil.
 */
export const POINTS = {
  /** The API has the request and has stored nothing. */
  pay_received: 'P0',
  /** The order's row is there; its workflow is not started. */
  start_due: 'P1',
  /** The workflow runs; its attempt is not claimed. */
  attempt_begun: 'P2',
  /** The claim is committed; Temporal has not heard of it. */
  claim_committed: 'P3',
  /** The attempt is marked as sent; no byte has left. */
  send_permitted: 'P4',
  /** The gateway's answer is here; it is not stored. */
  answer_received: 'P7',
  /** The answer is stored; Temporal has not heard of it. */
  answer_recorded: 'P8',
  /** The gateway has answered an inquiry; nothing of it is stored. */
  inquiry_answered: 'P13',
  /** A transaction has done its work and is about to commit. */
  commit_due: 'P8',
  /** A transaction is committed; who asked for it has not heard. */
  committed: 'P8',
} as const;

export type PointName = keyof typeof POINTS;

/** What may be done to the process that comes to a point. */
const deed = z.discriminatedUnion('do', [
  /** SIGKILL: no handler, no `finally`, no last word. */
  z.strictObject({ do: z.literal('kill') }),
  /** SIGSTOP, and SIGCONT after so many seconds: the process comes back as if no time had passed. */
  z.strictObject({ do: z.literal('stop'), seconds: z.number().positive().max(600) }),
  z.strictObject({ do: z.literal('delay'), seconds: z.number().positive().max(600) }),
  /** An error as the database driver raises it: with a `code` and, where the server raised it, a `severity`. */
  z.strictObject({
    do: z.literal('throw'),
    message: z.string(),
    code: z.string().optional(),
    severity: z.string().optional(),
  }),
]);

export type Deed = z.infer<typeof deed>;

const folder = faultsFolder(process.env);
const NOTHING = Promise.resolve();

/**
 * Marks a place where a test may strike. Does nothing at all unless the process was started with TEST_FAULTS_FOLDER.
 * @param subject the order's id, so that of many orders one is struck
 */
export function reach(name: PointName, subject = ''): Promise<void> {
  return folder === undefined ? NOTHING : strike(folder, name, subject);
}

/** @throws CodedError `configuration_invalid` in production, where nothing may ever be made to fail */
function faultsFolder({ TEST_FAULTS_FOLDER, NODE_ENV }: NodeJS.ProcessEnv): string | undefined {
  if (TEST_FAULTS_FOLDER === undefined || NODE_ENV !== 'production') return TEST_FAULTS_FOLDER;
  throw new CodedError('configuration_invalid', 'TEST_FAULTS_FOLDER makes the product fail; unset it in production.');
}

/** A plan is a file. Whoever renames it has it, so that of several processes one is struck, and a restarted one never again. */
async function strike(plans: string, name: PointName, subject: string): Promise<void> {
  const plan = join(plans, `${name}@${subject}`);
  const taken = `${plan}.reached`;
  try {
    renameSync(plan, taken);
  } catch {
    return;
  }
  await carryOut(deed.parse(JSON.parse(readFileSync(taken, 'utf8'))));
}

async function carryOut(what: Deed): Promise<void> {
  switch (what.do) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      return;
    case 'stop':
      spawn('sh', ['-c', `sleep ${what.seconds}; kill -CONT ${process.pid}`], {
        detached: true,
        stdio: 'ignore',
      }).unref();
      process.kill(process.pid, 'SIGSTOP');
      return;
    case 'delay':
      await new Promise((resolve) => setTimeout(resolve, what.seconds * 1_000));
      return;
    case 'throw': {
      const { message, code, severity } = what;
      throw Object.assign(new Error(message), { ...(code && { code }), ...(severity && { severity }) });
    }
  }
}
