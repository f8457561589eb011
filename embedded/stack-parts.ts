import { join } from 'node:path';
import { z } from 'zod';
import { CodedError } from '../domain/errors.ts';
import type { Logger } from '../process/log.ts';
import { keptPort } from './ports.ts';
import { type RunningPostgres, resolveDatabase, startPostgres } from './postgres.ts';
import { endLeftover, nodeProgram, notReady, type RunningProcess, startProcess } from './processes.ts';
import { type RunningTemporal, startTemporalDevServer } from './temporal.ts';

const READY_WITHIN_MS = 60_000;
/** Longer than the longest call at a gateway that a stopping worker waits for (30 s) would be too long for Ctrl-C. */
const STOP_WITHIN_MS = 15_000;

const readyLine = z.object({ address: z.url() });

/** Ports to listen on; left out or 0, the same one as last time or a free one. */
export interface StackPorts {
  readonly api?: number;
  readonly simulator?: number;
  readonly temporal?: number;
  readonly temporalUi?: number;
  readonly database?: number;
}

export interface PartSettings {
  readonly dataFolder: string;
  readonly ports: StackPorts;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly onProgress: (progress: StackProgress) => void;
}

export interface StackProgress {
  readonly part: 'database' | 'temporal' | 'simulator' | 'application';
  readonly state: 'starting' | 'ready';
  /** Since the part was begun with. */
  readonly milliseconds: number;
}

/** Tells of a part's beginning and of its being ready. */
export async function withProgress<T>(
  settings: PartSettings,
  part: StackProgress['part'],
  start: () => Promise<T>,
): Promise<T> {
  const began = performance.now();
  settings.onProgress({ part, state: 'starting', milliseconds: 0 });
  const started = await start();
  settings.onProgress({ part, state: 'ready', milliseconds: Math.round(performance.now() - began) });
  return started;
}

/** A process of this project, up and answering. */
export interface ReadyProcess {
  readonly process: RunningProcess;
  readonly address: string;
}

export interface DatabasePart {
  /** With the password. */
  readonly url: string;
  /** Null when DATABASE_URL names a database that somebody else runs. */
  readonly server: RunningPostgres | null;
}

export interface TemporalPart {
  readonly address: string;
  readonly namespace: string;
  /** Null when TEMPORAL_ADDRESS names a server that somebody else runs. */
  readonly server: RunningTemporal | null;
}

export async function startDatabase(settings: PartSettings): Promise<DatabasePart> {
  const { dataFolder, ports, environment, log } = settings;
  const choice = resolveDatabase(environment);
  if (choice.kind === 'external') return { url: choice.url, server: null };
  const folder = join(dataFolder, 'postgres');
  const server = await startPostgres({
    dataFolder: folder,
    log,
    environment,
    ...(ports.database ? { port: ports.database } : {}),
  });
  return { url: server.url, server };
}

export async function startTemporal(
  settings: PartSettings,
  program: string | null,
  searchAttributes: Readonly<Record<string, string>>,
): Promise<TemporalPart> {
  const { dataFolder, ports, environment, log } = settings;
  const namespace = environment.TEMPORAL_NAMESPACE ?? 'default';
  if (environment.TEMPORAL_ADDRESS) return { address: environment.TEMPORAL_ADDRESS, namespace, server: null };
  if (program === null) {
    throw new CodedError(
      'program_missing',
      'The Temporal CLI is missing; run "npx paidonce doctor" to see how to get it, or set TEMPORAL_ADDRESS.',
    );
  }
  const server = await startTemporalDevServer({
    program,
    dataFolder: join(dataFolder, 'temporal'),
    log,
    searchAttributes,
    ...(ports.temporal ? { port: ports.temporal } : {}),
    ...(ports.temporalUi ? { uiPort: ports.temporalUi } : {}),
  });
  return { address: server.address, namespace: server.namespace, server };
}

export async function startSimulator(settings: PartSettings, entry: URL): Promise<ReadyProcess> {
  const folder = join(settings.dataFolder, 'simulator');
  await endLeftover('simulator', folder); // Before the port is looked at: it may hold it.
  const port = await keptPort(join(folder, 'port'), settings.ports.simulator);
  const variables = { SIMULATOR_PORT: String(port), SIMULATOR_LEDGER: join(folder, 'ledger.jsonl') };
  return startReady('simulator', entry, { folder, environment: { ...settings.environment, ...variables } });
}

/** The application: API and worker in one process, with what it needs to know in its environment. */
export async function startApplication(
  settings: PartSettings,
  entry: URL,
  variables: Readonly<Record<string, string>>,
): Promise<ReadyProcess> {
  const folder = join(settings.dataFolder, 'application');
  await endLeftover('application', folder);
  const port = await keptPort(join(folder, 'port'), settings.ports.api);
  const environment = {
    ...settings.environment,
    API_HOST: '127.0.0.1',
    API_PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    ...variables,
  };
  return startReady('application', entry, { folder, environment });
}

async function startReady(
  name: string,
  entry: URL,
  { folder, environment }: { folder: string; environment: NodeJS.ProcessEnv },
): Promise<ReadyProcess> {
  const plan = {
    name,
    ...nodeProgram(entry),
    environment,
    folder,
    stopSignal: 'SIGTERM',
    stopWithinMs: STOP_WITHIN_MS,
  } as const;
  const child = await startProcess(plan);
  const timer = setTimeout(() => void child.kill(), READY_WITHIN_MS);
  const line = await child.firstLine.finally(() => clearTimeout(timer));
  const ready = readyLine.safeParse(parseJson(line));
  if (ready.success) return { process: child, address: ready.data.address };
  await child.stop();
  throw await notReady(child, `The ${name}`);
}

function parseJson(line: string | null): unknown {
  try {
    return JSON.parse(line ?? 'null');
  } catch {
    return null;
  }
}
