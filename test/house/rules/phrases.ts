import type { SourceFile } from './source-files.ts';

/** Written in two halves, so that this file does not hold what it looks for. */
const FORBIDDEN_PHRASES = [
  ['eslint', '-disable'],
  ['biome', '-ignore'],
  ['@ts', '-ignore'],
  ['@ts', '-nocheck'],
  ['.sk', 'ip('],
  ['.sk', 'ipIf('],
  ['.run', 'If('],
  ['.on', 'ly('],
  ['.to', 'do('],
  ['TO', 'DO'],
  ['FIX', 'ME'],
].map((halves) => halves.join(''));

/** Ways to silence a check or to leave something unfinished, as `path:line: phrase`. */
export function findForbiddenPhrases({ path, text }: SourceFile): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      FORBIDDEN_PHRASES.filter((phrase) => line.includes(phrase)).map((phrase) => `${path}:${index + 1}: ${phrase}`),
    );
}

export { FORBIDDEN_PHRASES };
