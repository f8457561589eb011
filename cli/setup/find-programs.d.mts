import type { ProgramName } from './pinned-programs.mjs';

export function findPrograms(environment?: NodeJS.ProcessEnv): {
  readonly temporal: string | null;
  readonly temporalTestServer: string | null;
  readonly missing: readonly string[];
};
export function findProgram(name: ProgramName, environment?: NodeJS.ProcessEnv): string | null;
export function cachedPath(name: ProgramName, environment?: NodeJS.ProcessEnv): string;
