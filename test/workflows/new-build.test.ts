import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningWorker } from '../../worker/run.ts';
import { SETTLE_UPDATE } from '../../workflows/messages.ts';
import { changedBundle } from '../support/changed-workflows.ts';
import { createTestDatabase } from '../support/database.ts';
import { startDevServer } from '../support/dev-server.ts';
import { commandsOf, historyFile } from '../support/histories.ts';
import {
  ANSWER_LOST,
  CHARGES,
  createScriptedGateway,
  DECLINES,
  type ScriptedGateway,
  UNREACHABLE,
} from '../support/scripted-gateway.ts';
import { waitUntil } from '../support/stack.ts';
import { type BuyOptions, createWorkbench, type Purchase } from '../support/workbench.ts';

/** A place where orders wait while a new version is installed. Each has a gateway, a task queue and a worker of its own. */
interface WaitingPlace {
  readonly what: string;
  readonly gateway: ScriptedGateway;
  readonly options: BuyOptions;
  readonly isThere: (purchase: Purchase) => Promise<boolean>;
  /** While the workers stop, which wait for the gateway calls that are on their way. */
  readonly whileStopping?: () => void;
  /** What lets the order go on, once the new version works. */
  readonly afterwards: (purchase: Purchase) => Promise<void>;
}

const ORDERS_EACH = 4;
const AWAY = { kind: 'unavailable', reason: 'connection refused' } as const;
const DECISION = { outcome: 'paid', operator: 'operator@shop.example', reason: 'Seen on the bank statement of today.' };

const { database } = await createTestDatabase();
let environment: TestWorkflowEnvironment;
beforeAll(async () => {
  environment = await startDevServer();
});
afterAll(() => environment.teardown());

test('C119: 20 orders that wait in five places are completed by a new build of the same workflows', async () => {
  const places = waitingPlaces();
  const benches = places.map(({ gateway }) => createWorkbench({ environment, database, gateway }));
  const workers = await Promise.all(benches.map((bench) => bench.startWorker()));
  const waiting = (await Promise.all(places.map((place, index) => bringThere(place, benches[index]!)))).flat();
  expect(waiting).toHaveLength(5 * ORDERS_EACH);

  await stopAll(workers, places);
  const bundle = await changedBundle([
    { file: 'workflows/purchase.ts', from: 'const DAY_MS', to: '// The same workflows in another file.\nconst DAY_MS' },
  ]);
  const renewed = await Promise.all(benches.map((bench) => bench.startWorker(bundle)));
  for (const { place, purchase } of waiting) await place.afterwards(purchase);
  for (const { place, purchase } of waiting) {
    expect(await purchase.handle.result(), place.what).toMatchObject({ status: 'paid' });
    const charges = [...place.gateway.ledger].filter(([reference]) => reference.startsWith(prefixOf(purchase)));
    expect(charges, place.what).toEqual([[purchase.reference((await purchase.row()).attemptNumber), 1]]);
    expect(await buildsOf(purchase), place.what).toHaveLength(2);
  }
  await stopAll(renewed, []);
});

function waitingPlaces(): WaitingPlace[] {
  const unreachable = createScriptedGateway({ charges: [UNREACHABLE] });
  const away = createScriptedGateway({ charges: [ANSWER_LOST], inquiries: [AWAY] });
  const silent = createScriptedGateway({ charges: [ANSWER_LOST], inquiries: [AWAY] });
  const slow = slowGateway();
  return [
    {
      what: 'for the customer, after a decline',
      gateway: createScriptedGateway({ charges: [...times(ORDERS_EACH, DECLINES), CHARGES] }),
      options: {},
      isThere: async (purchase) => (await purchase.row()).orderStatus === 'failed',
      afterwards: (purchase) => purchase.payAgain(2),
    },
    {
      what: 'between two attempts, while the gateway cannot be reached',
      gateway: unreachable,
      options: {},
      isThere: async (purchase) => (await purchase.row()).attemptNumber >= 3,
      afterwards: async () => void unreachable.charges.splice(0, 1, CHARGES),
    },
    {
      what: 'for an inquiry, while the gateway is away',
      gateway: away,
      options: { scheduleSeconds: [0.2, 5, 10, 15, 20, 30, 60] },
      isThere: async (purchase) => (await commandsSoFar(purchase)).includes('activity inquire'),
      afterwards: async () => void away.answersToInquiries.splice(0, 1, 'truth'),
    },
    {
      what: 'for an operator',
      gateway: silent,
      options: { scheduleSeconds: [0.1, 0.4] },
      isThere: async (purchase) => (await commandsSoFar(purchase)).includes('timer 60 s'),
      afterwards: async (purchase) => void (await purchase.handle.executeUpdate(SETTLE_UPDATE, { args: [DECISION] })),
    },
    {
      what: 'for the answer of a call that was handed over',
      gateway: slow.gateway,
      options: { handoverAfterMs: 50, scheduleSeconds: [600] },
      isThere: async (purchase) => (await commandsSoFar(purchase)).includes('timer 10 min'),
      whileStopping: slow.answer,
      afterwards: async () => undefined,
    },
  ];
}

/** Charges at once and keeps all answers back until it is told. */
function slowGateway(): { readonly gateway: ScriptedGateway; readonly answer: () => void } {
  let tell: () => void = () => undefined;
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const gateway = createScriptedGateway();
  const { charge } = gateway;
  gateway.charge = async (prepared, scope) => {
    const outcome = await charge(prepared, scope);
    await told;
    return outcome;
  };
  return { gateway, answer: () => tell() };
}

interface Waiting {
  readonly place: WaitingPlace;
  readonly purchase: Purchase;
}

async function bringThere(place: WaitingPlace, bench: ReturnType<typeof createWorkbench>): Promise<Waiting[]> {
  const purchases = await Promise.all(times(ORDERS_EACH, place.options).map((options) => bench.buy(options)));
  for (const purchase of purchases) await waitUntil(place.what, () => place.isThere(purchase));
  return purchases.map((purchase) => ({ place, purchase }));
}

async function stopAll(workers: readonly RunningWorker[], places: readonly WaitingPlace[]): Promise<void> {
  const stopped = Promise.all(workers.map((worker) => worker.stop()));
  for (const { whileStopping } of places) whileStopping?.();
  await stopped;
}

async function commandsSoFar({ handle }: Purchase): Promise<string[]> {
  return commandsOf(historyFile(await handle.fetchHistory()));
}

/** The workflow code that took part, by the hash that a worker gives with each task. */
async function buildsOf({ handle }: Purchase): Promise<string[]> {
  const { events } = await handle.fetchHistory();
  const builds = (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes: completed }) =>
    completed == null ? [] : [`${completed.binaryChecksum ?? ''}${completed.workerVersion?.buildId ?? ''}`],
  );
  return [...new Set(builds)];
}

function prefixOf(purchase: Purchase): string {
  return purchase.reference(1).slice(0, 26);
}

function times<Item>(count: number, item: Item): Item[] {
  return Array.from({ length: count }, () => item);
}
