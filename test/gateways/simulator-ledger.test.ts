import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallScope, Gateway } from '../../domain/gateway.ts';
import { createSimulatorGateway } from '../../gateways/simulator/adapter.ts';
import { createLedgerFolder, type SimulatorProcess, startSimulatorProcess } from '../support/simulator-process.ts';

/** The judge of every other test is tried here: what it has told anybody must be in its ledger, whatever is killed. */
const SCOPE: CallScope = { timeoutMs: 10_000, saveGatewayReference: () => Promise.resolve() };

let folder: ReturnType<typeof createLedgerFolder>;
let running: SimulatorProcess[];

beforeEach(() => {
  folder = createLedgerFolder();
  running = [];
});
afterEach(async () => {
  for (const simulator of running) await simulator.kill();
  folder.remove();
});

async function start(): Promise<SimulatorProcess> {
  const simulator = await startSimulatorProcess(folder.path);
  running.push(simulator);
  return simulator;
}

function gatewayAt({ address: url }: SimulatorProcess): Gateway {
  return createSimulatorGateway({ name: 'main', settings: { url } });
}

function charge(gateway: Gateway, merchantReference: string, paymentMethod = 'tok_ok') {
  const amount = { minorUnits: 100, currency: 'EUR' } as const;
  const command = { merchantReference, amount, paymentMethod, description: null, returnUrl: null };
  return gateway.charge(gateway.prepareCharge(command), SCOPE);
}

describe('the ledger', () => {
  it.each([1, 3])('holds every charge that was answered before SIGKILL under load (round %i)', async (round) => {
    const first = await start();
    const gateway = gatewayAt(first);
    const answered = new Map<string, string>();
    const sent = new Set<string>();
    const killAfter = 150 * round;
    let killed: Promise<void> | undefined;
    const customer = async (name: number): Promise<void> => {
      for (let place = 0; killed === undefined; place += 1) {
        const reference = `C${name}N${place}`;
        sent.add(reference);
        const outcome = await charge(gateway, reference);
        if (outcome.kind !== 'approved') return;
        answered.set(reference, outcome.gatewayReference ?? '');
        if (answered.size === killAfter) killed = first.kill();
      }
    };
    await Promise.all(Array.from({ length: 40 }, (_unused, name) => customer(name)));
    await killed;

    const second = await start();
    const rows = new Map((await second.control.ledger()).map((row) => [row.reference, row]));
    expect(answered.size).toBeGreaterThanOrEqual(killAfter);
    for (const [reference, id] of answered) {
      expect(rows.get(reference)).toMatchObject({ charges: 1, gateway_references: [id] });
    }
    expect([...rows.keys()].filter((reference) => !sent.has(reference))).toEqual([]);

    // Keys are remembered too: sending everything again moves nothing that was moved.
    const again = gatewayAt(second);
    await Promise.all([...sent].map((reference) => charge(again, reference)));
    const after = await second.control.ledger();
    expect(after).toHaveLength(sent.size);
    expect(after.every(({ charges }) => charges === 1)).toBe(true);
  });

  it('cuts off a line that was torn by a crash, and goes on counting', async () => {
    const first = await start();
    await charge(gatewayAt(first), 'R1');
    await first.kill();
    const { size } = statSync(folder.path);
    appendFileSync(folder.path, '{"sequence":2,"at":"2026-11-30T12:00:00.000Z","kind":"money_mo');
    const second = await start();
    expect(statSync(folder.path).size).toBe(size);
    await charge(gatewayAt(second), 'R2');
    expect(await second.control.entries()).toMatchObject([{ sequence: 1 }, { sequence: 2, reference: 'R2' }]);
    expect(await second.control.entries(1)).toMatchObject([{ sequence: 2 }]);
    expect(readFileSync(folder.path, 'utf8').endsWith('}\n')).toBe(true);
  });

  it.each([
    ['a line that cannot be read', (lines: string[]) => [lines[0], 'scribble', ...lines.slice(1)]],
    ['a line that is missing', (lines: string[]) => lines.slice(1)],
    [
      'an amount that was changed into text',
      (lines: string[]) => [lines[0]?.replace(':100', ':"100"'), ...lines.slice(1)],
    ],
  ])('refuses to start on %s', async (_name, damage) => {
    const first = await start();
    await charge(gatewayAt(first), 'R1');
    await charge(gatewayAt(first), 'R2');
    await first.stop();
    writeFileSync(folder.path, damage(readFileSync(folder.path, 'utf8').split('\n')).join('\n'));
    await expect(start()).rejects.toThrow(/Line \d of the ledger .* is damaged/);
  });

  it('belongs to one process at a time, also after its owner was killed', async () => {
    const first = await start();
    await expect(start()).rejects.toThrow(/Another gateway simulator is writing the ledger/);
    await first.kill();
    await charge(gatewayAt(await start()), 'R1');
  });

  it('settles a pending charge whose time came while nobody was there, and remembers who waits for a customer', async () => {
    const first = await start();
    await charge(gatewayAt(first), 'R1', 'tok_pending_approved');
    await charge(gatewayAt(first), 'R2', 'tok_action');
    await first.kill();
    const second = await start();
    const charges = async (reference: string) => (await second.control.ledger({ reference }))[0]?.charges;
    await expect.poll(() => charges('R1'), { timeout: 15_000 }).toBe(1);
    const [waiting] = await second.control.ledger({ reference: 'R2' });
    expect(waiting).toMatchObject({ charges: 0, open: 1 });
    await second.control.act(waiting?.gateway_references[0] ?? '', 'complete');
    expect(await charges('R2')).toBe(1);
    const kinds = (await second.control.entries()).map(({ kind }) => kind);
    expect(kinds).toEqual(['charge_opened', 'charge_opened', 'money_moved', 'money_moved']);
  });

  it('keeps unique references over a crash', async () => {
    const first = await start();
    await charge(gatewayAt(first), 'R1');
    await first.kill();
    const second = await start();
    await second.control.putAccount('main', { idempotency_key: { mode: 'ignored' }, unique_reference: 'refused' });
    expect(await charge(gatewayAt(second), 'R1')).toMatchObject({
      kind: 'unknown',
      raw: expect.stringContaining('reference_used'),
    });
    expect(await second.control.ledger()).toMatchObject([{ charges: 1, requests: 2 }]);
  });
});
