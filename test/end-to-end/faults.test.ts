import { afterAll, beforeAll, expect, it } from 'vitest';
import { nameOf } from '../faults/cells.ts';
import { chooseCells } from '../faults/matrix.ts';
import { type FaultStack, startFaultStack } from '../faults/stack.ts';
import { walk } from '../faults/walk.ts';

/** A fixed part of the fault matrix; `npm run faults` walks all of it. */
const CELLS = chooseCells([
  'F1 P3: kill at claim_committed, a gateway without keys',
  'F1 P7: kill at answer_received, a gateway without keys',
  'F2 P1',
  'F3 P6: lost_answer, a gateway without keys',
  'F4 P6: unreadable',
  'F6 P4: late, a gateway without keys',
  'F14 P8: throw at committed',
  'F17 P4: stop at send_permitted, a gateway without keys',
]);

let stack: FaultStack;

beforeAll(async () => {
  stack = await startFaultStack();
}, 120_000);
afterAll(async () => {
  await stack.stop();
}, 60_000);

it.concurrent.each(CELLS.map((cell) => [nameOf(cell), cell] as const))('%s', async (_, cell) => {
  const { hit, status, violations } = await walk(stack, cell);
  expect(violations).toEqual([]);
  expect(hit).toBe(true);
  expect(status).toBe('paid');
});
