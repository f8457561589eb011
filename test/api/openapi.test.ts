import { describe, expect, test } from 'vitest';
import { ERRORS } from '../../domain/errors.ts';
import { createTestDatabase } from '../support/database.ts';
import { readDocument } from './document.ts';
import { NO_PURCHASES, startTestApi } from './support.ts';

const api = await startTestApi(await createTestDatabase(), { purchases: NO_PURCHASES });
const { document, operations } = await readDocument(api.app);

/** What serves the description itself is not part of it. */
const UNDESCRIBED = /^\/(docs|openapi\.json)/;

describe('the OpenAPI document', () => {
  test('is of version 3.1 and names itself', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.title).toBe('paidonce');
    expect(Object.keys(document.components.securitySchemes)).toEqual(['apiKey']);
  });

  test('lists exactly the routes that are registered', () => {
    const registered = registeredRoutes(api.app.printRoutes({ commonPrefix: false, includeHooks: false }));
    const described = operations.map(({ method, path }) => `${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`);
    expect(described.sort()).toEqual(registered.filter((route) => !UNDESCRIBED.test(route.split(' ')[1]!)).sort());
  });

  test('every reference leads to a schema, and every schema is referred to', () => {
    const text = JSON.stringify(document);
    const used = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference!));
    const there = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect([...used].sort()).toEqual(there.sort());
  });

  test('every schema uses only words of JSON Schema 2020-12', () => {
    const unknown = new Set<string>();
    for (const schema of schemasOf()) for (const word of wordsOf(schema)) if (!WORDS.has(word)) unknown.add(word);
    expect([...unknown]).toEqual([]);
  });

  test('operation ids are unique', () => {
    const ids = operations.map(({ description }) => description.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test.each(operations)('$name is described whole', ({ path, behindAKey, description }) => {
    expect(description.summary).toMatch(/\w/);
    expect(document.tags.map(({ name }) => name)).toContain(description.tags?.[0]);
    const inPath = (description.parameters ?? []).filter((parameter) => parameter.in === 'path');
    expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
    expect(inPath.every(({ required }) => required === true)).toBe(true);
    const { requestBody } = description;
    if (requestBody !== undefined) expect(Object.keys(requestBody.content)).toEqual(['application/json']);
    expect(Object.keys(description.responses)).toEqual(expect.arrayContaining(['500', '503']));
    if (behindAKey) expect(Object.keys(description.responses)).toEqual(expect.arrayContaining(['401', '403']));
    for (const [status, { description: sentence, content }] of Object.entries(description.responses)) {
      expect(sentence).toMatch(/\w/);
      if (Number(status) < 400) continue;
      expect(content).toEqual({ 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } });
      for (const code of sentence.split(', ')) expect(ERRORS[code as keyof typeof ERRORS].status).toBe(Number(status));
    }
  });

  test('input schemas take no extra fields', () => {
    for (const name of ['NewOrderInput', 'PayRequestInput', 'DecisionInput', 'AmountInput']) {
      expect(document.components.schemas[name]).toMatchObject({ additionalProperties: false });
    }
  });

  test('the page at /docs and its files are served under a policy that runs no foreign script', async () => {
    const page = await api.app.inject('/docs');
    expect(page.statusCode).toBe(200);
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain('unsafe-inline');
    expect(policy).not.toContain('upgrade-insecure-requests');
    const script = await api.app.inject('/docs/static/swagger-ui-bundle.js');
    expect(script.statusCode).toBe(200);
    expect((await api.app.inject('/docs/json')).json().openapi).toBe('3.1.0');
  });
});

test('every answer carries its request id, is not cached, and is kept from frames and guesses', async () => {
  const one = await api.app.inject('/healthz');
  const two = await api.app.inject('/healthz');
  expect(one.headers['x-request-id']).not.toBe(two.headers['x-request-id']);
  expect(one.headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
    'referrer-policy': 'no-referrer',
  });
});

const WORDS = new Set([
  ...['$ref', 'type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'const', 'anyOf', 'default'],
  ...['minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'format', 'description'],
  ...['minItems', 'maxItems', 'propertyNames'],
]);

function schemasOf(): object[] {
  const bodies = operations.flatMap(({ description }) => Object.values(description.requestBody?.content ?? {}));
  const answers = operations.flatMap(({ description }) =>
    Object.values(description.responses).flatMap(({ content }) => Object.values(content ?? {})),
  );
  const parameters = operations.flatMap(({ description }) =>
    (description.parameters ?? []).map(({ schema }) => schema ?? {}),
  );
  return [
    ...Object.values(document.components.schemas),
    ...[...bodies, ...answers].map(({ schema }) => schema),
    ...parameters,
  ];
}

function wordsOf(schema: object): string[] {
  return Object.entries(schema).flatMap(([word, value]) => {
    const inner = word === 'properties' ? Object.values(value as object) : [value].flat();
    const nested = ['properties', 'items', 'anyOf', 'additionalProperties'].includes(word) ? inner : [];
    return [word, ...nested.flatMap((part) => (typeof part === 'object' && part !== null ? wordsOf(part) : []))];
  });
}

/** Fastify prints its routes as a tree: each line a piece of the path, with the methods in brackets at the ends. */
function registeredRoutes(tree: string): string[] {
  const pieces: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const found = /^([\s│├└─]*)([^\s(]+)(?: \(([A-Z, ]+)\))?/u.exec(line);
    if (found === null) return [];
    const [, indent = '', piece = '', methods = ''] = found;
    const depth = indent.length / 4;
    pieces.splice(depth - 1, pieces.length, piece);
    return methods
      .split(', ')
      .filter((method) => method !== '')
      .map((method) => `${method} ${pieces.join('')}`);
  });
}
