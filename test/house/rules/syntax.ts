import ts from 'typescript';
import type { SourceFile } from './source-files.ts';

export type SyntaxRule = 'no default export' | 'no enum' | 'no any' | 'function length' | 'positional parameters';

export interface SyntaxFault {
  readonly rule: SyntaxRule;
  /** `path:line`, so that a terminal makes a link of it. */
  readonly place: string;
}

export const FUNCTION_LINES_MAX = 70;
const POSITIONAL_PARAMETERS_MAX = 3;

/** These tools read the default export of their configuration; there is no other way to hand it over. */
const CONFIGURATION_FILE = /^[^/]+\.config\.(ts|mjs)$/;

/** Finds what the house forbids in the syntax tree, where no comment, string or name can fool a search for words. */
export function findSyntaxFaults(file: SourceFile): SyntaxFault[] {
  const tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
  const faults: SyntaxFault[] = [];
  const visit = (node: ts.Node): void => {
    for (const rule of rulesBrokenBy(node, file)) faults.push({ rule, place: `${file.path}:${lineOf(tree, node)}` });
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return faults;
}

function rulesBrokenBy(node: ts.Node, file: SourceFile): SyntaxRule[] {
  const broken: SyntaxRule[] = [];
  if (isDefaultExport(node) && !CONFIGURATION_FILE.test(file.path)) broken.push('no default export');
  if (ts.isEnumDeclaration(node)) broken.push('no enum');
  if (node.kind === ts.SyntaxKind.AnyKeyword) broken.push('no any');
  if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
    if (countLines(node) > FUNCTION_LINES_MAX && !isBodyOfTestSuite(node)) broken.push('function length');
  }
  if (ts.isFunctionLike(node) && node.parameters.length > POSITIONAL_PARAMETERS_MAX && !isCallback(node)) {
    broken.push('positional parameters');
  }
  return broken;
}

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportSpecifier(node)) return node.name.text === 'default';
  return (
    ts.canHaveModifiers(node) &&
    (ts.getModifiers(node) ?? []).some((modifier) => modifier.kind === ts.SyntaxKind.DefaultKeyword)
  );
}

/** What a callback is given is decided by whoever calls it, as by `it.each` and `fc.property`. */
function isCallback(node: ts.Node): boolean {
  return ts.isCallExpression(node.parent) && node.parent.expression !== node;
}

/** `describe('…', () => { … })` only groups; its length says nothing. */
function isBodyOfTestSuite(node: ts.Node): boolean {
  return ts.isCallExpression(node.parent) && /^describe\b/.test(node.parent.expression.getText());
}

function countLines(node: ts.Node): number {
  const tree = node.getSourceFile();
  return tree.getLineAndCharacterOfPosition(node.getEnd()).line - lineOf(tree, node) + 2;
}

function lineOf(tree: ts.SourceFile, node: ts.Node): number {
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
}
