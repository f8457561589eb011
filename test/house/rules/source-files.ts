import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file of the project: its path from the project's folder, with forward slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export const PROJECT_FOLDER = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

/** What is not written by hand. */
const LEFT_OUT_FOLDERS = new Set(['.git', 'node_modules', 'dist', '.paidonce', 'histories']);
const LEFT_OUT_FILES = new Set(['package-lock.json', 'schema.sql']);
const TEXT_FILE = /(^|\/)(Dockerfile|\.ci\/run|[^/]+\.(ts|mjs|cjs|sql|json|md|ya?ml|sh|html|css))$/;
const CODE_FILE = /\.(ts|mjs|cjs|sql)$/;

/** Every text file of the project that a person writes, committed or not, in alphabetical order. */
export function listSourceFiles(folder = PROJECT_FOLDER): SourceFile[] {
  const paths = listPaths(folder, '').filter((path) => TEXT_FILE.test(path));
  return paths.sort().map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
}

export function isCode({ path }: SourceFile): boolean {
  return CODE_FILE.test(path);
}

function listPaths(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return LEFT_OUT_FOLDERS.has(entry.name) ? [] : listPaths(root, path);
    return entry.isFile() && !LEFT_OUT_FILES.has(entry.name) ? [path] : [];
  });
}
