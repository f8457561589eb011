import { v7 as newId } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallScope, Gateway } from '../../domain/gateway.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { money } from '../../domain/money.ts';
import { createSimulatorGateway } from '../../gateways/simulator/adapter.ts';
import type { FaultInput, SwitchesInput } from '../../gateways/simulator/control.ts';
import { createLedgerFolder, type SimulatorProcess, startSimulatorProcess } from '../support/simulator-process.ts';

const SCOPE: CallScope = { timeoutMs: 2_000, saveGatewayReference: () => Promise.resolve() };
const AMOUNT = money(1_000, 'EUR');
const ledger = createLedgerFolder();
let simulator: SimulatorProcess;
let accounts = 0;

beforeAll(async () => {
  simulator = await startSimulatorProcess(ledger.path);
});
afterAll(async () => {
  await simulator.stop();
  ledger.remove();
});

type Closer = Gateway & Required<Pick<Gateway, 'close' | 'inquire'>>;

async function open(switches: SwitchesInput = {}) {
  accounts += 1;
  const name = `closing-${accounts}`;
  await simulator.control.putAccount(name, switches);
  const reference = merchantReference(newId(), 1);
  const connect = () =>
    createSimulatorGateway({ name, settings: { url: simulator.address, capabilities: { close: true } } }) as Closer;
  const question = { merchantReference: reference, gatewayReference: null, amount: AMOUNT, firstSentAt: '' };
  return {
    charge: (paymentMethod: string) => {
      const gateway = connect();
      const command = {
        merchantReference: reference,
        amount: AMOUNT,
        paymentMethod,
        description: null,
        returnUrl: null,
      };
      return gateway.charge(gateway.prepareCharge(command), SCOPE);
    },
    close: () => connect().close(question, SCOPE),
    ask: () => connect().inquire(question, SCOPE),
    addFault: (fault: FaultInput['fault']) => simulator.control.addFault({ fault, match: { account: name } }),
    row: async () => (await simulator.control.ledger({ account: name }))[0],
  };
}

describe('closing a reference at the simulator', () => {
  test('ends an action, so that the customer can no longer confirm it', async () => {
    const account = await open();
    const outcome = await account.charge('tok_action');
    const url = outcome.kind === 'requires_action' ? outcome.action.url : '';
    expect((await account.close()).kind).toBe('closed');
    await fetch(`${url}/complete`, { method: 'POST' });
    expect(await account.row()).toMatchObject({ charges: 0, open: 0, declined: 1 });
    expect(await account.ask()).toMatchObject({ kind: 'found', outcome: { kind: 'declined' } });
  });

  test('shuts out a request that comes later, also after a crash, and says the same when asked again', async () => {
    const account = await open();
    expect((await account.close()).kind).toBe('closed');
    const { port } = new URL(simulator.address);
    await simulator.kill();
    simulator = await startSimulatorProcess(ledger.path, Number(port));
    expect((await account.charge('tok_ok')).kind).toBe('unknown');
    expect((await account.close()).kind).toBe('closed');
    expect(await account.row()).toMatchObject({ charges: 0 });
  });

  test('tells of the charge that was quicker, and leaves it', async () => {
    const account = await open();
    await account.charge('tok_ok');
    expect(await account.close()).toMatchObject({ kind: 'found', outcome: { kind: 'approved', amount: AMOUNT } });
    expect(await account.row()).toMatchObject({ charges: 1 });
  });

  test('of a close and a charge at one moment, both answers agree with the ledger', async () => {
    for (let race = 0; race < 20; race += 1) {
      const account = await open();
      const [closed, charged] = await Promise.all([account.close(), account.charge('tok_ok')]);
      const moved = (await account.row())?.charges ?? 0;
      expect(moved).toBe(charged.kind === 'approved' ? 1 : 0);
      expect(closed.kind).toBe(moved === 1 ? 'found' : 'closed');
    }
  });

  test.each([
    ['an error', { kind: 'inquiry_unavailable', status: 503 }],
    ['a cut connection', { kind: 'inquiry_lost' }],
    ['a page', { kind: 'inquiry_unreadable' }],
  ] as const)('proves nothing by %s', async (_name, fault) => {
    const account = await open();
    await account.addFault(fault);
    expect((await account.close()).kind).toBe('unavailable');
  });

  test('proves nothing where there is no such route', async () => {
    const account = await open({ close: 'absent' });
    expect((await account.close()).kind).toBe('unavailable');
  });
});
