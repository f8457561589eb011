import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RETENTION_SECONDS } from '../../embedded/temporal.ts';
import { CONFIG_VARIABLES, readConfig } from '../../process/config.ts';
import { TASK_QUEUE } from '../../workflows/ids.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.ts';

const page = readFileSync(new URL('../../docs/production.md', import.meta.url), 'utf8');

/** The rows of the table of settings: name and default, both without their backticks. */
const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| ([^|]*) \|/gm)].map(([, name = '', byDefault = '']) => ({
  name,
  byDefault: byDefault.replaceAll('`', '').trim(),
}));
const ours = rows.filter(({ name }) => (CONFIG_VARIABLES as readonly string[]).includes(name));

const defaults: Readonly<Record<string, unknown>> = readConfig({
  DATABASE_URL: 'postgresql://db.example/paidonce',
  PAYMENT_TOKEN_SECRET: 'a secret of more than 32 characters',
  GATEWAYS: '[{"name":"main","kind":"simulator"}]',
});

describe('docs/production.md', () => {
  it('has a row for every setting, once', () => {
    expect(ours.map(({ name }) => name).sort()).toEqual([...CONFIG_VARIABLES].sort());
  });

  it.each(ours)('tells the default of $name', ({ name, byDefault }) => {
    if (byDefault === 'required') {
      expect(() => readConfig({})).toThrow(`${name}: `);
      return;
    }
    const value = name === 'DATABASE_PASSWORD' ? undefined : defaults[name];
    expect(byDefault).toBe(value === undefined ? 'none' : String(value));
  });

  it('tells what a namespace has to have', () => {
    expect(page).toContain(`${RETENTION_SECONDS / 86_400} days`);
    for (const [name, type] of Object.entries(SEARCH_ATTRIBUTES)) expect(page).toContain(`\`${name}\` (${type})`);
    expect(page).toContain(`task queue \`${TASK_QUEUE}\``);
  });
});
