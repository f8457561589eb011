import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createSimulatorControl, type SimulatorControl } from '../../gateways/simulator/control.ts';

const ENTRY = fileURLToPath(new URL('../../gateways/simulator/server/main.ts', import.meta.url));

/** The gateway simulator as a real process, which tests may kill as hard as they like. */
export interface SimulatorProcess {
  readonly address: string;
  readonly control: SimulatorControl;
  /** SIGKILL, without any chance to tidy up. */
  kill(): Promise<void>;
  /** SIGTERM. @returns the exit code */
  stop(): Promise<number | null>;
}

/** A folder for a ledger that outlives its process, for tests that start a second one on it. */
export function createLedgerFolder(): { readonly path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'paidonce-ledger-'));
  return { path: join(folder, 'ledger.jsonl'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Starts it and waits for its address. @throws Error with what it printed when it ends before */
export async function startSimulatorProcess(ledgerPath: string, port = 0): Promise<SimulatorProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', ENTRY], {
    env: { ...process.env, SIMULATOR_LEDGER: ledgerPath, SIMULATOR_PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const address = await readAddress(child);
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    }
    return child.exitCode;
  };
  return {
    address,
    control: createSimulatorControl(address),
    kill: async () => {
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
  };
}

async function readAddress(child: ChildProcess): Promise<string> {
  let complaints = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaints += chunk.toString('utf8');
  });
  if (child.stdout === null) throw new Error('The simulator has no standard output');
  for await (const line of createInterface({ input: child.stdout })) {
    return (JSON.parse(line) as { address: string }).address;
  }
  throw new Error(`The simulator ended before it was ready: ${complaints}`);
}
