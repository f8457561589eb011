import type { OrderStatus } from '../../domain/order.ts';
import { createEngine } from '../memory/engine.ts';
import type { Violation } from '../oracle/invariants.ts';
import { UNWATCHED } from '../support/unwatched.ts';
import { CALM_GATEWAY, type Chaos, drawChaos, FAULTY_MS } from './chaos.ts';
import { connect, dropTransactions, QUIET, type SharedDatabase } from './database.ts';
import { createModelGateways, reachGateway } from './gateway.ts';
import { createWitness } from './judge.ts';
import type { Product } from './product.ts';
import {
  after,
  between,
  chance,
  createRandom,
  now,
  reset,
  runUntil,
  type SimulatedProcess,
} from './runtime/virtual.ts';
import { openShop } from './shop.ts';
import { type ActivityTable, createTemporal, type SimulatedWorker } from './temporal.ts';
import type { World } from './world.ts';

export interface SeedOptions {
  readonly seed: number;
  readonly orders: number;
  /** Constraints of the database that are not held. */
  readonly dropped?: readonly string[] | undefined;
  /** Is shown the world as it stands at the end, for whoever looks into a failure. */
  readonly inspect?: (world: World) => void;
}

export interface SeedReport {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly statuses: Readonly<Partial<Record<OrderStatus, number>>>;
  readonly charges: number;
  readonly crashes: number;
  readonly happenings: number;
  readonly replays: number;
}

const LIVENESS_MS = 7 * 24 * 3_600_000;
const WORKERS = 3;
/** Far more than any seed needs: something turns in circles. */
const HAPPENINGS_MAX = 1_000_000;

const QUIET_LOG = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Runs the world of one seed: three days with faults, then a week without, in which everything must be found out. */
export async function runSeed(product: Product, { seed, orders, inspect, dropped }: SeedOptions): Promise<SeedReport> {
  reset(createRandom(seed), (process) => pass(process));
  const chaos = drawChaos();
  const world = createWorld(product, chaos, dropped);
  /** Where a process could die or stand still, it may. */
  async function pass(process: SimulatedProcess): Promise<void> {
    if (world.faulty && process.alive && process !== world.api) strike(world, process);
    if (!process.alive) return new Promise(() => undefined);
    while (process.pausedUntil > now()) {
      await new Promise<void>((resolve) => after(process.pausedUntil - now(), resolve));
      if (!process.alive) return new Promise(() => undefined);
    }
  }
  openShop(world, orders);
  for (const outage of chaos.outages) after(outage.beginsMs, () => beginOutage(world, outage));
  const look = (): void => {
    world.counts.happenings += 1;
    if (world.database.holder === null) world.witness.lookAtNoted();
    if (world.counts.happenings > HAPPENINGS_MAX) world.witness.accuse('I15', 'the world never comes to rest');
    if (world.witness.violations().length > 0) throw new Stop();
  };
  try {
    await runUntil(now() + FAULTY_MS, look);
    calm(world);
    await runUntil(now() + LIVENESS_MS, look);
    world.witness.judgeAll();
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
  }
  inspect?.(world);
  return report(world, seed);
}

/** The first violation ends a seed: what follows from it would hide it. */
class Stop extends Error {}

function createWorld(product: Product, chaos: Chaos, dropped: readonly string[] = []): World {
  const gateways = createModelGateways(chaos.gateway);
  const engine = createEngine(() => new Date(now()).toISOString(), dropped);
  const workers: SimulatedWorker[] = [];
  const temporal = createTemporal(() => workers, chaos.evictions);
  const database: SharedDatabase = {
    engine,
    faults: chaos.database,
    awayUntil: 0,
    holder: null,
    waiting: [],
    onCommit: () => witness.look(),
  };
  const witness = createWitness({ engine, gateways, temporal });
  for (const gateway of gateways) gateway.onChange = ({ reference }) => witness.note(reference);
  const api: SimulatedProcess = { name: 'api', alive: true, pausedUntil: 0 };
  const world: World = {
    product,
    chaos,
    database,
    gateways,
    temporal,
    witness,
    api,
    counts: { crashes: 0, happenings: 0 },
    faulty: true,
  };
  for (let index = 0; index < WORKERS; index += 1) workers.push(startWorker(world, `worker ${index + 1}`));
  onDeath.set(world, (process) => {
    const place = workers.findIndex((worker) => worker.process === process);
    after(between(500, 30_000), () => {
      workers[place] = startWorker(world, process.name);
    });
  });
  return world;
}

const onDeath = new WeakMap<World, (process: SimulatedProcess) => void>();

function startWorker(world: World, name: string): SimulatedWorker {
  const process: SimulatedProcess = { name, alive: true, pausedUntil: 0 };
  const { product, gateways, temporal, database } = world;
  const reached = new Map(gateways.map((gateway) => [gateway.name, reachGateway(gateway, process)]));
  const tools = {
    database: connect(database, process),
    gateways: {
      get: (gatewayName: string) => {
        const gateway = reached.get(gatewayName);
        if (gateway === undefined) throw new Error(`No gateway ${gatewayName}`);
        return gateway;
      },
    },
    calls: product.createCallsInFlight(),
    clock: async () => new Date(now()),
    nudge: async (orderId: string) => temporal.signal(orderId, 'rowChanged'),
    resume: () => Promise.resolve('running'),
    askNow: () => Promise.resolve(true),
    watch: UNWATCHED,
    log: QUIET_LOG,
  };
  const activities = product.createActivities(tools as never) as unknown as ActivityTable;
  return { process, activities, cache: new Map() };
}

function strike(world: World, process: SimulatedProcess): void {
  const { crash, standstill } = world.chaos;
  if (crash > 0 && chance(crash)) kill(world, process);
  else if (standstill > 0 && chance(standstill)) process.pausedUntil = now() + between(500, 120_000);
}

function kill(world: World, process: SimulatedProcess): void {
  process.alive = false;
  world.counts.crashes += 1;
  dropTransactions(world.database, process);
  onDeath.get(world)?.(process);
}

function beginOutage(world: World, { part, lastsMs }: Chaos['outages'][number]): void {
  const until = now() + lastsMs;
  if (part === 'gateway') for (const gateway of world.gateways) gateway.awayUntil = until;
  else if (part === 'database') world.database.awayUntil = until;
  else world.temporal.beginOutage(until);
}

/** The faults stop. What is already on its way still arrives. */
function calm(world: World): void {
  world.faulty = false;
  world.database.faults = QUIET;
  for (const gateway of world.gateways) gateway.faults = CALM_GATEWAY;
}

function report({ witness, database, gateways, counts, temporal }: World, seed: number): SeedReport {
  const statuses: Partial<Record<OrderStatus, number>> = {};
  for (const { status } of database.engine.rows('orders')) {
    const key = status as OrderStatus;
    statuses[key] = (statuses[key] ?? 0) + 1;
  }
  const charges = gateways.flatMap(({ ledger }) => ledger).filter(({ status }) => status === 'approved').length;
  return {
    seed,
    violations: witness.violations(),
    statuses,
    charges,
    crashes: counts.crashes,
    happenings: counts.happenings,
    replays: temporal.executions().size,
  };
}
