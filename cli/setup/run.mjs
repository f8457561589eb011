import { spawn } from 'node:child_process';

/**
 * Runs a program to its end and gives back its exit code and what it said (both streams, the last 64 KB). Code null means
 * that there is no such program. `show` passes its output on to standard error while it runs.
 */
export function run(
  command,
  parameters,
  { folder, show = false, timeoutMs = 600_000, environment = process.env } = {},
) {
  return new Promise((resolve) => {
    const child = spawn(command, parameters, {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    let output = '';
    const collect = (chunk) => {
      output = `${output}${chunk}`.slice(-65_536);
      if (show) process.stderr.write(chunk);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => resolve({ code: null, output: error.message }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

/** The last line that says something, for one-sentence errors. */
export function lastLine(output) {
  return output.trim().split('\n').at(-1)?.trim() ?? '';
}
