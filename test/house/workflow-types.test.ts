import { describe, expect, it } from 'vitest';
import { compileAsWorkflows } from './rules/workflow-types.ts';

/** The sandbox bundles `process.env.X` without complaint, and the value differs on replay; only the compiler can object. */
const NODE_ONLY = {
  process: 'export const secret = process.env.SECRET;',
  Buffer: "export const bytes = Buffer.from('x');",
  'node:crypto': "import { randomUUID } from 'node:crypto';\nexport const id = randomUUID();",
  fs: "import { readFileSync } from 'fs';\nexport const text = readFileSync('x');",
};
const NAMES = Object.keys(NODE_ONLY);
const IN_SANDBOX = "import { sleep } from '@temporalio/workflow';\nexport const pause = () => sleep('1 day');";

describe('by workflows/tsconfig.json', () => {
  const complaints = compileAsWorkflows({ ...NODE_ONLY, sandbox: IN_SANDBOX });

  it.each(NAMES)('a workflow that uses %s does not compile', (name) => {
    expect(complaints[name]).toEqual([expect.stringContaining(`'${name}'`)]);
  });

  it('a workflow that uses what the sandbox has does compile', () => {
    expect(complaints.sandbox).toEqual([]);
  });
});

describe("with Node's types", () => {
  const complaints = compileAsWorkflows(NODE_ONLY, ['node']);

  it.each(NAMES)('the same use of %s would compile, so it is the configuration that forbids it', (name) => {
    expect(complaints[name]).toEqual([]);
  });
});
