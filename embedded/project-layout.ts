import { fileURLToPath } from 'node:url';

/** Whether this runs from TypeScript, or from what the build put into dist/, one folder further down. */
const IS_SOURCE = import.meta.url.endsWith('.ts');

/** The entry file of a program of this project, in the form that can be run here. @param path without its ending */
export function entryFile(path: string): URL {
  return new URL(`../${path}${IS_SOURCE ? '.ts' : '.js'}`, import.meta.url);
}

/** Where `npm start` keeps what has to outlive it, unless told otherwise. */
export function defaultDataFolder(): string {
  return fileURLToPath(new URL(IS_SOURCE ? '../.paidonce/data' : '../../.paidonce/data', import.meta.url));
}
