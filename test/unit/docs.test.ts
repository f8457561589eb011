import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { ATTEMPT_TRANSITIONS } from '../../domain/attempt.ts';
import { ORDER_TRANSITIONS } from '../../domain/order.ts';
import packageDescription from '../../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const README_LINES_MAX = 150;
const PICTURE_BYTES_MAX = 150 * 1024;
/** Made on the machine, and no part of the project. */
const MADE_FOLDERS = ['node_modules', 'dist', 'coverage'];

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map((match) => match[1] ?? '');
}

const PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...filesBelow('docs', '.md')];
const readme = read('README.md');

/** What stands between backticks, but for blocks. */
function codeIn(page: string): string[] {
  return matches(read(page).replaceAll(/^```.*?^```/gms, ''), /`([^`\n]+)`/g);
}

describe('the README', () => {
  it(`has at most ${README_LINES_MAX} lines`, () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(README_LINES_MAX);
  });

  it('says what it is, then the commands, a picture, the promises, and where things are', () => {
    const headings = matches(readme, /^#+ (.*)$/gm);
    expect(headings).toEqual([
      'paidonce',
      'Two commands',
      'One purchase',
      'What is promised',
      'Where things are',
      'Licence',
    ]);
  });

  it('names every folder of the project, and no other', () => {
    const folders = readdirSync(ROOT, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !MADE_FOLDERS.includes(entry.name))
      .map(({ name }) => name);
    const rows = readme.split('\n').filter((line) => line.startsWith('| `'));
    const named = rows.flatMap((row) => matches(row.split('|')[1] ?? '', /`([a-z]+)\/`/g));
    expect([...named].sort()).toEqual(folders.sort());
  });

  it('gives each promise a row', () => {
    expect(matches(readme, /^\| (R\d) \|/gm)).toEqual(['R1', 'R2', 'R3', 'R4', 'R5', 'R6', 'R7']);
  });
});

/** As GitHub makes the anchor of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function findBrokenLinks(page: string): string[] {
  const text = read(page).replaceAll(/^```.*?^```/gms, '');
  return matches(text, /\]\(([^)\s]+)\)/g).filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(ROOT, target))) return true;
    return (
      anchor !== undefined &&
      !matches(read(target), /^#+ (.*)$/gm)
        .map(anchorOf)
        .includes(anchor)
    );
  });
}

describe.each(PAGES)('%s', (page) => {
  it('links to nothing that is not there', () => {
    expect(findBrokenLinks(page)).toEqual([]);
  });

  it('names only files that are there', () => {
    const paths = codeIn(page).filter((code) => /^[\w.-]+(\/[\w.-]+)+\.(ts|mjs|cjs|sql|md|sh|json)$/.test(code));
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('names only npm scripts that there are', () => {
    const text = read(page);
    const scripts = [...matches(text, /npm run ([a-z:-]+)/g), ...matches(text, /npm (start|test)\b/g)];
    expect(scripts.filter((script) => !(script in packageDescription.scripts))).toEqual([]);
  });
});

/** The commands as commander knows them: each file of cli/commands adds its own to a program. */
async function buildProgram(): Promise<Command> {
  const program = new Command('paidonce');
  for (const file of filesBelow('cli/commands', '.ts')) {
    const exported = (await import(join(ROOT, file))) as Record<string, unknown>;
    for (const [name, add] of Object.entries(exported)) {
      if (/^add[A-Z]\w*Commands?$/.test(name)) (add as (program: Command) => void)(program);
    }
  }
  return program;
}

function leavesOf(command: Command, path: readonly string[] = []): string[] {
  return command.commands.length === 0
    ? [path.join(' ')]
    : command.commands.flatMap((inner) => leavesOf(inner, [...path, inner.name()]));
}

/** Why `npx paidonce <line>` cannot be typed, or undefined. */
function findMistake(program: Command, line: string): string | undefined {
  let command = program;
  for (const word of line.trim().split(/\s+/)) {
    if (command.commands.length === 0) break;
    const inner = command.commands.find((known) => known.name() === word);
    if (inner === undefined) return `${command.name()} has no command ${word}`;
    command = inner;
  }
  const options = ['--help', ...command.options.map(({ long }) => long ?? '')];
  const unknown = matches(line, /(--[a-z-]+)/g).find((option) => !options.includes(option));
  return unknown === undefined ? undefined : `${command.name()} has no option ${unknown}`;
}

describe('the commands', async () => {
  const program = await buildProgram();

  it('are all named in the README', () => {
    expect(leavesOf(program).filter((leaf) => !readme.includes(`\`${leaf}\``))).toEqual([]);
  });

  it.each(PAGES)('in %s are there, with their options', (page) => {
    const lines = matches(read(page), /npx paidonce ([a-z][^`\n"]*)/g);
    const mistakes = lines.map((line) => findMistake(program, line)).filter((mistake) => mistake !== undefined);
    expect(mistakes).toEqual([]);
  });
});

describe('the pictures', () => {
  const pictures = readdirSync(join(ROOT, 'docs/pictures'));

  it.each(pictures)('%s stands on a page', (picture) => {
    expect(PAGES.some((page) => read(page).includes(`pictures/${picture})`))).toBe(true);
  });

  it.each(pictures)('%s is small', (picture) => {
    expect(statSync(join(ROOT, 'docs/pictures', picture)).size).toBeLessThan(PICTURE_BYTES_MAX);
  });
});

describe('the settings', () => {
  const sources = ['api', 'cli', 'embedded', 'gateways', 'process', 'store', 'worker']
    .flatMap((folder) => [...filesBelow(folder, '.ts'), ...filesBelow(folder, '.mjs')])
    .concat('docker-compose.yml', 'test/cluster/temporal-server.ts')
    .map(read)
    .join('\n');

  it.each(PAGES)('in %s are read somewhere', (page) => {
    const named = codeIn(page)
      .map((code) => /^([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=.*)?$/.exec(code)?.[1] ?? '')
      // The variables of Temporal's own programs are read by them.
      .filter((name) => name !== '' && !/^TEMPORAL_(WORKFLOW|BATCH|TLS)_/.test(name));
    expect(
      named.filter((name) => !sources.includes(name) && !(name in { ORDER_TRANSITIONS, ATTEMPT_TRANSITIONS })),
    ).toEqual([]);
  });
});

describe('docs/states.md', () => {
  const diagrams = matches(read('docs/states.md'), /^```mermaid\n(.*?)^```/gms);

  it.each([
    ['orders', 0, ORDER_TRANSITIONS],
    ['payment attempts', 1, ATTEMPT_TRANSITIONS],
  ] as const)(
    'draws the arrows of %s as the code has them',
    (_, diagram, transitions: Record<string, readonly string[]>) => {
      const drawn = matches(diagrams[diagram] ?? '', /^\s+(\w+ --> \w+)$/gm);
      const coded = Object.entries(transitions).flatMap(([from, tos]) => tos.map((to) => `${from} --> ${to}`));
      expect([...drawn].sort()).toEqual(coded.sort());
    },
  );

  it.each([
    ['orders', 0, ORDER_TRANSITIONS],
    ['payment attempts', 1, ATTEMPT_TRANSITIONS],
  ] as const)(
    'ends %s where the code lets nothing follow',
    (_, diagram, transitions: Record<string, readonly string[]>) => {
      const drawn = matches(diagrams[diagram] ?? '', /^\s+(\w+) --> \[\*\]$/gm);
      const ends = Object.keys(transitions).filter((status) => transitions[status]?.length === 0);
      expect([...drawn].sort()).toEqual(ends.sort());
    },
  );
});
