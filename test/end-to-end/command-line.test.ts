import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createShop } from '../../cli/tour/shop.ts';
import { findRunningStack } from '../../embedded/stack.ts';
import { startReceiver } from '../support/receiver.ts';

/** The commands as a person types them, each in a process of its own. */
const COMMAND = join(import.meta.dirname, '..', '..', 'cli', 'paidonce.mjs');
const folder = mkdtempSync(join(tmpdir(), 'paidonce-cli-'));

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(...parameters: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(process.execPath, [COMMAND, ...parameters], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const onStack = (...parameters: string[]): Promise<Ran> => run(...parameters, '--data-folder', folder);
const json = async (...parameters: string[]): Promise<unknown> =>
  JSON.parse((await onStack(...parameters, '--json')).stdout) as unknown;

describe('beside a running stack', () => {
  let stack: ReturnType<typeof spawn>;
  let developmentKey = '';

  beforeAll(async () => {
    stack = spawn(process.execPath, [COMMAND, 'start', '--no-tour', '--data-folder', folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (stack.stdout === null) throw new Error('no output');
    for await (const line of createInterface({ input: stack.stdout })) {
      developmentKey = /paidonce_operate_\S+/.exec(line)?.[0] ?? developmentKey;
      if (line.startsWith('Ctrl-C')) break;
    }
  }, 120_000);

  afterAll(async () => {
    stack.kill('SIGINT');
    const [code] = await once(stack, 'exit');
    rmSync(folder, { recursive: true, force: true });
    expect(code, 'Ctrl-C stops everything in good order').toBe(0);
  }, 60_000);

  test('a second start says so and breaks nothing', async () => {
    const second = await onStack('start');
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(/already runs.*stack_already_running/);
    expect((await onStack('orders', 'list')).code).toBe(0);
  });

  test('orders, their attempts and evidence, and the gateway’s books can be read, for people and as JSON', async () => {
    const addresses = findRunningStack(folder);
    const shop = createShop(addresses?.api ?? '', developmentKey);
    const order = await shop.createOrder();
    await shop.pay(order);
    await shop.close();

    expect((await onStack('orders', 'list')).stdout).toContain(order.id);
    expect(await json('orders', 'list')).toMatchObject({ orders: [{ id: order.id, status: 'paid' }] });
    const shown = await onStack('orders', 'show', order.id);
    expect(shown.stdout).toContain('gateway_response');
    const asJson = await onStack('orders', 'show', order.id, '--json');
    expect(JSON.parse(asJson.stdout)).toMatchObject({ order: { status: 'paid' }, attempts: [{ status: 'approved' }] });
    expect(asJson.stdout, 'a payment token is not for terminals').not.toContain('payment_token');
    expect(await json('simulator', 'ledger')).toMatchObject([{ charges: 1 }]);
  });

  test('an endpoint is added, told of a paid order, given another secret, told once more, and removed', async () => {
    const receiver = await startReceiver();
    const added = await onStack('webhooks', 'add', receiver.url, '--kinds', 'order.paid');
    const id = /Endpoint (\S+),/.exec(added.stderr)?.[1] ?? '';
    receiver.trust(added.stdout.trim());
    const shop = createShop(findRunningStack(folder)?.api ?? '', developmentKey);
    const order = await shop.createOrder();
    await shop.pay(order);
    await shop.close();
    const told = { kind: 'order.paid', orderId: order.id, sequence: 1, genuine: true };
    await vi.waitFor(() => expect(receiver.received).toMatchObject([told]), { timeout: 10_000 });

    const rotated = await onStack('webhooks', 'rotate', id, '--overlap-seconds', '0');
    receiver.trust(rotated.stdout.trim());
    const event = receiver.received[0]?.id ?? '';
    expect(await json('webhooks', 'replay', id, '--event', event)).toEqual({ replayed: 1 });
    await vi.waitFor(() => expect(receiver.received).toMatchObject([told, told]), { timeout: 10_000 });
    expect((await onStack('webhooks', 'replay', id)).stderr).toContain('either --event');
    expect((await onStack('webhooks', 'list')).stdout).toMatch(`${id}  ${receiver.url}  order.paid  2`);
    await onStack('webhooks', 'remove', id);
    expect((await onStack('webhooks', 'list')).stdout).toContain('Removed by an operator.');
  });

  test('a fault can be added, seen and cleared', async () => {
    const script = '{"fault":{"kind":"lost_answer"},"match":{"payment_method":"tok_ok_test"}}';
    expect((await onStack('simulator', 'fault', script)).code).toBe(0);
    expect(await json('simulator', 'faults')).toMatchObject([{ fault: { kind: 'lost_answer' } }]);
    await onStack('simulator', 'clear');
    expect(await json('simulator', 'faults')).toEqual([]);
  });

  test('mistakes get one sentence with a code, and exit code 1', async () => {
    const unknown = await onStack('orders', 'show', '01980000-0000-7000-8000-000000000000');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('(order_not_found)')]);
    const script = await onStack('simulator', 'fault', 'not json');
    expect([script.code, script.stderr]).toEqual([1, expect.stringContaining('must be JSON')]);
  });

  test('the doctor finds everything, and the stack that runs', async () => {
    const findings = (await json('doctor')) as { findings: { name: string; good: boolean; detail: string }[] };
    expect(findings.findings.every(({ good }) => good)).toBe(true);
    expect(findings.findings.find(({ name }) => name === 'embedded stack')?.detail).toContain('running');
  });
});

test('without a stack the commands say how to get one; a misspelt one is corrected', async () => {
  const alone = await run('orders', 'list', '--data-folder', join(folder, 'nowhere'));
  expect([alone.code, alone.stderr]).toEqual([1, expect.stringContaining('npm start')]);
  const misspelt = await run('ordres');
  expect([misspelt.code, misspelt.stderr]).toEqual([1, expect.stringContaining('orders')]);
});
