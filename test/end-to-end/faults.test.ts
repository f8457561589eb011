import { afterAll, beforeAll, expect, it } from 'vitest';
import { nameOf } from '../faults/cells.ts';
import { chooseCells } from '../faults/matrix.ts';
import { type FaultStack, startFaultStack } from '../faults/stack.ts';
import { walk } from '../faults/walk.ts';

/** A fixed part of the fault matrix, and how each order ends; `npm run faults` walks all of it. */
const ENDS = {
  'F1 P3: kill at claim_committed, a gateway without keys': 'paid',
  'F1 P7: kill at answer_received, a gateway without keys': 'paid',
  'F2 P1: kill at start_due': 'paid',
  'F3 P6: lost_answer, a gateway without keys': 'paid',
  'F4 P6: unreadable': 'paid',
  'F6 P4: late, a gateway without keys': 'paid',
  'F14 P8: throw at committed': 'paid',
  // It slept through its permission and sent nothing, and without keys nobody may send in its place.
  'F17 P4: stop at send_permitted, a gateway without keys': 'failed',
} as const;

const CELLS = chooseCells(Object.keys(ENDS));

let stack: FaultStack;

beforeAll(async () => {
  stack = await startFaultStack();
}, 120_000);
afterAll(async () => {
  await stack.stop();
}, 60_000);

it.concurrent.each(CELLS.map((cell) => [nameOf(cell), cell] as const))('%s', async (_, cell) => {
  const { hit, status, violations } = await walk(stack, cell);
  const end = Object.entries(ENDS).find(([name]) => nameOf(cell).startsWith(name))?.[1];
  expect(violations).toEqual([]);
  expect(hit).toBe(true);
  expect(status).toBe(end);
});
