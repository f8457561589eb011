import { type FileHandle, open } from 'node:fs/promises';
import { type Entry, entry, type NewEntry } from './entries.ts';
import { endProcess } from './fatal.ts';

/**
 * The ledger on disk: JSON lines, only ever appended. It is the judge of every test and of the tour, so nothing that a
 * caller was told may be missing from it, whatever is killed.
 */
export interface LedgerFile {
  /** Numbers and dates the row and queues it; `durable` resolves when it, and every row before it, is on the disk. */
  append(row: NewEntry): { readonly entry: Entry; readonly durable: Promise<void> };
  /** Resolves when every row appended so far is on the disk. Reads wait for it: what is told must survive a crash. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the ledger and reads what stands in it. A last line without its line end was torn by a crash before anybody was
 * answered, and is cut off; any other damage is refused, because a judge must not guess.
 * @throws Error when a line cannot be read or a number is missing
 */
export async function openLedgerFile(path: string): Promise<{ readonly file: LedgerFile; readonly entries: Entry[] }> {
  const handle = await open(path, 'a+');
  const text = await handle.readFile('utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) {
    await handle.truncate(Buffer.byteLength(whole));
    await handle.sync();
  }
  const entries = whole
    .split('\n')
    .slice(0, -1)
    .map((line, index) => readLine(path, line, index + 1));
  return { file: createLedgerFile(handle, entries.length), entries };
}

function readLine(path: string, line: string, sequence: number): Entry {
  try {
    const row = entry.parse(JSON.parse(line));
    if (row.sequence !== sequence) throw new Error(`the number is ${row.sequence}`);
    return row;
  } catch (cause) {
    throw new Error(`Line ${sequence} of the ledger ${path} is damaged; repair or move the file by hand.`, { cause });
  }
}

/** Rows that go to the disk together: written at once, then synced once. */
interface Batch {
  lines: string;
  readonly durable: Promise<void>;
  readonly resolve: () => void;
}

function createBatch(): Batch {
  let resolve: () => void = () => undefined;
  const durable = new Promise<void>((done) => {
    resolve = done;
  });
  return { lines: '', durable, resolve };
}

/** All rows that come while one sync runs share the next one: hundreds of charges a second on a disk that syncs in 5 ms. */
function createLedgerFile(handle: FileHandle, count: number): LedgerFile {
  let sequence = count;
  let gathering: Batch | undefined;
  let writing: Batch | undefined;

  const writeOn = async (): Promise<void> => {
    while (gathering !== undefined) {
      writing = gathering;
      gathering = undefined;
      await handle.appendFile(writing.lines);
      await handle.datasync();
      writing.resolve();
    }
    writing = undefined;
  };

  const settled = async (): Promise<void> => {
    await (gathering ?? writing)?.durable;
  };

  return {
    append(row) {
      sequence += 1;
      const numbered: Entry = { sequence, at: new Date().toISOString(), ...row };
      const isIdle = gathering === undefined && writing === undefined;
      gathering ??= createBatch();
      gathering.lines += `${JSON.stringify(numbered)}\n`;
      const { durable } = gathering;
      // Nobody is answered after a failed write, and nothing is ever written behind a hole.
      if (isIdle) writeOn().catch(endProcess);
      return { entry: numbered, durable };
    },
    settled,
    async close() {
      await settled();
      await handle.close();
    },
  };
}
