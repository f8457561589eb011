import { accessSync, chmodSync, constants, mkdirSync, statSync } from 'node:fs';
import { CodedError } from '../domain/errors.ts';
import type { Logger } from '../process/log.ts';
import { entryFile } from './project-layout.ts';
import { type ApplicationControl, controlApplication } from './stack-application.ts';
import { type Backing, startBacking, stopBacking } from './stack-backing.ts';
import { killAll, type PartName, runningParts, stopOnExit, whenLost } from './stack-ending.ts';
import { lockFile, type StackLock, takeStackLock } from './stack-lock.ts';
import type { PartSettings, StackPorts, StackProgress } from './stack-parts.ts';

export { defaultDataFolder } from './project-layout.ts';
export type { PartName } from './stack-ending.ts';
export { findRunningStack } from './stack-lock.ts';
export type { StackPorts, StackProgress } from './stack-parts.ts';

export interface StackOptions {
  /** Everything that the stack keeps, over restarts: databases, ledger, ports, secrets, logs. */
  readonly dataFolder: string;
  /** The Temporal CLI, or null when there is none; not needed with TEMPORAL_ADDRESS. */
  readonly temporalProgram: string | null;
  readonly searchAttributes: Readonly<Record<string, string>>;
  readonly log: Logger;
  readonly ports?: StackPorts;
  /** By default the environment of this process; DATABASE_URL, PG_BIN and TEMPORAL_ADDRESS are honoured. */
  readonly environment?: NodeJS.ProcessEnv;
  /** The gateway accounts of the application, made from the simulator's address. By default one, named "simulator". */
  readonly gateways?: (simulatorAddress: string) => readonly unknown[];
  /** Variables for the application that win over everything else. */
  readonly overrides?: Readonly<Record<string, string>>;
  /** What the application needs and can be made while the parts below it start. */
  readonly prepareApplication?: () => Promise<void>;
  /** Another program in the place of the application. */
  readonly applicationEntry?: URL;
  readonly onProgress?: (progress: StackProgress) => void;
}

export interface StackAddresses {
  readonly api: string;
  readonly docs: string;
  /** Null when Temporal is somebody else's: then its UI is not ours to know. */
  readonly temporalUi: string | null;
  readonly simulator: string;
  /** Without the password. */
  readonly database: string;
  readonly temporal: string;
}

export interface Stack {
  readonly addresses: StackAddresses;
  /** With the password: for connecting, never for showing. */
  readonly databaseUrl: string;
  readonly temporalNamespace: string;
  /** A key that may read, write and operate on this stack only. */
  readonly developmentKey: string;
  /** Process ids of the parts that are ours and run now. */
  processIds(): Partial<Record<PartName, number>>;
  /** Resolves with the name of the first part that ended without being asked to. */
  readonly partLost: Promise<PartName>;
  /** SIGKILL to the application, as a crash would. */
  killApplication(): Promise<void>;
  stopApplication(): Promise<void>;
  /** Starts the application again, at the same address. Variables given here hold for this start only. */
  startApplication(overrides?: Readonly<Record<string, string>>): Promise<void>;
  /** SIGKILL to every part of ours at once, as a power cut would; data and ports stay for the next startStack. */
  killEverything(): Promise<void>;
  /**
   * Stops what was started, in the order that lets each part finish: application, simulator, Temporal, Postgres. Does
   * nothing after killEverything or another stop.
   */
  stop(): Promise<void>;
}

/**
 * Starts everything on this machine, on the loopback address only: Postgres, Temporal and the gateway simulator side by
 * side, then the application. What a killed stack left behind on the same folder is taken over or replaced.
 * @throws CodedError `stack_already_running`, `program_missing`, `program_failed`; nothing keeps running then
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  makeWritable(options.dataFolder);
  const lock = await takeStackLock(lockFile(options.dataFolder));
  try {
    const settings: PartSettings = {
      dataFolder: options.dataFolder,
      ports: options.ports ?? {},
      environment: options.environment ?? process.env,
      log: options.log,
      onProgress: options.onProgress ?? (() => undefined),
    };
    const prepared = options.prepareApplication?.() ?? Promise.resolve();
    // Awaited below, after the other parts: until then its failure is not forgotten, only early.
    prepared.catch(() => undefined);
    const backing = await startBacking(settings, options);
    const application = controlApplication(settings, backing, {
      entry: options.applicationEntry ?? entryFile('cli/application'),
      gateways: (options.gateways ?? oneSimulator)(backing.simulator.address),
      overrides: options.overrides ?? {},
    });
    await prepared
      .then(() => application.start())
      .catch(async (error: unknown) => {
        await stopBacking(backing);
        throw error;
      });
    return completeStack(backing, application, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

function completeStack(backing: Backing, application: ApplicationControl, lock: StackLock): Stack {
  const addresses = addressesOf(backing, application.address());
  lock.publish(Object.fromEntries(Object.entries(addresses).filter(([, address]) => address !== null)));
  const processIds = () => runningParts(backing, application.current());
  const exitGuard = stopOnExit(processIds);
  const loss = whenLost(backing);
  let isOver = false;
  /** Once only: a second stop would end the Postgres of the next stack on the same folder. */
  const end = async (how: () => Promise<void>): Promise<void> => {
    if (isOver) return;
    isOver = true;
    loss.expect();
    try {
      await how();
    } finally {
      exitGuard.release();
      lock.release();
    }
  };
  return {
    addresses,
    databaseUrl: backing.database.url,
    temporalNamespace: backing.temporal.namespace,
    developmentKey: application.developmentKey,
    processIds,
    partLost: Promise.race([loss.lost, application.lost]),
    killApplication: application.kill,
    stopApplication: application.stop,
    startApplication: application.start,
    killEverything: () =>
      end(async () => {
        await Promise.all([application.kill(), killAll(backing)]);
      }),
    stop: () =>
      end(async () => {
        await application.stop();
        await stopBacking(backing);
      }),
  };
}

/** Every user may go through it, without seeing what is in it: as root, Postgres runs as another user further down. */
const PASS_THROUGH = 0o011;

function makeWritable(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    if (process.getuid?.() === 0) chmodSync(folder, statSync(folder).mode | PASS_THROUGH);
  } catch (cause) {
    const sentence = `The data folder ${folder} cannot be written to; was it made by another user, such as root?`;
    throw new CodedError('program_failed', sentence, { cause });
  }
}

function oneSimulator(url: string): readonly unknown[] {
  return [{ name: 'simulator', kind: 'simulator', settings: { url } }];
}

function addressesOf(backing: Backing, api: string): StackAddresses {
  const database = new URL(backing.database.url);
  database.password = '';
  return {
    api,
    docs: new URL('/docs', api).href,
    temporalUi: backing.temporal.server?.uiUrl ?? null,
    simulator: backing.simulator.address,
    database: database.href,
    temporal: backing.temporal.address,
  };
}
