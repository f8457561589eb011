/**
 * The arrows between the folders, as data. Everything that is not listed is an error, and so is every cycle, also one of
 * types only: a type that reaches the database brings Node's types along and silently opens the workflow sandbox.
 * docs/decisions/0003-house-rules.md says why each is so; test/house proves that each can fail.
 */

/** What each folder may import besides itself. `node`: Node's own modules; `packages`: any installed package. */
const ARROWS = {
  domain: { paths: [] },
  workflows: { paths: ['^domain/', ...packages('@temporalio/workflow', '@temporalio/common')] },
  activities: {
    paths: ['^workflows/(contracts|messages|ids)\\.ts$', '^(store|gateways|domain)/', '^process/points\\.ts$'],
    node: true,
    packages: true,
  },
  gateways: { paths: ['^domain/'], node: true, packages: true },
  store: { paths: ['^domain/', '^process/points\\.ts$'], node: true, packages: true },
  process: { paths: ['^domain/'], node: true, packages: true },
  api: {
    paths: [
      '^workflows/(messages|ids|search-attributes|purchase-start|refund-start)\\.ts$',
      '^(store|domain|process)/',
    ],
    node: true,
    packages: true,
  },
  worker: { paths: ['^(activities|store|gateways|workflows|domain|process)/'], node: true, packages: true },
  embedded: { paths: ['^(domain|process)/'], node: true, packages: true },
  cli: {
    paths: ['^(domain|workflows|activities|gateways|store|process|api|worker|embedded)/', '^package\\.json$'],
    node: true,
    packages: true,
  },
};

/** Libraries that belong to one boundary: whoever else imports them is doing another folder's work. */
const LIBRARY_OWNERS = {
  pg: ['store', 'embedded'],
  fastify: ['api', 'gateways/simulator/server'],
  undici: ['gateways', 'embedded', 'cli'],
  '@temporalio/workflow': ['workflows'],
  '@temporalio/activity': ['activities', 'worker'],
  '@temporalio/worker': ['worker', 'cli'],
  '@temporalio/client': ['api', 'worker', 'cli', 'embedded'],
};

function packages(...names) {
  return names.map((name) => `^node_modules/(@types/)?${name}/`);
}

const NPM = ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-bundled'];

const arrows = Object.entries(ARROWS).map(([folder, allowed]) => ({
  name: `${folder}-arrows`,
  comment: `${folder}/ may import only ${allowed.paths.join(', ') || 'itself'}.`,
  severity: 'error',
  from: { path: `^${folder}/` },
  to: {
    pathNot: [`^${folder}/`, ...allowed.paths],
    couldNotResolve: false,
    dependencyTypesNot: [...(allowed.node ? ['core'] : []), ...(allowed.packages ? NPM : [])],
  },
}));

const owners = Object.entries(LIBRARY_OWNERS).map(([name, folders]) => ({
  name: `${name.replace('@temporalio/', 'temporal-')}-has-an-owner`,
  comment: `${name} is imported only in ${folders.join(', ')} (and in tests).`,
  severity: 'error',
  from: { pathNot: ['test', 'bench', ...folders].map((folder) => `^${folder}/`) },
  to: { path: packages(name) },
}));

module.exports = {
  forbidden: [
    ...arrows,
    ...owners,
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one file, or three.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unknown-folder',
      comment: 'A folder without a row in ARROWS would be free of all rules.',
      severity: 'error',
      from: { path: '^[^/]+/', pathNot: `^(${Object.keys(ARROWS).join('|')}|test|bench|migrations|docs)/` },
      to: {},
    },
    {
      name: 'tests-are-not-imported',
      comment: 'Tests may import all, so whoever imports them imports all. Configuration files at the top are theirs.',
      severity: 'error',
      from: { pathNot: ['^(test|bench)/', '^[^/]+$'] },
      to: { path: '^(test|bench)/' },
    },
    {
      name: 'gateways-are-separate',
      comment: 'Each gateway is a folder that can be deleted; what two of them share lies in gateways/ itself.',
      severity: 'error',
      from: { path: '^gateways/([^/]+)/' },
      to: { path: '^gateways/[^/]+/', pathNot: '^gateways/$1/' },
    },
    {
      name: 'simulator-is-an-outside-program',
      comment: 'The ledger is the only judge; the product reaches the simulator by HTTP, as it would a real gateway.',
      severity: 'error',
      from: { pathNot: '^(gateways/simulator/(server|control)|cli|test|bench)[/.]' },
      to: { path: '^gateways/simulator/(server|control)[/.]' },
    },
    {
      name: 'simulator-knows-no-product',
      comment: 'A judge that shares code with the accused could share a mistake with it.',
      severity: 'error',
      from: { path: '^gateways/simulator/server/' },
      to: { path: '^gateways/', pathNot: '^gateways/simulator/(server/|wire[/.-])' },
    },
    {
      name: 'no-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-development-package-in-the-product',
      comment: 'It would be missing after npm ci --omit=dev.',
      severity: 'error',
      from: { pathNot: ['^(test|bench)/', '^[^/]+$'] },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm', 'type-only'] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: '^node_modules/' },
    exclude: { path: '(^|/)(dist|\\.paidonce)/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
