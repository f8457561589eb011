import { execFile } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';
import { promisify } from 'node:util';
import { findPrograms } from '../cli/setup.mjs';
import type { Database } from '../store/database.ts';

export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly memoryGb: number;
  readonly node: string;
  readonly postgres: string;
  readonly temporal: string;
  /** Of the last minute, before the bench began. */
  readonly loadBefore: number;
  readonly date: string;
}

export async function describeMachine(database: Database, loadBefore: number): Promise<Machine> {
  const { rows } = await database.query<{ readonly server_version: string }>('show server_version');
  const [first] = cpus();
  return {
    cores: cpus().length,
    processor: first?.model.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    postgres: rows[0]?.server_version ?? 'unknown',
    temporal: await temporalVersion(),
    loadBefore,
    date: new Date().toISOString().slice(0, 10),
  };
}

export function loadOfLastMinute(): number {
  return loadavg()[0] ?? 0;
}

async function temporalVersion(): Promise<string> {
  const { temporal } = findPrograms();
  if (temporal === null) return 'not ours';
  const { stdout } = await promisify(execFile)(temporal, ['--version']);
  return stdout.trim().replace(/^temporal version /, '');
}
