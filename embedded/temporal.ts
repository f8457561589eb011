import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../process/log.ts';
import { freePort, keptPort } from './ports.ts';
import { endLeftover, notReady, type RunningProcess, startProcess } from './processes.ts';

const NAME = 'temporal';
const NAMESPACE = 'default';
/** The dev server's own default of one day is too short to look at yesterday's orders; the same as in production. */
export const RETENTION_SECONDS = 30 * 24 * 3_600;
const START_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 10_000;
const POLL_MS = 25;
const ANSWER_WITHIN_MS = 5_000;

/**
 * A write-ahead log makes the server 1.5 times as fast (measured: 53 instead of 33 empty workflows/s on two busy cores)
 * and lets readers in beside the writer. "normal" survives every kill of the process; after a power cut the file is sound
 * and the last moments may be gone, which paidonce can stand: the orders are in Postgres, which waits for the disk.
 */
const PRAGMAS = ['journal_mode=wal', 'synchronous=normal'];

export interface TemporalOptions {
  /** The Temporal CLI, as found by the set-up. */
  readonly program: string;
  /** Where the database file, the ports and the log are kept. Made when it is not there. */
  readonly dataFolder: string;
  readonly log: Logger;
  /** Left out: the same as last time, or free ones. */
  readonly port?: number;
  readonly uiPort?: number;
  /** Search attributes to register: name and type in the words of the CLI. */
  readonly searchAttributes: Readonly<Record<string, string>>;
}

export interface RunningTemporal {
  /** host:port of the gRPC face. */
  readonly address: string;
  readonly uiUrl: string;
  readonly namespace: string;
  readonly processId: number;
  readonly process: RunningProcess;
  stop(): Promise<void>;
}

/**
 * Starts the Temporal dev server on a database file. A server left over by a killed parent is ended and replaced, not
 * taken over: nothing is lost, since its state is in the file, and so it is known to run with these settings.
 * @throws CodedError `program_failed`
 */
export async function startTemporalDevServer(options: TemporalOptions): Promise<RunningTemporal> {
  const { dataFolder, log } = options;
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  await endLeftover(NAME, dataFolder); // Before the ports are looked at: it may hold them.
  const port = await keptPort(join(dataFolder, 'port'), options.port);
  const uiPort = await keptPort(join(dataFolder, 'ui-port'), options.uiPort);
  const httpPort = await freePort();
  const server = await startProcess({
    name: NAME,
    command: options.program,
    parameters: parametersFor(options, { port, uiPort, httpPort }),
    environment: process.env,
    folder: dataFolder,
    stopSignal: 'SIGINT',
    stopWithinMs: STOP_WITHIN_MS,
  });
  try {
    await waitUntilServing(server, httpPort);
    await keepHistories(httpPort);
  } catch (error) {
    await server.stop();
    throw error;
  }
  log.info({ port, uiPort, processId: server.processId }, 'Temporal is up');
  return {
    address: `127.0.0.1:${port}`,
    uiUrl: `http://127.0.0.1:${uiPort}`,
    namespace: NAMESPACE,
    processId: server.processId,
    process: server,
    stop: () => server.stop(),
  };
}

function parametersFor(options: TemporalOptions, ports: { port: number; uiPort: number; httpPort: number }): string[] {
  const parameters = [
    'server',
    'start-dev',
    '--ip',
    '127.0.0.1',
    '--db-filename',
    join(options.dataFolder, 'temporal.db'),
  ];
  parameters.push(
    '--port',
    String(ports.port),
    '--ui-port',
    String(ports.uiPort),
    '--http-port',
    String(ports.httpPort),
  );
  parameters.push('--log-level', 'error', '--log-format', 'json');
  // Neither the server nor its pages ask the internet for news or newer versions.
  parameters.push('--ui-disable-news-fetch', '--dynamic-config-value', 'frontend.enableServerVersionCheck=false');
  for (const pragma of PRAGMAS) parameters.push('--sqlite-pragma', pragma);
  for (const [name, type] of Object.entries(options.searchAttributes))
    parameters.push('--search-attribute', `${name}=${type}`);
  return parameters;
}

/** Asks the frontend for its namespace: an open port alone would only say that a listener is there. */
async function waitUntilServing(server: RunningProcess, httpPort: number): Promise<void> {
  const deadline = Date.now() + START_WITHIN_MS;
  let isOver = false;
  void server.ended.then(() => {
    isOver = true;
  });
  while (!(await answers(httpPort))) {
    if (isOver || Date.now() > deadline) throw await notReady(server, 'The Temporal dev server');
    await sleep(POLL_MS);
  }
}

async function answers(httpPort: number): Promise<boolean> {
  try {
    const response = await fetch(namespaceUrl(httpPort), { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false; // Not yet; the caller's deadline decides.
  }
}

async function keepHistories(httpPort: number): Promise<void> {
  const response = await fetch(`${namespaceUrl(httpPort)}/update`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ config: { workflowExecutionRetentionTtl: `${RETENTION_SECONDS}s` } }),
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
  const answer = await response.text();
  if (!response.ok) throw new Error(`Temporal refused to keep histories for 30 days: ${answer}`);
}

function namespaceUrl(httpPort: number): string {
  return `http://127.0.0.1:${httpPort}/api/v1/namespaces/${NAMESPACE}`;
}
