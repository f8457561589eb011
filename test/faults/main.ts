import { writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LEFT_OUT } from './cells.ts';
import { chooseCells, walkMatrix } from './matrix.ts';
import { startFaultStack } from './stack.ts';
import type { Walked } from './walk.ts';

/**
 * `npm run faults`: walks the cells of the fault matrix with real processes and writes docs/fault-matrix.md and .json.
 * `--cells "F1 P3"` (again and again) chooses by name, `--repeats` says how often, `--at-once` how many orders together.
 */
const { values } = parseArgs({
  options: {
    cells: { type: 'string', multiple: true, default: [] },
    repeats: { type: 'string', default: '1' },
    'at-once': { type: 'string', default: '3' },
    report: { type: 'boolean', default: true },
  },
  allowNegative: true,
});

const began = performance.now();
const stack = await startFaultStack();
try {
  const walked = await walkMatrix(stack, {
    cells: chooseCells(values.cells),
    repeats: Number(values.repeats),
    atOnce: Number(values['at-once']),
    onWalked: ({ cell, hit, status, seconds, violations }) =>
      console.log(
        `${violations.length === 0 ? 'ok  ' : 'BAD '} ${hit ? 'hit ' : 'miss'} ${status.padEnd(10)} ${String(seconds).padStart(5)} s  ${cell}`,
      ),
  });
  const bad = walked.flatMap(({ cell, violations }) => violations.map((violation) => ({ cell, ...violation })));
  for (const { cell, invariant, orderId, sentence } of bad)
    console.log(`${cell}: ${invariant} ${orderId}: ${sentence}`);
  const minutes = Math.round((performance.now() - began) / 6_000) / 10;
  const missed = walked.filter(({ hit }) => !hit).length;
  console.log(
    `${walked.length} orders, ${missed} not hit, ${stack.restarts()} processes started again, ${minutes} min: ${bad.length} violations`,
  );
  if (values.report) writeReport(walked, minutes);
  process.exitCode = bad.length > 0 ? 1 : 0;
} finally {
  await stack.stop();
}

function writeReport(walked: readonly Walked[], minutes: number): void {
  const names = [...new Set(walked.map(({ cell }) => cell))];
  const rows = names
    .map((name) => [name, walked.filter(({ cell }) => cell === name)] as const)
    .map(([cell, all]) => ({
      cell,
      orders: all.length,
      hits: all.filter(({ hit }) => hit).length,
      violations: all.reduce((sum, { violations }) => sum + violations.length, 0),
      slowestSeconds: Math.max(...all.map(({ seconds }) => seconds)),
    }));
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}`;
  const violations = rows.reduce((sum, row) => sum + row.violations, 0);
  const lines = [
    '# Fault matrix',
    '',
    `Written by \`npm run faults\`. ${walked.length} orders in ${minutes} minutes on ${machine}: **${violations} violations**.`,
    '',
    '| cell | orders | hit | violations | slowest |',
    '| --- | --- | --- | --- | --- |',
    ...rows.map((row) => `| ${row.cell} | ${row.orders} | ${row.hits} | ${row.violations} | ${row.slowestSeconds} s |`),
    '',
    '## Not walked',
    '',
    '| fault | point | why |',
    '| --- | --- | --- |',
    ...LEFT_OUT.map(({ fault, point, reason }) => `| ${fault} | ${point} | ${reason} |`),
    '',
  ];
  const docs = join(import.meta.dirname, '..', '..', 'docs');
  writeFileSync(join(docs, 'fault-matrix.md'), lines.join('\n'));
  writeFileSync(
    join(docs, 'fault-matrix.json'),
    `${JSON.stringify({ machine, minutes, orders: walked.length, rows }, null, 2)}\n`,
  );
}
