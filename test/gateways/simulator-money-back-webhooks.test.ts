import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { v7 as newId } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallScope, Gateway } from '../../domain/gateway.ts';
import type { GatewayEvent } from '../../domain/gateway-event.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';
import { money } from '../../domain/money.ts';
import { refundReference } from '../../domain/refund.ts';
import { createSimulatorGateway } from '../../gateways/simulator/adapter.ts';
import type { FaultInput } from '../../gateways/simulator/control.ts';
import { createLedgerFolder, type SimulatorProcess, startSimulatorProcess } from '../support/simulator-process.ts';

const SCOPE: CallScope = { timeoutMs: 5_000, saveGatewayReference: () => Promise.resolve() };
const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const folder = createLedgerFolder();
const events: GatewayEvent[] = [];
let simulator: SimulatorProcess;
let shop: Server;
let gateway: Gateway;

/** What the simulator sends goes through the adapter at once, so that the two are held to each other. */
beforeAll(async () => {
  simulator = await startSimulatorProcess(folder.path);
  const settings = { url: simulator.address, webhook_secret_envs: ['SECRET'] };
  gateway = createSimulatorGateway({ name: 'shop', settings }, { SECRET });
  shop = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = request.headersDistinct as Record<string, readonly string[]>;
      const reading = gateway.parseWebhook?.({ headers, body: Buffer.concat(chunks) }, new Date());
      if (reading?.kind === 'genuine') events.push(reading.event);
      response.writeHead(reading?.kind === 'genuine' ? 204 : 400).end();
    });
  });
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
  await aim();
});
afterAll(async () => {
  await simulator.stop();
  shop.close();
  folder.remove();
});

async function aim(): Promise<void> {
  const url = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/`;
  await simulator.control.aimWebhooks('shop', { url, secrets: [SECRET] });
}

interface Paid {
  readonly reference: string;
  readonly charge: string;
  readonly refund: string;
}

async function pay(): Promise<Paid> {
  const reference = merchantReference(newId(), 1);
  const command = { merchantReference: reference, amount: money(1_000, 'EUR'), paymentMethod: 'tok_ok' };
  const outcome = await gateway.charge(
    gateway.prepareCharge({ ...command, description: null, returnUrl: null }),
    SCOPE,
  );
  if (outcome.kind !== 'approved') throw new Error(outcome.kind);
  return { reference, charge: outcome.gatewayReference ?? '', refund: refundReference(newId()) };
}

async function refund({ reference, charge, refund: own }: Paid, fault?: FaultInput['fault']) {
  const match = { reference, request: 'refund' } as const;
  if (fault !== undefined) await simulator.control.addFault({ fault, match });
  const command = { refundReference: own, amount: money(400, 'EUR') };
  const ofCharge = { merchantReference: reference, gatewayReference: charge };
  const prepared = gateway.prepareRefund?.({ ...command, charge: ofCharge });
  return prepared && gateway.refund?.(prepared, SCOPE);
}

const about = ({ reference }: Paid) =>
  events.filter(({ type, news }) => news?.merchantReference === reference && !type.startsWith('charge.'));
const typesOf = (paid: Paid) => about(paid).map(({ type }) => type);

describe('the simulator tells by webhook, and the adapter reads', () => {
  test.for([
    ['succeeded', undefined, ['refund.succeeded']],
    ['refused', { kind: 'decline' }, ['refund.failed']],
    ['pending, then succeeded', { kind: 'pending', seconds: 0.3 }, ['refund.pending', 'refund.succeeded']],
    ['C77: failed later', { kind: 'fails_later', seconds: 0.3 }, ['refund.succeeded', 'refund.failed']],
  ] as const)('a refund that %s', async ([, fault, types]) => {
    const paid = await pay();
    await refund(paid, fault);
    await expect.poll(() => typesOf(paid)).toEqual(types);
    const kinds = { succeeded: 'approved', failed: 'declined', pending: 'pending' };
    for (const { type, news } of about(paid)) {
      const outcome = { kind: kinds[type.slice('refund.'.length) as keyof typeof kinds] };
      const charge = { merchantReference: paid.reference, gatewayReference: paid.charge, foreignAccount: null };
      expect(news).toMatchObject({ subject: 'refund', ...charge, refundReference: paid.refund, outcome });
    }
  });

  test('C72: before the refund is answered', async () => {
    const paid = await pay();
    await refund(paid, { kind: 'webhook_first' });
    expect(typesOf(paid)).toEqual(['refund.succeeded']);
  });

  test('C36: out of order, and under two ids', async () => {
    const [disordered, twice] = [await pay(), await pay()];
    await simulator.control.addFault({
      fault: { kind: 'webhook_out_of_order' },
      match: { reference: disordered.reference, request: 'refund' },
    });
    await refund(disordered, { kind: 'pending', seconds: 0.2 });
    await refund(twice, { kind: 'webhook_twice', as: 'other_event' });
    await expect.poll(() => typesOf(disordered)).toEqual(['refund.succeeded', 'refund.pending']);
    await expect.poll(() => typesOf(twice)).toEqual(['refund.succeeded', 'refund.succeeded']);
    expect(new Set(about(twice).map(({ eventId }) => eventId)).size).toBe(2);
  });

  test('a dispute that is opened and lost', async () => {
    const paid = await pay();
    const dispute = await simulator.control.dispute({ charge: paid.charge, status: 'opened', minor_units: 300 });
    await simulator.control.dispute({ charge: paid.charge, dispute, status: 'lost', minor_units: 300 });
    await expect.poll(() => typesOf(paid).sort()).toEqual(['dispute.lost', 'dispute.opened']);
    const said = { subject: 'dispute', disputeGatewayReference: dispute, amount: money(300, 'EUR') };
    expect(about(paid)[0]?.news).toMatchObject({ ...said, merchantReference: paid.reference, foreignAccount: null });
  });

  test('a thin one is genuine and says nothing', async () => {
    const paid = await pay();
    await refund(paid, { kind: 'webhook_unknown_kind' });
    await expect.poll(() => events.some(({ type, news }) => type === 'refund.pondered' && news === null)).toBe(true);
  });
});

test('C77: a refund that is to come back does so after the simulator was killed', async () => {
  const paid = await pay();
  await refund(paid, { kind: 'fails_later', seconds: 2 });
  const { port } = new URL(simulator.address);
  await simulator.kill();
  simulator = await startSimulatorProcess(folder.path, Number(port));
  await aim();
  await expect.poll(() => typesOf(paid), { timeout: 10_000 }).toContain('refund.failed');
  const [row] = await simulator.control.ledger({ reference: paid.reference });
  expect(row).toMatchObject({ charges: 1, refunds: 0, refunded: { minor_units: 0 } });
});
