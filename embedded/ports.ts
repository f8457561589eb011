import { createServer } from 'node:net';
import { CodedError } from '../domain/errors.ts';
import { readIfThere, writePrivateFile } from './files.ts';

/** A port of the loopback address on which nothing listens at this moment. Another process may take it before it is used. */
export async function freePort(): Promise<number> {
  const port = await listenOnce(0);
  if (port === null) throw new CodedError('program_failed', 'The system gives out no free port on 127.0.0.1.');
  return port;
}

async function isPortFree(port: number): Promise<boolean> {
  return (await listenOnce(port)) !== null;
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

function listenOnce(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : null;
      server.close(() => resolve(bound));
    });
  });
}
