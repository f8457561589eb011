import { v7 as newId } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallScope, Gateway, RefundCommand } from '../../domain/gateway.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { money } from '../../domain/money.ts';
import { refundReference } from '../../domain/refund.ts';
import { createSimulatorGateway } from '../../gateways/simulator/adapter.ts';
import type { FaultInput, LedgerRow, SwitchesInput } from '../../gateways/simulator/control.ts';
import { createLedgerFolder, type SimulatorProcess, startSimulatorProcess } from '../support/simulator-process.ts';

const SCOPE: CallScope = { timeoutMs: 2_000, saveGatewayReference: () => Promise.resolve() };
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

type Refunder = Gateway & Required<Pick<Gateway, 'prepareRefund' | 'refund' | 'inquireRefund'>>;

interface Paid {
  readonly gateway: Refunder;
  readonly charge: string;
  command(minorUnits: number, refundId?: string): RefundCommand;
  refund(command: RefundCommand): ReturnType<Refunder['refund']>;
  ask(command: RefundCommand): ReturnType<Refunder['inquireRefund']>;
  addFault(fault: FaultInput['fault']): Promise<string>;
  row(): Promise<LedgerRow | undefined>;
}

/** A charge of 10.00 at an account of its own. */
async function pay(switches: SwitchesInput = {}, capabilities: object = {}): Promise<Paid> {
  accounts += 1;
  const name = `account-${accounts}`;
  await simulator.control.putAccount(name, switches);
  const settings = { url: simulator.address, capabilities };
  const gateway = createSimulatorGateway({ name, settings }) as Refunder;
  const reference = merchantReference(newId(), 1);
  const order = { merchantReference: reference, amount: money(1_000, 'EUR'), paymentMethod: 'tok_ok' };
  const outcome = await gateway.charge(gateway.prepareCharge({ ...order, description: null, returnUrl: null }), SCOPE);
  const charge = outcome.kind === 'approved' ? (outcome.gatewayReference ?? '') : '';
  return {
    gateway,
    charge,
    command: (minorUnits, refundId = newId()) => ({
      refundReference: refundReference(refundId),
      charge: { merchantReference: reference, gatewayReference: charge },
      amount: money(minorUnits, 'EUR'),
    }),
    refund: (command) => gateway.refund(gateway.prepareRefund(command), SCOPE),
    ask: (command) => gateway.inquireRefund({ ...command, gatewayReference: null }, SCOPE),
    addFault: (fault) => simulator.control.addFault({ fault, match: { account: name, request: 'refund' } }),
    row: async () => (await simulator.control.ledger({ account: name }))[0],
  };
}

