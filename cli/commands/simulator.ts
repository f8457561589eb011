import type { Command } from 'commander';
import { CodedError } from '../../domain/errors.ts';
import { createSimulatorControl, type FaultInput, type SimulatorControl } from '../../gateways/simulator/control.ts';
import { print, printJson, table } from '../output.ts';
import { findSimulator } from '../running-stack.ts';

interface SimulatorOptions {
  readonly json?: boolean;
  readonly dataFolder?: string;
}

export function addSimulatorCommands(program: Command): void {
  const simulator = program
    .command('simulator')
    .description('look at the simulated gateway’s own books, and make it misbehave');
  const sub = (name: string, description: string): Command =>
    simulator
      .command(name)
      .description(description)
      .option('--data-folder <path>', 'of the running stack')
      .option('--json', 'print JSON');
  sub('ledger', 'what money moved, by reference')
    .option('--prefix <text>', 'only references that begin so; an order’s attempts share 26 characters')
    .action(showLedger);
  sub('faults', 'the fault scripts that wait for requests').action(showFaults);
  sub('fault <script>', 'add a fault script, as JSON; docs/gateways/simulator.md lists them').action(addFault);
  sub('clear', 'remove all fault scripts').action(clearFaults);
}

function control({ dataFolder }: SimulatorOptions): SimulatorControl {
  return createSimulatorControl(findSimulator(process.env, dataFolder));
}

async function showLedger(options: SimulatorOptions & { readonly prefix?: string }): Promise<void> {
  const rows = await control(options).ledger(options.prefix === undefined ? {} : { prefix: options.prefix });
  if (options.json === true) return printJson(rows);
  const heading = ['ACCOUNT', 'REFERENCE', 'CHARGES', 'MOVED', 'REQUESTS', 'DECLINED'];
  const cells = rows.map((row) => [
    row.account,
    row.reference,
    String(row.charges),
    `${row.moved.minor_units} ${row.moved.currency}`,
    String(row.requests),
    String(row.declined),
  ]);
  print(table([heading, ...cells]));
}

async function showFaults(options: SimulatorOptions): Promise<void> {
  const faults = await control(options).faults();
  if (options.json === true) return printJson(faults);
  for (const fault of faults) print(JSON.stringify(fault));
}

async function addFault(script: string, options: SimulatorOptions): Promise<void> {
  const id = await control(options).addFault(parse(script));
  if (options.json === true) return printJson({ id });
  print(`added ${id}`);
}

async function clearFaults(options: SimulatorOptions): Promise<void> {
  await control(options).clearFaults();
  if (options.json === true) printJson({ cleared: true });
}

function parse(script: string): FaultInput {
  try {
    return JSON.parse(script) as FaultInput;
  } catch (cause) {
    const example = '{"fault":{"kind":"lost_answer"},"match":{"payment_method":"tok_ok"}}';
    throw new CodedError('configuration_invalid', `The fault script must be JSON, such as ${example}.`, { cause });
  }
}
