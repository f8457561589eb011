import { v7 as newId } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallScope, FollowUpCommand, Gateway } from '../../domain/gateway.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { money } from '../../domain/money.ts';
import { refundReference } from '../../domain/refund.ts';
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

type Holder = Gateway &
  Required<
    Pick<Gateway, 'prepareAuthorization' | 'authorize' | 'prepareFollowUp' | 'followUp' | 'inquireAuthorization'>
  >;

/** An account of its own with one reference, under which money may be held. */
async function open(switches: SwitchesInput = {}, paymentMethod = 'tok_ok') {
  accounts += 1;
  const name = `holding-${accounts}`;
  await simulator.control.putAccount(name, switches);
  const settings = { url: simulator.address, capabilities: { authorize: {} } };
  const gateway = createSimulatorGateway({ name, settings }) as Holder;
  const reference = merchantReference(newId(), 1);
  const order = { merchantReference: reference, amount: AMOUNT, description: null, returnUrl: null, paymentMethod };
  const charge = { merchantReference: reference, gatewayReference: null };
  const question = { ...charge, amount: AMOUNT, firstSentAt: '' };
  const addFault = (fault: FaultInput['fault'], request: 'charge' | 'follow_up') =>
    simulator.control.addFault({ fault, match: { account: name, request } });
  return {
    gateway,
    charge: () => gateway.charge(gateway.prepareCharge(order), SCOPE),
    authorize: () => gateway.authorize(gateway.prepareAuthorization(order), SCOPE),
    command: (kind: FollowUpCommand['kind'], minorUnits = 1_000): FollowUpCommand => ({
      ...{ kind, followUpReference: refundReference(newId()), charge, amount: money(minorUnits, 'EUR') },
    }),
    send: (command: FollowUpCommand) => gateway.followUp(gateway.prepareFollowUp(command), SCOPE),
    ask: () => gateway.inquireAuthorization(question, SCOPE),
    askAsCharge: () => gateway.inquire?.(question, SCOPE),
    addFault,
    row: async () => (await simulator.control.ledger({ account: name }))[0],
  };
}

const HELD = { charges: 0, moved: { minor_units: 0 }, held: { minor_units: 1_000 } };
const CAPTURED = { charges: 1, moved: { minor_units: 1_000 }, held: { minor_units: 0 } };
const RELEASED = { charges: 0, moved: { minor_units: 0 }, held: { minor_units: 0 } };

describe('an authorization at the simulator', () => {
  test('holds the money and moves none, and is found again', async () => {
    const account = await open();
    expect(await account.ask()).toMatchObject({ kind: 'absent' });
    expect(await account.authorize()).toMatchObject({ kind: 'authorized', amount: AMOUNT, expiresAt: null });
    expect(await account.ask()).toMatchObject({ kind: 'found', outcome: { kind: 'authorized', amount: AMOUNT } });
    expect(await account.row()).toMatchObject({ ...HELD, requests: 1 });
  });

  test('is never taken for a charge by an inquiry about one, nor a charge for an authorization', async () => {
    const held = await open();
    await held.authorize();
    expect(await held.askAsCharge()).toMatchObject({ kind: 'unavailable' });
    const charged = await open();
    await charged.charge();
    expect(await charged.ask()).toMatchObject({ kind: 'unavailable' });
  });

  test('asked for twice at one moment holds the money once', async () => {
    const account = await open();
    const outcomes = await Promise.all([account.authorize(), account.authorize()]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['authorized', 'authorized']);
    expect(await account.row()).toMatchObject({ ...HELD, requests: 2 });
  });

  test.for([
    ['lost_answer', 'unknown', 1_000],
    ['error_after', 'unknown', 1_000],
    ['never_arrives', 'unknown', 0],
    ['not_accepted', 'not_processed', 0],
    ['duplicated', 'authorized', 1_000],
    ['decline', 'declined', 0],
    ['wrong_reference', 'unknown', 1_000],
  ] as const)('with the fault %s is %s', async ([kind, outcome, held]) => {
    const account = await open();
    await account.addFault({ kind }, 'charge');
    expect(await account.authorize()).toMatchObject({ kind: outcome });
    expect(await account.row().then((row) => row?.held.minor_units ?? 0)).toBe(held);
  });

  test('of another amount than was asked for is passed on as it is', async () => {
    const account = await open();
    await account.addFault({ kind: 'wrong_amount', by: -1 }, 'charge');
    expect(await account.authorize()).toMatchObject({ kind: 'authorized', amount: money(999, 'EUR') });
  });

  test('that the customer has to confirm holds the money only then', async () => {
    const account = await open({}, 'tok_action');
    const outcome = await account.authorize();
    expect(outcome.kind).toBe('requires_action');
    const url = outcome.kind === 'requires_action' ? outcome.action.url : '';
    await fetch(`${url}/complete`, { method: 'POST' });
    expect(await account.ask()).toMatchObject({ outcome: { kind: 'authorized' } });
    expect(await account.row()).toMatchObject({ ...HELD, open: 0 });
  });

  test('lapses when its time is over, also when the gateway was killed meanwhile, and cannot be captured then', async () => {
    const account = await open({ authorization: { lapses_after_seconds: 0.3 } });
    const held = await account.authorize();
    expect(held.kind === 'authorized' ? typeof held.expiresAt : held.kind).toBe('string');
    const { port } = new URL(simulator.address);
    await simulator.kill();
    simulator = await startSimulatorProcess(ledger.path, Number(port));
    await expect.poll(() => account.ask()).toMatchObject({ outcome: { kind: 'lapsed' } });
    expect(await account.send(account.command('capture'))).toMatchObject({ kind: 'unknown' });
    expect(await account.row()).toMatchObject(RELEASED);
  });

  test('is refused by an account that takes money at once', async () => {
    const account = await open({ authorization: { mode: 'absent' } });
    expect(await account.authorize()).toMatchObject({ kind: 'not_processed', declineCode: 'refused_by_gateway' });
    expect(await account.row()).toBeUndefined();
  });

  test('is not offered by an account that does not declare it', () => {
    const settings = { url: simulator.address };
    expect(createSimulatorGateway({ name: 'charges-only', settings })).not.toHaveProperty('authorize');
  });
});

