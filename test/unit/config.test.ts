import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readConfig, readDatabaseUrl, readWorkerConfig } from '../../process/config.ts';
import { readTemporalTarget } from '../../process/temporal.ts';

const SECRET = 'a secret of more than 32 characters';
const LEAST = {
  DATABASE_URL: 'postgresql://paidonce@db.example/paidonce',
  PAYMENT_TOKEN_SECRET: SECRET,
  GATEWAYS: '[{"name":"main","kind":"simulator"}]',
};

function fileWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'paidonce-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'secret');
  writeFileSync(file, text);
  return file;
}

describe('the configuration', () => {
  it('needs a database, a secret and gateways, and has defaults for the rest', () => {
    expect(readConfig(LEAST)).toMatchObject({
      DATABASE_URL: LEAST.DATABASE_URL,
      API_HOST: '127.0.0.1',
      API_PORT: 8080,
      DATABASE_POOL_SIZE: 20,
      ALLOW_AT_MOST_ONCE_SENT: false,
      GATEWAY_BREAKER: true,
      GATEWAYS: [{ name: 'main', kind: 'simulator', settings: {} }],
    });
    expect(readConfig(LEAST).WORKER_HEALTH_PORT).toBeUndefined();
  });

  it('of a worker needs no secret of the API, and holds none', () => {
    const { PAYMENT_TOKEN_SECRET, ...others } = LEAST;
    expect(readWorkerConfig(others)).toMatchObject({ DATABASE_URL: LEAST.DATABASE_URL });
    expect(JSON.stringify(readWorkerConfig(LEAST))).not.toContain(PAYMENT_TOKEN_SECRET);
  });

  it('tells all mistakes at once and none of the values', () => {
    const wrong = {
      ...LEAST,
      DATABASE_URL: 'mysql://root:hunter2@db',
      PAYMENT_TOKEN_SECRET: 'hunter2',
      API_PORT: '70000',
    };
    expect(() => readConfig(wrong)).toThrow(/DATABASE_URL: .*API_PORT: .*PAYMENT_TOKEN_SECRET: /s);
    expect(() => readConfig(wrong)).not.toThrow(/hunter2|70000/);
  });

  it('takes any variable from a file, without the line end that editors put', () => {
    const { PAYMENT_TOKEN_SECRET, ...others } = LEAST;
    const config = readConfig({ ...others, PAYMENT_TOKEN_SECRET_FILE: fileWith(`${PAYMENT_TOKEN_SECRET}\n`) });
    expect(config.PAYMENT_TOKEN_SECRET).toBe(SECRET);
  });

  it('prefers the variable to the file, and says when a file cannot be read', () => {
    expect(readConfig({ ...LEAST, DATABASE_URL_FILE: '/nowhere' }).DATABASE_URL).toBe(LEAST.DATABASE_URL);
    const { DATABASE_URL, ...others } = LEAST;
    expect(() => readConfig({ ...others, DATABASE_URL_FILE: `/nowhere/${DATABASE_URL.length}` })).toThrow(
      'The file named by DATABASE_URL_FILE cannot be read.',
    );
  });

  it('puts a password that is given apart into the address of the database, whatever it is made of', () => {
    const password = `p@ss:w/rd ?#%41'"`;
    for (const read of [(variables: NodeJS.ProcessEnv) => readConfig(variables).DATABASE_URL, readDatabaseUrl]) {
      const url = new URL(read({ ...LEAST, DATABASE_PASSWORD_FILE: fileWith(password) }));
      expect(decodeURIComponent(url.password)).toBe(password);
      expect(url.host + url.pathname).toBe('db.example/paidonce');
      expect(url.username).toBe('paidonce');
    }
  });

  it('refuses a password that has no place in the address', () => {
    expect(() => readDatabaseUrl({ DATABASE_URL: 'postgresql:///paidonce', DATABASE_PASSWORD: SECRET })).toThrow(
      'DATABASE_PASSWORD needs a DATABASE_URL with a host',
    );
  });
});

describe('the Temporal server', () => {
  /** So that no temporal.toml of the person who runs the test is read. */
  const nowhere = { HOME: '/nowhere', XDG_CONFIG_HOME: '/nowhere' };

  it('is named by address and namespace, in clear unless told otherwise', () => {
    const target = readTemporalTarget({
      ...nowhere,
      TEMPORAL_ADDRESS: 'temporal:7233',
      TEMPORAL_NAMESPACE: 'paidonce',
    });
    expect(target.namespace).toBe('paidonce');
    expect(target.connection).toMatchObject({ address: 'temporal:7233' });
    expect(target.connection.tls).toBeUndefined();
    expect(readTemporalTarget(nowhere).namespace).toBe('default');
  });

  it('is spoken to in TLS as soon as there is an API key, which may come from a file', () => {
    const target = readTemporalTarget({ ...nowhere, TEMPORAL_API_KEY_FILE: fileWith('the key\n') });
    expect(target.connection).toMatchObject({ apiKey: 'the key', tls: true });
  });

  it('is given a certificate from files', () => {
    const target = readTemporalTarget({
      ...nowhere,
      TEMPORAL_TLS_CLIENT_CERT_PATH: fileWith('certificate'),
      TEMPORAL_TLS_CLIENT_KEY_PATH: fileWith('key'),
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: fileWith('authority'),
    });
    const { tls } = target.connection;
    if (typeof tls !== 'object' || tls === null) throw new Error('TLS is off');
    const text = (bytes?: Uint8Array): string => Buffer.from(bytes ?? []).toString();
    expect(text(tls.clientCertPair?.crt)).toBe('certificate');
    expect(text(tls.clientCertPair?.key)).toBe('key');
    expect(text(tls.serverRootCACertificate)).toBe('authority');
  });
});
