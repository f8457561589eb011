import { parseArgs } from 'node:util';
import { BUGS } from './bugs.ts';
import { loadProduct, type Product } from './product.ts';
import { runSeed, type SeedReport } from './seed.ts';

/**
 * `npm run simulate -- --seeds 300`: as many seeds, from `--seed` on; `--seed N` alone plays one seed again. `--bug a,b`
 * (or `--bug all`) plays the product with a mistake woven in, until it is noticed. `--json` prints a line for machines.
 * Ends with exit code 1 when a seed broke an invariant, or a bug went unnoticed.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1' },
    orders: { type: 'string', default: '50' },
    bug: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});

const seeds = { first: Number(values.seed), count: Number(values.seeds), orders: Number(values.orders) };

interface Totals {
  seeds: number;
  orders: number;
  charges: number;
  crashes: number;
  happenings: number;
  readonly failures: SeedReport[];
}

if (values.bug === undefined) await simulate();
else await lookForBugs(values.bug);

async function simulate(): Promise<void> {
  const began = performance.now();
  const totals = await play(await loadProduct(), { isDone: () => false });
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  const { failures, ...counts } = totals;
  if (values.json) console.log(JSON.stringify({ ...counts, seconds, failures }));
  else
    console.log(
      `${counts.seeds} seeds, ${counts.orders} orders, ${counts.charges} charges, ${counts.crashes} crashes in ${seconds} s: ${failures.length} seeds with violations`,
    );
  process.exitCode = failures.length > 0 ? 1 : 0;
}

async function lookForBugs(names: string): Promise<void> {
  const wanted = names === 'all' ? BUGS : names.split(',').map(findBug);
  const findings = [];
  for (const { name, changes, dropped } of wanted) {
    const { failures, seeds: played } = await play(await loadProduct(changes), {
      isDone: (report) => report.violations.length > 0,
      dropped,
    });
    const [violation] = failures[0]?.violations ?? [];
    findings.push({
      name,
      caughtBy: violation?.invariant ?? null,
      seeds: played,
      sentence: violation?.sentence ?? null,
    });
    if (!values.json)
      console.log(
        `${name}: ${violation === undefined ? `not noticed in ${played} seeds` : `${violation.invariant} after ${played} seeds: ${violation.sentence}`}`,
      );
  }
  if (values.json) console.log(JSON.stringify(findings));
  process.exitCode = findings.some(({ caughtBy }) => caughtBy === null) ? 1 : 0;
}

function findBug(name: string): (typeof BUGS)[number] {
  const bug = BUGS.find((known) => known.name === name);
  if (bug === undefined) throw new Error(`There is no bug ${name}`);
  return bug;
}

interface Play {
  readonly isDone: (report: SeedReport) => boolean;
  readonly dropped?: readonly string[] | undefined;
}

async function play(product: Product, { isDone, dropped }: Play): Promise<Totals> {
  const totals: Totals = { seeds: 0, orders: 0, charges: 0, crashes: 0, happenings: 0, failures: [] };
  const { first, count, orders } = seeds;
  for (let seed = first; seed < first + count; seed += 1) {
    const report = await runSeed(product, { seed, orders, dropped });
    totals.seeds += 1;
    totals.orders += Object.values(report.statuses).reduce((sum, one) => sum + one, 0);
    totals.charges += report.charges;
    totals.crashes += report.crashes;
    totals.happenings += report.happenings;
    if (report.violations.length > 0) totals.failures.push(report);
    if (report.violations.length > 0 && !values.json) tell(report);
    if (isDone(report)) break;
  }
  return totals;
}

function tell({ seed, violations }: SeedReport): void {
  for (const { invariant, orderId, sentence } of violations)
    console.log(`seed ${seed}: ${invariant} ${orderId}: ${sentence}`);
  const bug = values.bug === undefined ? '' : ` --bug ${values.bug}`;
  console.log(`To play it again: npm run simulate -- --seed ${seed} --orders ${values.orders}${bug}`);
}
