import { Command } from 'commander';
import { print, printJson, remark } from '../cli/output.ts';
import { createShop } from '../cli/tour/shop.ts';
import { createDatabase } from '../store/database.ts';
import { startFloor } from './floor.ts';
import { loadOfLastMinute } from './machine.ts';
import { type Bench, measureEverything } from './measure.ts';
import { FULL_PLAN, QUICK_PLAN } from './plan.ts';
import { inWords } from './report.ts';
import { startBenchStack } from './stack.ts';

interface BenchOptions {
  readonly json?: boolean;
  readonly quick?: boolean;
  readonly targets: boolean;
}

/** `npm run bench`: docs/bench.md says what is measured and how. */
const command = new Command('bench')
  .description('measure purchases on an embedded stack of its own, beside an empty workflow on the same server')
  .option('--quick', 'fewer rounds: about a minute, with coarser figures')
  .option('--json', 'print the report as JSON')
  .option('--no-targets', 'exit code 0 also when a target is missed')
  .action(run);
await command.parseAsync();

async function run({ json = false, quick = false, targets }: BenchOptions): Promise<void> {
  if (process.platform !== 'linux') throw new Error('The bench reads CPU times from /proc, which only Linux has.');
  const loadBefore = loadOfLastMinute();
  remark('starting the stack');
  const { stack, parts, stop } = await startBenchStack();
  const database = createDatabase({ url: stack.databaseUrl, poolSize: 2, applicationName: 'paidonce-bench' });
  const shop = createShop(stack.addresses.api, stack.developmentKey);
  const floor = await startFloor({ address: stack.addresses.temporal, namespace: stack.temporalNamespace });
  try {
    const plan = quick ? QUICK_PLAN : FULL_PLAN;
    const bench: Bench = { shop, database, floor, parts, plan, simulatorAddress: stack.addresses.simulator, remark };
    const report = await measureEverything(bench, loadBefore);
    if (json) printJson(report);
    else print(inWords(report));
    if (targets && !report.targets.every(({ reached }) => reached)) process.exitCode = 1;
  } finally {
    await floor.stop();
    await shop.close();
    await database.close();
    await stop();
  }
}
