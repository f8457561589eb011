import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { CodedError } from '../domain/errors.ts';
import { readIfThere, writePrivateFile } from './files.ts';

/**
 * Below the ports that Linux (from 32768) and macOS (from 49152) give to outgoing connections: a part that is restarted finds
 * its port taken by somebody's passing connection otherwise, and its address would change.
 */
const FIRST_PORT = 20_000;
const PORTS = 12_000;
const TRIES = 50;

/** A port of the loopback address on which nothing listens at this moment. Another process may take it before it is used. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = FIRST_PORT + randomInt(PORTS);
    if (await isPortFree(port)) return port;
  }
  throw new CodedError('program_failed', `None of ${TRIES} ports tried on 127.0.0.1 is free.`);
}

/**
 * The port that a part shall listen on: the configured one, else the one it had last time if it is still free, else a
 * free one. It is kept in a file so that bookmarks and connection strings still work after a restart.
 * @throws CodedError `program_failed` when a configured port is taken: quietly using another would hide the mistake
 */
export async function keptPort(file: string, configured?: number): Promise<number> {
  if (configured !== undefined && configured !== 0) {
    if (await isPortFree(configured)) return configured;
    throw new CodedError(
      'program_failed',
      `Port ${configured} on 127.0.0.1 is taken by another program; stop it or choose another port.`,
    );
  }
  const kept = Number(readIfThere(file) ?? 0);
  if (Number.isInteger(kept) && kept > 0 && kept < 65_536 && (await isPortFree(kept))) return kept;
  const port = await freePort();
  writePrivateFile(file, String(port));
  return port;
}

function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      server.close(() => resolve(true));
    });
  });
}
