export type ProgramName = 'temporal' | 'temporalTestServer';

/** A set-up that cannot go on, as one sentence that says what to do. */
export class SetupError extends Error {}

/** See setup.mjs: the right Node, the locked packages, and the Temporal programs named in `needs` (by default both). */
export function setUp(options?: { quiet?: boolean; needs?: readonly ProgramName[] }): Promise<void>;

/** See setup/find-programs.mjs: where the Temporal programs are, null for one that is not there, and how to get those. */
export function findPrograms(environment?: NodeJS.ProcessEnv): {
  readonly temporal: string | null;
  readonly temporalTestServer: string | null;
  readonly missing: readonly string[];
};

/** @throws SetupError when this version of Node cannot run the project */
export function checkNode(version: string): void;
