export class ArchiveError extends Error {}
export function readZipFile(archive: Buffer, name: string): Buffer;
export function readTarGzFile(archive: Buffer, name: string): Buffer;
