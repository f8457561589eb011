/**
 * Ends the process, because something failed that nobody can be told of: a gateway that cannot write its ledger must not
 * go on answering about money.
 */
export function endProcess(cause: unknown): never {
  process.stderr.write(
    `The gateway simulator ends: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`,
  );
  process.exit(1);
}
