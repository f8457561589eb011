import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { findMigrationsFolder } from '../../store/migrations.ts';
import { createTestDatabase } from '../support/database.ts';

const { database } = await createTestDatabase();

const STORE = join(findMigrationsFolder(), '..', 'store');
/** Only these can be prepared; the others (begin, listen, create table) have nothing to check. */
const PREPARABLE = /^\s*(select|insert|update|delete|with|values)\b/i;
/** The text is made at run time only where a migration is applied, and where the pool passes on what it was given. */
const PASSED_ON = { expression: 'migration.sql', file: 'database.ts' };

interface Statement {
  readonly file: string;
  readonly text: string;
}

/** Every first parameter of a `.query(…)` in store/, with the constants of its file put in. */
function readStatements(): { statements: Statement[]; others: string[] } {
  const statements: Statement[] = [];
  const others: string[] = [];
  const names = readdirSync(STORE, { recursive: true, encoding: 'utf8' });
  for (const file of names.filter((name) => name.endsWith('.ts') && name !== PASSED_ON.file)) {
    const source = ts.createSourceFile(file, readFileSync(join(STORE, file), 'utf8'), ts.ScriptTarget.ES2023, true);
    const constants = new Map<string, ts.Expression>();
    visit(source, (node) => {
      if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined) {
        constants.set(node.name.text, node.initializer);
      }
    });
    visit(source, (node) => {
      if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
      const [first] = node.arguments;
      if (node.expression.name.text !== 'query' || first === undefined) return;
      const text = evaluate(first, constants);
      if (text === undefined) others.push(first.getText());
      else statements.push({ file, text });
    });
  }
  return { statements, others };
}

function visit(node: ts.Node, look: (node: ts.Node) => void): void {
  look(node);
  ts.forEachChild(node, (child) => visit(child, look));
}

function evaluate(expression: ts.Expression, constants: ReadonlyMap<string, ts.Expression>): string | undefined {
  if (ts.isStringLiteralLike(expression)) return expression.text;
  if (ts.isIdentifier(expression)) {
    const value = constants.get(expression.text);
    return value === undefined ? undefined : evaluate(value, constants);
  }
  if (!ts.isTemplateExpression(expression)) return undefined;
  const parts = expression.templateSpans.map((span) => {
    const value = evaluate(span.expression, constants);
    return value === undefined ? undefined : value + span.literal.text;
  });
  return parts.includes(undefined) ? undefined : expression.head.text + parts.join('');
}

const { statements, others } = readStatements();
const preparable = statements.filter(({ text }) => PREPARABLE.test(text));

test('every statement of the store is a constant text, so that this test sees it and it is prepared once', () => {
  expect(others).toEqual([PASSED_ON.expression]);
  expect(preparable.length).toBeGreaterThan(20);
});

for (const [index, { file, text }] of preparable.entries()) {
  test(`the present schema knows what ${file} asks for: ${text.trim().replaceAll(/\s+/g, ' ').slice(0, 80)}`, async () => {
    await database.query(`prepare statement_${index} as ${text}`);
  });
}
