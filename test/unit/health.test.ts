import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveWorkerHealth, type WorkerHealth } from '../../worker/health.ts';

const CHECK = fileURLToPath(new URL('../../deploy/check-health.mjs', import.meta.url));

async function serve(): Promise<WorkerHealth> {
  const health = await serveWorkerHealth({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => health.close());
  return health;
}

async function check(address: string): Promise<{ readonly code: number | null; readonly said: string }> {
  const child = spawn(process.execPath, [CHECK, address], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said };
}

describe('the health of a worker', () => {
  it('is ready only while it takes work', async () => {
    const health = await serve();
    const readiness = async (): Promise<unknown> => {
      const response = await fetch(`${health.address}/readyz`);
      return [response.status, await response.json()];
    };
    expect(await readiness()).toEqual([503, { status: 'starting' }]);
    health.enter('working');
    expect(await readiness()).toEqual([200, { status: 'working' }]);
    health.enter('stopping');
    expect(await readiness()).toEqual([503, { status: 'stopping' }]);
    expect((await fetch(`${health.address}/healthz`)).status).toBe(200);
  });

  it('has figures for Prometheus, and nothing else', async () => {
    const { address } = await serve();
    expect(await (await fetch(`${address}/metrics`)).text()).toContain('process_cpu_seconds_total');
    expect((await fetch(`${address}/v1/orders`)).status).toBe(404);
    expect((await fetch(`${address}/healthz`, { method: 'POST' })).status).toBe(405);
  });
});

describe('the health check of the containers', () => {
  it('is content with a 2xx and says what else it saw', async () => {
    const { address } = await serve();
    expect(await check(`${address}/healthz`)).toEqual({ code: 0, said: '' });
    const notReady = await check(`${address}/readyz`);
    expect(notReady.code).toBe(1);
    expect(notReady.said).toContain('503 {"status":"starting"}');
  });

  it('fails when nobody listens', async () => {
    const health = await serveWorkerHealth({ host: '127.0.0.1', port: 0 });
    await health.close();
    expect((await check(`${health.address}/healthz`)).code).toBe(1);
  });
});
