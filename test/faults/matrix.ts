import { CELLS, type Cell, nameOf } from './cells.ts';
import type { FaultStack } from './stack.ts';
import { type Walked, walk } from './walk.ts';

export interface MatrixOptions {
  readonly cells: readonly Cell[];
  readonly repeats: number;
  /** How many orders are struck at the same time; what strikes a process strikes the others' orders too. */
  readonly atOnce: number;
  readonly onWalked?: (walked: Walked) => void;
}

/** Cells whose name holds one of the words, or all. */
export function chooseCells(words: readonly string[]): readonly Cell[] {
  return words.length === 0 ? CELLS : CELLS.filter((cell) => words.some((word) => nameOf(cell).includes(word)));
}

export async function walkMatrix(
  stack: FaultStack,
  { cells, repeats, atOnce, onWalked }: MatrixOptions,
): Promise<Walked[]> {
  const waiting = Array.from({ length: repeats }, () => cells).flat();
  const done: Walked[] = [];
  const line = async (): Promise<void> => {
    for (let cell = waiting.shift(); cell !== undefined; cell = waiting.shift()) {
      const walked = await walk(stack, cell);
      done.push(walked);
      onWalked?.(walked);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, line));
  return done;
}
