import { deflateRawSync, gzipSync } from 'node:zlib';

export interface ArchivedFile {
  readonly name: string;
  readonly content: Buffer;
}

/** A zip archive by PKWARE's APPNOTE.TXT, written independently of the reader under test. Stored or deflated by turns. */
export function makeZip(files: readonly ArchivedFile[]): Buffer {
  const local: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  files.forEach(({ name, content }, index) => {
    const method = index % 2 === 0 ? 8 : 0;
    const packed = method === 8 ? deflateRawSync(content) : content;
    const sizes = Buffer.alloc(8);
    sizes.writeUInt32LE(packed.length, 0);
    sizes.writeUInt32LE(content.length, 4);
    // Extra fields of unlike length in the two headers, as real zips have them.
    const header = Buffer.concat([
      Buffer.from([0x50, 0x4b, 3, 4, 20, 0, 0, 0, method, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
      sizes,
      lengths(name.length, 4),
      Buffer.from(name),
      Buffer.alloc(4),
    ]);
    directory.push(
      Buffer.from([0x50, 0x4b, 1, 2, 20, 0, 20, 0, 0, 0, method, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
      sizes,
      lengths(name.length, 8),
      Buffer.alloc(10),
      uint32(offset),
      Buffer.from(name),
      Buffer.alloc(8),
    );
    local.push(header, packed);
    offset += header.length + packed.length;
  });
  const listing = Buffer.concat(directory);
  const end = Buffer.concat([
    Buffer.from([0x50, 0x4b, 5, 6, 0, 0, 0, 0]),
    lengths(files.length, files.length),
    uint32(listing.length),
    uint32(offset),
    lengths(7, 0).subarray(0, 2),
    Buffer.from('comment'),
  ]);
  return Buffer.concat([...local, listing, end]);
}

export function makeTarGz(files: readonly ArchivedFile[]): Buffer {
  const blocks = files.flatMap(({ name, content }) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write('0000755\0', 100);
    header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write('ustar\x0000', 257);
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

function lengths(first: number, second: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt16LE(first, 0);
  buffer.writeUInt16LE(second, 2);
  return buffer;
}

function uint32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}
