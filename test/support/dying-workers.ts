import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { nodeProgram } from '../../embedded/processes.ts';
import type { Death, FromWorker, Plan, ToWorker } from './dying-worker-messages.ts';

/** A line of workers, one at work and the next one waiting: whenever one dies, the next takes over and another is started. */
export interface DyingWorkers {
  /** Tells the one at work where to die, once the next one is ready. */
  prepare(death: Death): Promise<void>;
  /** How many have killed themselves so far. */
  deaths(): number;
  /** The steps of an order, in the order in which the workers began them. */
  steps(orderId: string): readonly string[];
  stop(): Promise<void>;
}

interface Member {
  readonly child: ChildProcess;
  /** Everything is loaded and connected; it only has to be told to work. */
  readonly ready: Promise<void>;
  send(message: ToWorker): void;
  /** Resolves with the next message of this kind; those that came before are remembered. */
  heard(kind: FromWorker['kind']): Promise<void>;
}

const ENTRY = new URL('./dying-worker.ts', import.meta.url);

export function startDyingWorkers(plan: Plan): DyingWorkers {
  let deaths = 0;
  let stopping = false;
  let failure: Error | undefined;
  const steps: { readonly step: string; readonly orderId: string }[] = [];
  const startMember = (): Member => start(plan, (begun) => void steps.push(begun));
  let next = startMember();
  let atWork = takeOver();

  function takeOver(): Promise<Member> {
    const member = next;
    next = startMember();
    const working = member.ready.then(async () => {
      member.send({ kind: 'work' });
      await member.heard('works');
      return member;
    });
    member.child.once('exit', (code, signal) => {
      if (stopping) return;
      if (signal !== 'SIGKILL') failure = new Error(`A worker ended by itself: ${code ?? signal}`);
      deaths += 1;
      atWork = takeOver();
    });
    return working;
  }

  return {
    deaths: () => {
      if (failure !== undefined) throw failure;
      return deaths;
    },
    steps: (orderId) => steps.filter((begun) => begun.orderId === orderId).map(({ step }) => step),
    async prepare(death) {
      const [member] = await Promise.all([atWork, next.ready]);
      member.send({ kind: 'die', death });
      await member.heard('knows');
    },
    async stop() {
      stopping = true;
      const members = [await atWork, next];
      await Promise.all(members.map(({ child }) => end(child)));
    },
  };
}

type StepNews = Extract<FromWorker, { kind: 'step' }>;

function start(plan: Plan, onStep: (news: StepNews) => void): Member {
  const { command, parameters } = nodeProgram(ENTRY);
  const child = spawn(command, parameters, {
    env: { ...process.env, DYING_WORKER_PLAN: JSON.stringify(plan) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const send = (message: ToWorker): void => {
    if (child.connected) child.send(message);
  };
  const counts = new Map<FromWorker['kind'], number>();
  const waiting = new Map<FromWorker['kind'], (() => void)[]>();
  child.on('message', (message: FromWorker) => {
    const { kind } = message;
    if (kind === 'step') return onStep(message);
    const waits = waiting.get(kind)?.shift();
    if (waits === undefined) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    else waits();
  });
  const heard = (kind: FromWorker['kind']): Promise<void> =>
    new Promise((resolve) => {
      const before = counts.get(kind) ?? 0;
      if (before > 0) {
        counts.set(kind, before - 1);
        resolve();
      } else waiting.set(kind, [...(waiting.get(kind) ?? []), resolve]);
    });
  return { child, ready: heard('idle'), send, heard };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
