import type { SourceFile } from './source-files.ts';

export const FILE_LINES_MAX = 500;
export const FILE_LINES_MEDIAN_MAX = 120;

function countLines({ text }: SourceFile): number {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.length - 1 : lines.length;
}

/** Files that are too long to be about one subject, as `path: N lines`. */
export function findLongFiles(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => countLines(file) > FILE_LINES_MAX)
    .map((file) => `${file.path}: ${countLines(file)} lines`);
}

/** The length that half of the files do not exceed; 0 for no files. */
export function medianLines(files: readonly SourceFile[]): number {
  const lengths = files.map(countLines).sort((left, right) => left - right);
  return lengths[Math.floor((lengths.length - 1) / 2)] ?? 0;
}
