import { join } from 'node:path';
import ts from 'typescript';
import { PROJECT_FOLDER } from './source-files.ts';

const FOLDER = join(PROJECT_FOLDER, 'workflows');

/**
 * Compiles workflows that do not exist together with all the real ones, by workflows/tsconfig.json, and returns what the
 * compiler says about each. All of them together, because one import of a type that reaches `pg` anywhere among them
 * would bring Node's types back for every file.
 * @param probes texts by a name of the caller's choice
 * @param types overrides the `types` of the configuration, to show that it is what makes the difference
 */
export function compileAsWorkflows(
  probes: Readonly<Record<string, string>>,
  types?: readonly string[],
): Readonly<Record<string, readonly string[]>> {
  const texts = new Map(Object.entries(probes).map(([name, text], index) => [pathOf(index), { name, text }]));
  const configuration = readConfiguration(types === undefined ? {} : { types: [...types] });
  const host = ts.createCompilerHost(configuration.options);
  const { fileExists, getSourceFile } = host;
  host.fileExists = (path) => texts.has(path) || fileExists(path);
  host.getSourceFile = (path, ...rest) => {
    const probe = texts.get(path);
    return probe === undefined ? getSourceFile(path, ...rest) : ts.createSourceFile(path, probe.text, rest[0]);
  };
  const program = ts.createProgram([...configuration.fileNames, ...texts.keys()], configuration.options, host);
  return Object.fromEntries([...texts].map(([path, { name }]) => [name, complaintsAbout(program, path)]));
}

/** Not on the disk: seen only by the compiler host above. */
function pathOf(index: number): string {
  return join(FOLDER, `probe-${index}-of-the-house-test.ts`);
}

function readConfiguration(overrides: ts.CompilerOptions): ts.ParsedCommandLine {
  const configuration = ts.getParsedCommandLineOfConfigFile(join(FOLDER, 'tsconfig.json'), overrides, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
      throw new Error(textOf(diagnostic));
    },
  });
  if (configuration === undefined) throw new Error(`${FOLDER}/tsconfig.json cannot be read`);
  return configuration;
}

function complaintsAbout(program: ts.Program, path: string): string[] {
  const file = program.getSourceFile(path);
  if (file === undefined) throw new Error(`${path} was not compiled`);
  return program.getSemanticDiagnostics(file).map(textOf);
}

function textOf({ messageText }: ts.Diagnostic): string {
  return ts.flattenDiagnosticMessageText(messageText, '\n');
}
