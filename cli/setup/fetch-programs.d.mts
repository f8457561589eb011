import type { PinnedProgram, ProgramName } from './pinned-programs.mjs';

export interface FetchScope {
  /** A folder of this one try, thrown away afterwards. */
  readonly work: string;
  readonly environment: NodeJS.ProcessEnv;
}
export type FetchWay = (program: PinnedProgram, scope: FetchScope) => Promise<Buffer>;

export function provideProgram(
  name: ProgramName,
  environment?: NodeJS.ProcessEnv,
  ways?: readonly FetchWay[],
): Promise<string>;
export const fetchByPip: FetchWay;
export const fetchByDownload: FetchWay;
