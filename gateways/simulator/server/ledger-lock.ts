import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/**
 * Keeps a ledger to one process, by a socket that the system closes when its owner dies. Two writers would number their
 * rows twice; that happens when a launcher is killed, leaves its simulator behind, and starts another one.
 * @throws Error when another process holds the ledger
 */
export async function lockLedger(path: string): Promise<{ release(): void }> {
  const place = await socketFor(path);
  let server = await tryListen(place);
  if (server === undefined) {
    if (await isAnswered(place))
      throw new Error(`Another gateway simulator is writing the ledger ${path}; end it first.`);
    // What the owner left behind when it was killed.
    rmSync(place, { force: true });
    server = await tryListen(place);
  }
  if (server === undefined) throw new Error(`The ledger ${path} could not be locked.`);
  const held = server.unref();
  return { release: () => held.close() };
}

/** In the system's folder for temporary files, because a socket's path may have only about a hundred characters. */
async function socketFor(path: string): Promise<string> {
  const whole = join(await realpath(dirname(path)), basename(path));
  return join(tmpdir(), `paidonce-ledger-${createHash('sha256').update(whole).digest('hex').slice(0, 32)}.sock`);
}

function tryListen(place: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.end());
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    );
    server.listen(place, () => resolve(server));
  });
}

function isAnswered(place: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(place);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
