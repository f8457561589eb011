import { styleText } from 'node:util';

/** Colours are for terminals; a pipe or a log gets plain text. */
export function painted(
  style: 'green' | 'red' | 'dim' | 'bold',
  text: string,
  stream: NodeJS.WriteStream = process.stdout,
): string {
  return stream.isTTY === true ? styleText(style, text) : text;
}

/** A result, on standard output. */
export function print(line = ''): void {
  process.stdout.write(`${line}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value));
}

/** Progress and remarks, on standard error, so that results can be piped. */
export function remark(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Rows as aligned columns; the first row is the heading. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
