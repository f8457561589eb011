import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newOrder } from '../../api/schemas.ts';
import type { CallScope, ChargeCommand, Gateway } from '../../domain/gateway.ts';
import type { ChargeNews } from '../../domain/gateway-event.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { formatMoney, type Money, money } from '../../domain/money.ts';
import { createSimulatorGateway } from '../../gateways/simulator/adapter.ts';
import type { WireMoney } from '../../gateways/simulator/server/entries.ts';
import { readSigningSecret, signStandardWebhook } from '../../gateways/standard-webhooks.ts';
import { createLedgerFolder, type SimulatorProcess, startSimulatorProcess } from '../support/simulator-process.ts';

/**
 * One amount on its whole way: what the shop says, what the gateway takes, what the gateway tells in an answer and in an event,
 * and what a person reads. Judged by the simulator's ledger.
 */
const SECRET_TEXT = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const SECRET = readSigningSecret(SECRET_TEXT, 'X');
const SCOPE: CallScope = { timeoutMs: 10_000, saveGatewayReference: () => Promise.resolve() };

const folder = createLedgerFolder();
let simulator: SimulatorProcess;
let gateway: Gateway;

beforeAll(async () => {
  simulator = await startSimulatorProcess(folder.path);
  const settings = { url: simulator.address, webhook_secret_envs: ['HOOK_SECRET'] };
  gateway = createSimulatorGateway({ name: 'main', settings }, { HOOK_SECRET: SECRET_TEXT });
});
afterAll(async () => {
  await simulator.stop();
  folder.remove();
});

/** What the API makes of the amount in an order's JSON. */
function ordered(amountJson: string): Money {
  const { amount } = newOrder.parse({ amount: JSON.parse(amountJson) });
  return money(amount.minor_units, amount.currency);
}

function commandFor(amount: Money): ChargeCommand {
  const reference = merchantReference(crypto.randomUUID(), 1);
  return { merchantReference: reference, amount, paymentMethod: 'tok_ok', description: null, returnUrl: null };
}

/** What an event of the gateway about such a charge says to us. */
function told(wire: WireMoney): Money | undefined {
  const data = { id: 'ch_1', reference: 'R1', status: 'approved', amount: wire, decline_code: null, action_url: null };
  const body = JSON.stringify({ type: 'charge.approved', timestamp: new Date(), account: 'main', data });
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  const signed = signStandardWebhook({ id: 'evt_1', timestampSeconds, body }, [SECRET]);
  const headers = Object.fromEntries(Object.entries(signed).map(([name, value]) => [name, [value]]));
  const reading = gateway.parseWebhook?.({ headers, body: Buffer.from(body) }, new Date());
  if (reading?.kind !== 'genuine') throw new Error(`The event was not believed: ${JSON.stringify(reading)}`);
  const { outcome } = reading.event.news as ChargeNews;
  return outcome.kind === 'approved' ? outcome.amount : undefined;
}

describe('an amount is charged, told and shown as it was ordered', () => {
  it.each([
    ['C51: a currency without decimals', 9_899, 'JPY', '9899 JPY'],
    ['C53: few units of one', 80, 'JPY', '80 JPY'],
    ['C54: a round number of them', 1_000, 'JPY', '1000 JPY'],
    ['C55: three decimals that end in a nought', 18_600, 'KWD', '18.600 KWD'],
    ['C55: three decimals that do not', 1_001, 'KWD', '1.001 KWD'],
    ['C57: a hundred units, whatever a shop shows of them', 10_000, 'USD', '100.00 USD'],
  ] as const)('%s: %i %s', async (_, minorUnits, currency, shown) => {
    const amount = ordered(`{"minor_units":${minorUnits},"currency":"${currency}"}`);
    const command = commandFor(amount);
    const outcome = await gateway.charge(gateway.prepareCharge(command), SCOPE);
    expect(outcome).toMatchObject({ kind: 'approved', amount });
    const [row] = await simulator.control.ledger({ reference: command.merchantReference });
    expect(row).toMatchObject({ charges: 1, moved: { minor_units: minorUnits, currency } });
    expect(told({ minor_units: minorUnits, currency })).toEqual(amount);
    expect(formatMoney(amount)).toBe(shown);
  });

  it('C58: of the prices from 0.01 to 100.00 none differs anywhere on the way', () => {
    const differing: string[] = [];
    for (let minorUnits = 1; minorUnits <= 10_000; minorUnits += 1) {
      const amount = ordered(`{"minor_units":${minorUnits},"currency":"EUR"}`);
      const sent = JSON.parse(gateway.prepareCharge(commandFor(amount)).body) as { amount: WireMoney };
      const price = `${Math.trunc(minorUnits / 100)}.${String(minorUnits % 100).padStart(2, '0')} EUR`;
      const back = told(sent.amount);
      const same = sent.amount.minor_units === minorUnits && back?.minorUnits === minorUnits;
      if (!same || formatMoney(amount) !== price) differing.push(price);
    }
    expect(differing).toEqual([]);
  });

  it.each(['19.99', '10000.5', '"100.0000"', '1e-2'])(
    'C57, C58: %s is no number of minor units, so nobody has to guess what was meant',
    (literal) => {
      expect(() => ordered(`{"minor_units":${literal},"currency":"USD"}`)).toThrow(/minor units/);
    },
  );
});
