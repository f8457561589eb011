import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError } from '../../domain/errors.ts';

/** The user "nobody" of every Linux. Postgres refuses to run as root, and needs a user that has a line in /etc/passwd. */
const NOBODY = 65_534;
/** Kept over a reboot, open to every user, and there on every Unix. */
const SHARED_FOLDER = '/var/tmp';

/** As whom Postgres' programs run: as ourselves (nothing set), or as another user when we are root. */
export type Account = { readonly uid: number; readonly gid: number } | { readonly uid?: never; readonly gid?: never };

/** As root: the user who owns the database files already, or nobody. Postgres insists on owning its files. */
export function serverAccount(dataFolder: string): Account {
  if (process.getuid?.() !== 0) return {};
  const owner = lstatSync(dataFolder, { throwIfNoEntry: false });
  return owner === undefined || owner.uid === 0 ? { uid: NOBODY, gid: NOBODY } : { uid: owner.uid, gid: owner.gid };
}

/**
 * How a program of Postgres is run: in a folder that everybody may enter and with nothing of our environment, because
 * PG… variables of the caller would silently change what it does.
 */
export function serverSpawnOptions(account: Account) {
  return { ...account, cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } };
}

/** Makes a folder that the account owns. Only this folder changes hands, never what stands above it. */
export function makeOwnFolder(path: string, account: Account): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  giveTo(path, account);
}

export function giveTo(path: string, account: Account): void {
  if (account.uid !== undefined) chownSync(path, account.uid, account.gid);
}

/** Whether the account can get into a folder; tried for real, because modes alone do not tell of ACLs and mounts. */
export function canEnter(folder: string, account: Account): boolean {
  if (account.uid === undefined) return true;
  return spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], serverSpawnOptions(account)).status === 0;
}

/**
 * A folder of ours that every user can reach, for a checkout below a home folder that others may not enter.
 * @param purpose what it stands in for; the same path gives the same folder
 * @throws CodedError `program_failed` when somebody else made a folder of this name first
 */
export function reachableFolder(purpose: string, path: string): string {
  const name = createHash('sha256').update(path).digest('hex').slice(0, 16);
  const folder = join(realpathSync(SHARED_FOLDER), `paidonce-${purpose}-${name}`);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const found = lstatSync(folder);
  if (found.isDirectory() && found.uid === process.getuid?.()) return folder;
  throw new CodedError(
    'program_failed',
    `${folder} belongs to another user; remove it, or keep the project where every user can enter.`,
  );
}
