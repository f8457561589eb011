import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startMark } from '../../embedded/process-identity.ts';

const run = promisify(execFile);

/** The ports are the tool's: gRPC and membership of the four services. */
const FRONTEND_PORT = 27_233;
const PORTS = [FRONTEND_PORT, 27_234, 27_235, 27_239, 26_933, 26_934, 26_935, 26_939];
/** The first run builds the server, which takes minutes. */
const START_WITHIN_MS = 20 * 60_000;
const GONE_WITHIN_MS = 15_000;

export interface ClusterTemporal {
  readonly address: string;
  readonly processId: number;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** The tool that starts a real Temporal server on Postgres. @throws Error one sentence, when it is not there */
export function clusterTool(environment: NodeJS.ProcessEnv): string {
  const beside = fileURLToPath(new URL('../../../shared/tools/temporal-cluster', import.meta.url));
  const path = resolve(environment.TEMPORAL_CLUSTER_TOOL ?? beside);
  if (existsSync(path)) return path;
  throw new Error(
    `The tool that starts a Temporal server on Postgres is not at ${path}; set TEMPORAL_CLUSTER_TOOL to its path.`,
  );
}

/** @throws Error one sentence, when somebody else holds one of the tool's ports */
export async function demandFreePorts(): Promise<void> {
  for (const port of PORTS) {
    if (!(await isTaken(port))) continue;
    throw new Error(
      `Port ${port} on 127.0.0.1 is taken, and the Temporal server of this test needs it; stop what listens there, such as another run of this test.`,
    );
  }
}

/** Starts the server on a Postgres where the user may make databases. What a killed one left in the folder is used again. */
export async function startClusterTemporal(
  tool: string,
  folder: string,
  databaseUrl: string,
): Promise<ClusterTemporal> {
  mkdirSync(folder, { recursive: true });
  const { hostname, port, username, password } = new URL(databaseUrl);
  // The server's own output goes to a file, but it would inherit a pipe for ours and keep it open.
  await run(tool, ['start', folder, hostname, port, decodeURIComponent(username), decodeURIComponent(password)], {
    timeout: START_WITHIN_MS,
  });
  const processId = Number(readFileSync(join(folder, 'server.pid'), 'utf8'));
  const mark = startMark(processId);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const isThere = (): boolean => mark !== null && startMark(processId) === mark;
    if (isThere()) process.kill(processId, signal);
    const deadline = Date.now() + GONE_WITHIN_MS;
    while (isThere()) {
      if (Date.now() > deadline) process.kill(processId, 'SIGKILL');
      await pause(25);
    }
  };
  if (!(await isTaken(FRONTEND_PORT)) || mark === null) {
    const log = readFileSync(join(folder, 'server.log'), 'utf8').slice(-2_000);
    throw new Error(`The Temporal server did not start; its log ends: ${log}`);
  }
  return {
    address: `127.0.0.1:${FRONTEND_PORT}`,
    processId,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolveTaken) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      resolveTaken(true);
    });
    socket.once('error', () => resolveTaken(false));
  });
}
