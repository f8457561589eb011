import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { v7 as newId } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { createSimulatorGateway } from '../../gateways/simulator/adapter.ts';
import { changedBundle } from '../support/changed-workflows.ts';
import { createTestDatabase } from '../support/database.ts';
import { startDevServer } from '../support/dev-server.ts';
import type { Moment } from '../support/dying-worker-messages.ts';
import { type DyingWorkers, startDyingWorkers } from '../support/dying-workers.ts';
import { RESTART_CAPABILITIES, RESTART_PATHS, type RestartPath } from '../support/restart-paths.ts';
import { createLedgerFolder, type SimulatorProcess, startSimulatorProcess } from '../support/simulator-process.ts';
import { createWorkbench, type Workbench } from '../support/workbench.ts';

/**
 * Each path again, with the worker killed by SIGKILL before and after each of its steps: after means that the effect is
 * committed and Temporal has not heard of it. The next worker has to go on, and the gateway's ledger is the judge.
 *
 * On the dev server and in real time, because the time-skipping server never takes a task away from a worker that died
 * with the workflow in its cache: it knows no time-out for sticky queues.
 */
interface Killing {
  readonly path: RestartPath;
  readonly step: string;
  readonly nth: number;
  readonly moment: Moment;
}

const WORDS: Readonly<Record<Moment, string>> = {
  before_step: 'before',
  after_claim: 'after the claim and before "sent" was marked in',
  before_request: 'after "sent" was marked and before the request of',
  after_answer: 'after the answer and before the record of',
  after_step: 'after',
};

/**
 * "Before" only where something was told to Temporal since the step before: inside one workflow task, before a step is
 * the same as after the one before it.
 */
const isNewState = ({ step, moment }: Killing): boolean => moment !== 'before_step' || step !== 'look';

const killings = (path: RestartPath, moments: readonly Moment[]): Killing[] =>
  path.steps.flatMap((step, index) => {
    const nth = path.steps.slice(0, index + 1).filter((other) => other === step).length;
    return moments.map((moment) => ({ path, step, nth, moment }));
  });

/** Workers in a line wait for each other's time-outs most of the time, so several lines go side by side. */
const LINES = 4;
/** How soon a death inside a workflow task is noticed; far away where nobody dies and each step has to run once. */
const NOTICED_AFTER_MS = 2_000;
const NEVER_MS = 60_000;
const GATEWAY_NAME = 'simulator';

interface Line {
  readonly bench: Workbench;
  readonly workers: DyingWorkers;
}

const { database, url } = await createTestDatabase();
const folder = mkdtempSync(join(tmpdir(), 'paidonce-restarts-'));
const ledger = createLedgerFolder();
const lines: Line[] = [];
const free: Line[] = [];
const waiting: ((line: Line) => void)[] = [];
let environment: TestWorkflowEnvironment;
let simulator: SimulatorProcess;

beforeAll(async () => {
  [environment, simulator] = await Promise.all([startDevServer(), startSimulatorProcess(ledger.path)]);
  // A dead worker's inquiry is noticed by its time-out; nobody can wait for the product's 30 s sixteen times over.
  const { code } = await changedBundle([
    {
      file: 'workflows/steps.ts',
      from: 'startToCloseTimeout: 30_000,\n  cancellationType',
      to: 'startToCloseTimeout: 1_500,\n  cancellationType',
    },
  ]);
  const bundlePath = join(folder, 'workflows.js');
  writeFileSync(bundlePath, code);
  for (let index = 0; index < LINES; index += 1) lines.push(createLine(bundlePath));
  free.push(...lines);
});

afterAll(async () => {
  await Promise.all(lines.map(({ workers }) => workers.stop()));
  await environment.teardown();
  await simulator.stop();
  ledger.remove();
  rmSync(folder, { recursive: true, force: true });
});

describe('with all workers alive', () => {
  test.concurrent.for(RESTART_PATHS.map((path) => [path.what, path] as const))('%s', async ([, path]) => {
    await onLine(async (line) => {
      const orderId = await play(line, path);
      expect(line.workers.steps(orderId)).toEqual(path.steps);
    });
  });
});

describe('with a worker killed', () => {
  const around = RESTART_PATHS.flatMap((path) => killings(path, ['before_step', 'after_step']).filter(isNewState));
  test.concurrent.for(around.map(titled))('%s', ([, killing]) => playAndKill(killing));

  const inside = RESTART_PATHS.filter(({ what }) => /^(paid|declined, then paid)/.test(what))
    .flatMap((path) => killings(path, ['after_claim', 'before_request', 'after_answer']))
    .filter(({ step }) => step === 'makeAttempt');
  test.concurrent.for(inside.map(titled))('C06: %s', ([, killing]) => playAndKill(killing));
});

function titled(killing: Killing): readonly [string, Killing] {
  const { path, step, nth, moment } = killing;
  return [`${path.what}: ${WORDS[moment]} ${step} ${nth}`, killing];
}

async function playAndKill({ path, step, nth, moment }: Killing): Promise<void> {
  await onLine(async (line) => {
    const before = line.workers.deaths();
    await play(line, path, { step, nth, moment });
    expect(line.workers.deaths()).toBe(before + 1);
  });
}

/** @returns the order's id */
async function play(
  { bench, workers }: Line,
  { options, fault, meanwhile, ends, charges }: RestartPath,
  death?: Omit<Killing, 'path'>,
): Promise<string> {
  const orderId = newId();
  const prefix = merchantReference(orderId, 1).slice(0, 26);
  if (fault !== undefined) await simulator.control.addFault({ ...fault, match: { reference_prefix: prefix } });
  if (death !== undefined)
    await workers.prepare({ ...death, orderId, reference: merchantReference(orderId, death.nth) });
  const workflowTaskTimeoutMs = death === undefined ? NEVER_MS : NOTICED_AFTER_MS;
  const purchase = await bench.buy({ ...options, orderId, workflowTaskTimeoutMs });
  await meanwhile?.(purchase);
  expect(await purchase.handle.result()).toMatchObject(ends);
  expect((await purchase.row()).orderStatus).toBe(ends.status);
  const rows = await simulator.control.ledger({ prefix });
  expect(rows.reduce((sum, row) => sum + row.charges, 0)).toBe(charges);
  // This gateway would forgive a second request. None must have come: others do not forgive it.
  expect(rows.map(({ requests }) => requests)).toEqual(rows.map(() => 1));
  return orderId;
}

function createLine(bundlePath: string): Line {
  const settings = { url: simulator.address, capabilities: RESTART_CAPABILITIES };
  const gateway = { name: GATEWAY_NAME, settings };
  const bench = createWorkbench({ environment, database, gateway: createSimulatorGateway(gateway) });
  const workers = startDyingWorkers({
    temporalAddress: environment.address,
    namespace: environment.namespace ?? 'default',
    taskQueue: bench.taskQueue,
    databaseUrl: url,
    bundlePath,
    gateway,
  });
  return { bench, workers };
}

/** Plays on a line that is free. First come, first served: a test must not be overtaken until it times out. */
async function onLine(work: (line: Line) => Promise<void>): Promise<void> {
  const line = free.shift() ?? (await new Promise<Line>((resolve) => waiting.push(resolve)));
  try {
    await work(line);
  } finally {
    const next = waiting.shift();
    if (next === undefined) free.push(line);
    else next(line);
  }
}
