import { defineConfig, globalIgnores } from 'eslint/config';
import { configs, parser, plugin } from 'typescript-eslint';

/**
 * Only what needs types or knows our folders: Biome has the format and the cheap rules. A promise that nobody awaits is a
 * charge that nobody records, so those rules come first and hold everywhere.
 */
const everywhere = {
  // `void` says that a promise is let go on purpose; should it fail, the process ends loudly.
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/no-misused-promises': 'error',
  '@typescript-eslint/await-thenable': 'error',
  '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/only-throw-error': 'error',
  '@typescript-eslint/prefer-promise-reject-errors': 'error',
  '@typescript-eslint/no-unnecessary-condition': 'error',
  'no-console': 'error',
};

/** Where money is decided and moved, nothing is let go and no value of unknown type gets through. */
const inWorkflowsAndActivities = {
  '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: false }],
  '@typescript-eslint/no-unsafe-argument': 'error',
  '@typescript-eslint/no-unsafe-assignment': 'error',
  '@typescript-eslint/no-unsafe-call': 'error',
  '@typescript-eslint/no-unsafe-member-access': 'error',
  '@typescript-eslint/no-unsafe-return': 'error',
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
  '@typescript-eslint/strict-boolean-expressions': ['error', { allowString: false, allowNumber: false }],
};

/** The sandbox bundles `process.env.X` without complaint; these names would be undefined or differ on replay. */
const ABSENT_IN_WORKFLOWS = [
  'process',
  'Buffer',
  'require',
  'module',
  '__dirname',
  '__filename',
  'fetch',
  'crypto',
  'performance',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'queueMicrotask',
  'structuredClone',
];

const NODE_SCRIPT_GLOBALS = {
  process: 'readonly',
  console: 'readonly',
  Buffer: 'readonly',
  URL: 'readonly',
  AbortController: 'readonly',
  AbortSignal: 'readonly',
  setTimeout: 'readonly',
  clearTimeout: 'readonly',
  setInterval: 'readonly',
  clearInterval: 'readonly',
  performance: 'readonly',
  fetch: 'readonly',
};

export default defineConfig(
  globalIgnores(['node_modules/', 'dist/', '.paidonce/', '**/*.cjs']),
  { linterOptions: { reportUnusedDisableDirectives: 'error', noInlineConfig: true } },
  {
    files: ['**/*.ts'],
    languageOptions: { parser, parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { '@typescript-eslint': plugin },
    rules: everywhere,
  },
  { files: ['workflows/**/*.ts', 'activities/**/*.ts'], rules: inWorkflowsAndActivities },
  {
    files: ['workflows/**/*.ts', 'domain/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', ...ABSENT_IN_WORKFLOWS],
      'no-restricted-imports': ['error', { patterns: ['node:*'] }],
    },
  },
  {
    // The compiler does not see that a callback changes a variable while we await, and Node's types promise an output
    // where a program did not even start. Both are daily bread here, and doing as the rule says would break the code.
    files: ['workflows/**/*.ts', 'embedded/**/*.ts', 'cli/**/*.ts', 'bench/**/*.ts', 'test/**/*.ts'],
    rules: { '@typescript-eslint/no-unnecessary-condition': 'off' },
  },
  { files: ['cli/**', 'bench/**', 'test/**'], rules: { 'no-console': 'off' } },
  {
    files: ['**/*.mjs'],
    extends: [configs.disableTypeChecked],
    languageOptions: { globals: NODE_SCRIPT_GLOBALS },
    rules: { 'no-undef': 'error', 'no-unused-vars': ['error', { ignoreRestSiblings: true }] },
  },
);
