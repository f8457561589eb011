import type { Command } from 'commander';
import type { Stack } from '../../embedded/stack.ts';
import { startEmbeddedStack } from '../embedded-stack.ts';
import { painted, print, printJson, remark } from '../output.ts';
import { createTourLedger } from '../tour/ledger.ts';
import { runTour, type StepReport, type TourReport } from '../tour/run.ts';
import { createShop } from '../tour/shop.ts';
import { TOUR_STEPS } from '../tour/steps.ts';

interface StartOptions {
  readonly once?: boolean;
  readonly json?: boolean;
  readonly tour: boolean;
  readonly dataFolder?: string;
  readonly apiPort?: number;
  readonly temporalUiPort?: number;
}

export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description(
      'start everything on this machine, show one order being charged once whatever happens, and serve until Ctrl-C',
    )
    .option('--once', 'stop after the tour, with exit code 0 if every step passed')
    .option('--json', 'print the tour as JSON')
    .option('--no-tour', 'only start and serve')
    .option('--data-folder <path>', 'where databases, ledger and secrets are kept')
    .option('--api-port <port>', 'port of the API (by default the one of last time, or a free one)', Number)
    .option('--temporal-ui-port <port>', 'port of the Temporal UI', Number)
    .action(start);
}

async function start(options: StartOptions): Promise<void> {
  const holder = await createStackHolder(options);
  const interrupted = holder.stopOnInterrupt();
  const report = options.tour ? await tour(holder, options) : undefined;
  if (report !== undefined && options.json === true) printJson(report);
  if (options.once === true) {
    process.exitCode = report === undefined || report.failed === 0 ? 0 : 1;
    await holder.stop();
    return;
  }
  if (options.json !== true) printAddresses(holder.stack());
  await Promise.race([interrupted, holder.partLost()]);
}

/** The stack changes when the tour kills it, so everybody asks for the present one. */
interface StackHolder {
  stack(): Stack;
  crashEverything(): Promise<void>;
  stop(): Promise<void>;
  stopOnInterrupt(): Promise<void>;
  partLost(): Promise<void>;
}

async function createStackHolder(options: StartOptions): Promise<StackHolder> {
  const began = Date.now();
  const settings = {
    webhooks: true,
    dataFolder: options.dataFolder,
    ports: {
      ...(options.apiPort !== undefined && { api: options.apiPort }),
      ...(options.temporalUiPort !== undefined && { temporalUi: options.temporalUiPort }),
    },
  };
  let stack = await startEmbeddedStack(settings);
  remark(painted('dim', `The stack is up after ${((Date.now() - began) / 1_000).toFixed(1)} s.`, process.stderr));
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= stack.stop());
  return {
    stack: () => stack,
    async crashEverything() {
      await stack.killEverything();
      stack = await startEmbeddedStack(settings);
    },
    stop,
    stopOnInterrupt: () =>
      new Promise((resolve, reject) => {
        const onSignal = (): void => {
          if (stopping === undefined) remark('Stopping…');
          stop().then(() => resolve(), reject);
        };
        process.on('SIGINT', onSignal);
        process.on('SIGTERM', onSignal);
      }),
    async partLost() {
      const part = await stack.partLost;
      if (stopping !== undefined) return stopping;
      remark(`The ${part} has ended unexpectedly; its log is in the data folder. Stopping the rest.`);
      process.exitCode = 1;
      await stop();
    },
  };
}

async function tour(holder: StackHolder, { json = false }: StartOptions): Promise<TourReport> {
  const { addresses, developmentKey } = holder.stack();
  const shop = createShop(addresses.api, developmentKey);
  const crash = {
    async worker() {
      await holder.stack().killApplication();
      await holder.stack().startApplication();
    },
    everything: () => holder.crashEverything(),
  };
  const show = (report: StepReport): void => (json ? remark : print)(lineFor(report));
  const report = await runTour(TOUR_STEPS, { shop, ledger: createTourLedger(addresses.simulator), crash }, show);
  await shop.close();
  const charges = report.steps.reduce((sum, step) => sum + step.charges, 0);
  const closing = `${report.passed} passed, ${report.failed} failed. The gateway’s own ledger: ${charges} charges for ${report.steps.length} orders, none twice.`;
  if (!json) print(report.failed === 0 ? closing : `${report.passed} passed, ${report.failed} failed.`);
  return report;
}

function lineFor({ name, passed, charges, detail }: StepReport): string {
  const mark = passed ? painted('green', 'ok    ') : painted('red', 'FAILED');
  return `${mark} ${name}: ${charges} charge${charges === 1 ? '' : 's'}. ${painted('dim', detail)}`;
}

function printAddresses({ addresses, developmentKey }: Stack): void {
  print();
  print(`  API and its page   ${addresses.docs}`);
  if (addresses.temporalUi !== null) print(`  Temporal UI        ${addresses.temporalUi}`);
  print(`  gateway’s ledger   ${addresses.simulator}/ledger`);
  print(`  development key    ${developmentKey}`);
  print();
  print('Ctrl-C stops everything; the data stays.');
}