describe('a capture at the simulator', () => {
  test('moves the money once, however often it is sent', async () => {
    const account = await open();
    await account.authorize();
    const capture = account.command('capture');
    const outcomes = await Promise.all([account.send(capture), account.send(capture), account.send(capture)]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['captured', 'captured', 'captured']);
    expect(await account.row()).toMatchObject({ ...CAPTURED, follow_up_requests: 3 });
    const outcome = { kind: 'captured', amount: AMOUNT, by: capture.followUpReference };
    expect(await account.ask()).toMatchObject({ kind: 'found', outcome });
  });

  test('of a part takes the part and releases the rest, and what was taken can be refunded', async () => {
    const account = await open();
    await account.authorize();
    expect(await account.send(account.command('capture', 400))).toMatchObject({ amount: money(400, 'EUR') });
    expect(await account.send(account.command('capture', 600))).toMatchObject({ kind: 'unknown' });
    expect(await account.row()).toMatchObject({ charges: 1, moved: { minor_units: 400 }, held: { minor_units: 0 } });
  });

  test.for([
    ['of a part, where only all can be taken,', 400, { authorization: { partial_capture: false } }],
    ['of more than is held', 1_001, {}],
  ] as const)('%s is refused', async ([, minorUnits, switches]) => {
    const account = await open(switches);
    await account.authorize();
    expect(await account.send(account.command('capture', minorUnits))).toMatchObject({ kind: 'not_processed' });
    expect(await account.row()).toMatchObject(HELD);
  });

  test('that is told with another amount is not believed', async () => {
    const account = await open();
    await account.authorize();
    await account.addFault({ kind: 'wrong_amount', by: -1 }, 'follow_up');
    expect(await account.send(account.command('capture'))).toMatchObject({ kind: 'unknown' });
    expect(await account.ask()).toMatchObject({ outcome: { kind: 'captured', amount: AMOUNT } });
  });

  test('of nothing is refused', async () => {
    const account = await open();
    expect(await account.send(account.command('capture'))).toMatchObject({ kind: 'not_processed' });
    expect(await account.row()).toBeUndefined();
  });

  test('by a reference that was used for another amount establishes nothing', async () => {
    const account = await open();
    await account.authorize();
    const capture = account.command('capture', 400);
    await account.send(capture);
    expect(await account.send({ ...capture, amount: money(500, 'EUR') })).toMatchObject({ kind: 'unknown' });
    expect(await account.row()).toMatchObject({ moved: { minor_units: 400 } });
  });
});

describe.for([
  ['capture', 'captured', CAPTURED],
  ['void', 'voided', RELEASED],
] as const)('a %s at the simulator', ([kind, end, done]) => {
  test.for([
    ['lost_answer', 'unknown', true],
    ['error_after', 'unknown', true],
    ['never_arrives', 'unknown', false],
    ['not_accepted', 'not_processed', false],
    ['duplicated', end, true],
    ['decline', 'declined', false],
    ['wrong_reference', 'unknown', true],
  ] as const)('with the fault %s is %s, and an inquiry tells how it stands', async ([fault, outcome, isDone]) => {
    const account = await open();
    await account.authorize();
    await account.addFault({ kind: fault }, 'follow_up');
    const command = account.command(kind);
    expect(await account.send(command)).toMatchObject({ kind: outcome });
    expect(await account.row()).toMatchObject(isDone ? done : HELD);
    expect(await account.ask()).toMatchObject({ outcome: { kind: isDone ? end : 'authorized' } });
  });

  test('whose caller has given up is done all the same when it arrives late', async () => {
    const account = await open();
    await account.authorize();
    await account.addFault({ kind: 'late', seconds: 0.2 }, 'follow_up');
    expect(await account.send(account.command(kind))).toMatchObject({ kind: 'unknown' });
    expect(await account.row()).toMatchObject(HELD);
    await expect.poll(() => account.ask()).toMatchObject({ outcome: { kind: end } });
    expect(await account.row()).toMatchObject(done);
  });

  test('is not hit by a fault for charges', async () => {
    const account = await open();
    await account.authorize();
    await account.addFault({ kind: 'never_arrives' }, 'charge');
    expect(await account.send(account.command(kind))).toMatchObject({ kind: end });
  });
});

describe('a capture and a void', () => {
  test('at one moment: one of them wins, and the ledger, both answers and an inquiry agree on which', async () => {
    for (let race = 0; race < 50; race += 1) {
      const account = await open();
      await account.authorize();
      const commands = [account.command('capture'), account.command('void')] as const;
      const sent = race % 2 === 0 ? commands : ([commands[1], commands[0]] as const);
      const outcomes = await Promise.all(sent.map((command) => account.send(command)));
      const kinds = outcomes.map(({ kind }) => kind).sort();
      const isCaptured = kinds.includes('captured');
      expect(kinds).toEqual(isCaptured ? ['captured', 'unknown'] : ['unknown', 'voided']);
      expect(await account.row()).toMatchObject(isCaptured ? CAPTURED : RELEASED);
      expect(await account.ask()).toMatchObject({ outcome: { kind: isCaptured ? 'captured' : 'voided' } });
    }
  });
});
