export const PROJECT_FOLDER: string;
export function programsFolder(environment?: NodeJS.ProcessEnv): string;

/** A set-up that cannot go on, as one sentence that says what to do. */
export class SetupError extends Error {
  constructor(message: string);
}
export function say(line: string): void;
