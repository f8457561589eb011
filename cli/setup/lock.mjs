import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 100;
const HEARTBEAT_MS = 2_000;
/** A holder that has not touched its lock for so long is gone, even if its process id lives on in another process. */
const STALE_AFTER_MS = 30_000;
/** Time for a rival that saw the same dead holder to have replaced the file too; the last one to do so holds the lock. */
const SETTLE_MS = 200;

/**
 * Runs `work` while holding a lock file, so that several processes starting at once do not install into each other's
 * files. A lock whose holder is dead is taken over: a set-up killed half-way must not block the next one.
 */
export async function withLock(path, work) {
  mkdirSync(dirname(path), { recursive: true });
  const mark = `${process.pid} ${Math.random().toString(36).slice(2)}`;
  while (!(await take(path, mark))) await sleep(POLL_MS);
  const heartbeat = setInterval(() => touch(path), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    if (read(path) === mark) rmSync(path, { force: true });
  }
}

async function take(path, mark) {
  try {
    writeFileSync(path, mark, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  if (!isStale(path)) return false;
  const own = `${path}.${process.pid}`;
  writeFileSync(own, mark);
  renameSync(own, path);
  await sleep(SETTLE_MS);
  return read(path) === mark;
}

function isStale(path) {
  const content = read(path);
  if (content === null) return false;
  const holder = Number.parseInt(content, 10);
  try {
    if (Date.now() - statSync(path).mtimeMs > STALE_AFTER_MS) return true;
  } catch {
    return false; // Released in this very moment; the next round takes it.
  }
  // An empty file is a holder between creating and writing it: not stale before its time is up.
  return Number.isInteger(holder) && !isAlive(holder);
}

function isAlive(processId) {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

function touch(path) {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // The folder was deleted under a running set-up; the work itself will report that.
  }
}
