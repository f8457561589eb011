import { spawn } from 'node:child_process';
import { type Account, serverSpawnOptions } from './account.ts';

export interface ProgramResult {
  readonly code: number | null;
  readonly output: string;
}

/** Runs one of Postgres' programs to its end. Code null means that it could not be started. */
export function runProgram(program: string, parameters: readonly string[], account: Account): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const child = spawn(program, parameters, { ...serverSpawnOptions(account), stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.on('error', (error) => resolve({ code: null, output: error.message }));
    child.on('close', (code) => resolve({ code, output }));
  });
}