describe('a refund at the simulator', () => {
  test('moves its amount, shows in the ledger beside its charge, and is found again', async () => {
    const paid = await pay();
    const command = paid.command(392);
    expect(await paid.ask(command)).toMatchObject({ kind: 'absent' });
    expect(await paid.refund(command)).toMatchObject({ kind: 'approved', amount: money(392, 'EUR') });
    expect(await paid.ask(command)).toMatchObject({ kind: 'found', outcome: { kind: 'approved' } });
    const row = { charges: 1, moved: { minor_units: 1_000 }, requests: 1, refunds: 1, refunded: { minor_units: 392 } };
    expect(await paid.row()).toMatchObject(row);
  });

  test('C51: of a currency without decimals is of the same whole number', async () => {
    const { gateway } = await pay();
    const charge = { merchantReference: merchantReference(newId(), 1), gatewayReference: null };
    const { body } = gateway.prepareRefund({ refundReference: 'R1', charge, amount: money(9_899, 'JPY') });
    expect(JSON.parse(body)).toMatchObject({ amount: { minor_units: 9_899, currency: 'JPY' } });
  });

  test('C74: fifty at once never give back more than was taken', async () => {
    const paid = await pay();
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => paid.refund(paid.command(150))));
    expect(outcomes.filter(({ kind }) => kind === 'approved')).toHaveLength(6);
    expect(outcomes.filter(({ kind }) => kind === 'not_processed')).toHaveLength(44);
    expect(await paid.row()).toMatchObject({ refunds: 6, refunded: { minor_units: 900 } });
  });

  test.for([
    ['key honoured', {}, {}, 1],
    ['key ignored', { refund_idempotency_key: { mode: 'ignored' } }, {}, 2],
    ['key forgotten', { refund_idempotency_key: { mode: 'forgotten', after_seconds: 0 } }, {}, 2],
    [
      'reference refused',
      { unique_refund_reference: 'refused' },
      { refund: { repeat: { by: 'reference', on_repeat: 'refused' } } },
      1,
    ],
    ['reference ignored', {}, { refund: { repeat: { by: 'nothing' } } }, 2],
  ] as const)('C73: sent twice, %s', async ([, switches, capabilities, refunds]) => {
    const paid = await pay(switches, capabilities);
    const command = paid.command(100);
    await Promise.all([paid.refund(command), paid.refund(command)]);
    expect(await paid.row()).toMatchObject({ refunds, refund_requests: 2 });
  });

  test.for([
    ['lost_answer', 'unknown', 1],
    ['error_after', 'unknown', 1],
    ['never_arrives', 'unknown', 0],
    ['not_accepted', 'not_processed', 0],
    ['duplicated', 'approved', 1],
    ['decline', 'declined', 0],
  ] as const)('with the fault %s is %s', async ([kind, outcome, refunds]) => {
    const paid = await pay();
    await paid.addFault({ kind });
    expect(await paid.refund(paid.command(100))).toMatchObject({ kind: outcome });
    expect(await paid.row()).toMatchObject({ refunds });
  });

  test('that is late moves after its caller has given up', async () => {
    const paid = await pay();
    await paid.addFault({ kind: 'late', seconds: 0.2 });
    expect(await paid.refund(paid.command(100))).toMatchObject({ kind: 'unknown' });
    expect(await paid.row()).toMatchObject({ refunds: 0 });
    await expect.poll(async () => (await paid.row())?.refunds).toBe(1);
  });

  test.for([
    ['approved', 1],
    ['declined', 0],
  ] as const)('that is pending ends as %s', async ([settlesAs, refunds]) => {
    const paid = await pay();
    await paid.addFault({ kind: 'pending', seconds: 0.1, settles_as: settlesAs });
    const command = paid.command(100);
    expect(await paid.refund(command)).toMatchObject({ kind: 'pending' });
    await expect.poll(async () => paid.ask(command)).toMatchObject({ outcome: { kind: settlesAs } });
    expect(await paid.row()).toMatchObject({ refunds });
  });

  test('C77: that fails later has moved first, and then can be made again', async () => {
    const paid = await pay();
    await paid.addFault({ kind: 'fails_later', seconds: 0.1 });
    const command = paid.command(1_000);
    expect(await paid.refund(command)).toMatchObject({ kind: 'approved' });
    await expect.poll(async () => paid.ask(command)).toMatchObject({ outcome: { kind: 'declined' } });
    expect(await paid.row()).toMatchObject({ refunds: 0, refunded: { minor_units: 0 } });
    expect(await paid.refund(paid.command(1_000))).toMatchObject({ kind: 'approved' });
  });

  test('a fault for charges does not hit it', async () => {
    const paid = await pay();
    await simulator.control.addFault({ fault: { kind: 'never_arrives' }, match: { account: paid.gateway.name } });
    expect(await paid.refund(paid.command(100))).toMatchObject({ kind: 'approved' });
  });
});

test('a dispute takes its amount out of the ledger when it is lost', async () => {
  const paid = await pay();
  const dispute = await simulator.control.dispute({ charge: paid.charge, status: 'opened', minor_units: 300 });
  expect(await paid.row()).toMatchObject({ lost_in_disputes: { minor_units: 0 } });
  await simulator.control.dispute({ charge: paid.charge, dispute, status: 'lost', minor_units: 300 });
  expect(await paid.row()).toMatchObject({ lost_in_disputes: { minor_units: 300 } });
});

test('what was refunded is known after SIGKILL, with its keys and what is pending', async () => {
  const paid = await pay();
  const command = paid.command(600);
  await paid.refund(command);
  await paid.addFault({ kind: 'pending', seconds: 1 });
  const open = paid.command(400);
  await paid.refund(open);
  const { port } = new URL(simulator.address);
  await simulator.kill();
  simulator = await startSimulatorProcess(ledger.path, Number(port));
  expect(await paid.refund(command), 'the key is known').toMatchObject({ kind: 'approved' });
  expect(await paid.refund(paid.command(1)), 'nothing is left').toMatchObject({ kind: 'not_processed' });
  await expect.poll(async () => paid.ask(open), { timeout: 5_000 }).toMatchObject({ outcome: { kind: 'approved' } });
  expect(await paid.row()).toMatchObject({ refunds: 2, refunded: { minor_units: 1_000 } });
});
