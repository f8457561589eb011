import type { Command } from 'commander';
import { resolveDatabase } from '../../embedded/postgres.ts';
import { defaultDataFolder, findRunningStack } from '../../embedded/stack.ts';
import { painted, print, printJson } from '../output.ts';
import { findPrograms } from '../setup.mjs';

interface Finding {
  readonly name: string;
  readonly good: boolean;
  /** Where it is, or how to get it. */
  readonly detail: string;
}

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('say what is missing on this machine and how to get it')
    .option('--data-folder <path>', 'where the embedded stack keeps its data')
    .option('--json', 'print JSON')
    .action(examine);
}

/** Set-up has checked Node and the packages before this runs; what is left is what it fetches later or finds elsewhere. */
function examine(options: { readonly json?: boolean; readonly dataFolder?: string }): void {
  const findings = [
    { name: 'Node', good: true, detail: process.version },
    ...temporalFindings(),
    postgresFinding(),
    stackFinding(options.dataFolder ?? defaultDataFolder()),
  ];
  process.exitCode = findings.every(({ good }) => good) ? 0 : 1;
  if (options.json === true) {
    printJson({ findings });
    return;
  }
  for (const { name, good, detail } of findings)
    print(`${good ? painted('green', 'ok     ') : painted('red', 'missing')} ${name}: ${detail}`);
}

function temporalFindings(): Finding[] {
  const { TEMPORAL_ADDRESS: address } = process.env;
  const { temporal, temporalTestServer, missing } = findPrograms();
  const hint = missing.join(' ');
  const server =
    address === undefined
      ? { name: 'Temporal server', good: temporal !== null, detail: temporal ?? hint }
      : { name: 'Temporal server', good: true, detail: `the one at ${address} (TEMPORAL_ADDRESS)` };
  const testServer = temporalTestServer ?? 'not here yet; only the tests need it, and "npm test" fetches it';
  return [server, { name: 'Temporal test server', good: true, detail: testServer }];
}

function postgresFinding(): Finding {
  const name = 'PostgreSQL';
  try {
    const choice = resolveDatabase(process.env);
    return { name, good: true, detail: choice.kind === 'external' ? 'the one of DATABASE_URL' : choice.folder };
  } catch (error) {
    return { name, good: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

function stackFinding(dataFolder: string): Finding {
  const addresses = findRunningStack(dataFolder);
  const detail = addresses === null ? 'not running; start it with "npm start"' : `running, API at ${addresses.api}`;
  return { name: 'embedded stack', good: true, detail };
}
