export type ProgramName = 'temporal' | 'temporalTestServer';

export interface PinnedProgram {
  readonly title: string;
  readonly fileName: string;
  readonly variable: string;
  readonly version: string;
  readonly contains: { readonly server: string; readonly ui: string } | null;
  readonly python: { readonly name: string; readonly file: string };
  readonly wheels: Readonly<Record<string, string>>;
  readonly artifact: string;
  readonly archiveFormat: string | null;
}

export const PINNED_PROGRAMS: Readonly<Record<ProgramName, PinnedProgram>>;
export const PLATFORM: string;
