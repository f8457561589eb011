import type { ProgramName } from './setup/pinned-programs.mjs';

export { findPrograms } from './setup/find-programs.mjs';
export { SetupError } from './setup/project.mjs';

/** See setup.mjs: the right Node, the locked packages, and the Temporal programs named in `needs` (by default both). */
export function setUp(options?: { quiet?: boolean; needs?: readonly ProgramName[] }): Promise<void>;

/** @throws SetupError when this version of Node cannot run the project */
export function checkNode(version: string): void;
