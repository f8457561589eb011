import fc from 'fast-check';
import { v7 as newOrderId } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallScope, ChargeCommand, Gateway, InquiryCommand } from '../../domain/gateway.ts';
import { MERCHANT_REFERENCE, merchantReference } from '../../domain/merchant-reference.ts';
import type { OutcomeKind } from '../../domain/outcome.ts';

/** What can go wrong between an adapter and its gateway, and what the adapter may make of it. */
interface Expectation {
  readonly outcomes: readonly OutcomeKind[];
  /** Charges in the gateway's own ledger afterwards. */
  readonly charges: 0 | 1;
}

const NOTHING_LEFT: Expectation = { outcomes: ['not_processed'], charges: 0 };
const LOST_BEFORE: Expectation = { outcomes: ['unknown'], charges: 0 };
const LOST_AFTER: Expectation = { outcomes: ['unknown'], charges: 1 };

const FAULTS = {
  refused: NOTHING_LEFT,
  /** Before or after the first byte, which is decided by microseconds; but never charged, and never a decline. */
  reset_on_connect: { outcomes: ['not_processed', 'unknown'], charges: 0 },
  reset_before_charge: LOST_BEFORE,
  not_accepted_429: NOTHING_LEFT,
  not_accepted_503: NOTHING_LEFT,
  reset_after_charge: LOST_AFTER,
  error_500: LOST_AFTER,
  error_503_without_word: LOST_AFTER,
  slower_than_the_time_out: LOST_AFTER,
  html: LOST_AFTER,
  empty: LOST_AFTER,
  truncated: LOST_AFTER,
  cut_off: LOST_AFTER,
  huge: LOST_AFTER,
  not_http: LOST_AFTER,
  wrong_reference: LOST_AFTER,
  wrong_currency: LOST_AFTER,
} as const satisfies Record<string, Expectation>;

export type ContractFault = keyof typeof FAULTS;

const INQUIRY_FAULTS = ['unavailable', 'lost', 'slow', 'unreadable', 'connection_refused'] as const;

export type ContractInquiryFault = (typeof INQUIRY_FAULTS)[number];

/** The gateway under contract, with its switches for faults and its own ledger. */
export interface GatewayStage {
  readonly gateway: Gateway;
  readonly paymentMethods: Readonly<Record<'good' | 'declined' | 'needsAction' | 'pending', string>>;
  arrange(fault: ContractFault, reference: string): Promise<void>;
  arrangeInquiry(fault: ContractInquiryFault, reference: string): Promise<void>;
  /** The next answer about this reference names one minor unit less than was charged. */
  arrangeWrongAmount(reference: string): Promise<void>;
  /** The next request for this reference reaches the gateway only later; its connection breaks at once. */
  arrangeLateArrival(reference: string, afterMs: number): Promise<void>;
  /** What the gateway's own ledger says. */
  ledger(reference: string): Promise<{ readonly charges: number; readonly minorUnits: number }>;
  close(): Promise<void>;
}

export interface ContractPlan {
  setUp(): Promise<GatewayStage>;
  /** What the gateway does with the same bytes a second time. */
  readonly onRepeat: 'answers_again' | 'refuses' | 'charges_again';
  readonly canBeAsked: boolean;
}

const TIMEOUT_MS = 700;
const SCOPE: CallScope = { timeoutMs: TIMEOUT_MS, saveGatewayReference: () => Promise.resolve() };
/** For answers that are to come: a busy machine must not turn them into time-outs. */
const PATIENT: CallScope = { ...SCOPE, timeoutMs: 10_000 };

/**
 * What every adapter has to keep, whatever its gateway looks like. It runs against a real peer over real sockets, and is
 * judged by the peer's ledger: an adapter may say less than it knows, and never more.
 */
export function describeGatewayContract(name: string, plan: ContractPlan): void {
  describe(`the gateway contract, kept by ${name}`, () => {
    let stage: GatewayStage;
    beforeAll(async () => {
      stage = await plan.setUp();
    });
    afterAll(() => stage.close());

    describePreparation(() => stage);
    describeOutcomes(() => stage);
    describeFaults(() => stage);
    describeRepeats(() => stage, plan);
    if (plan.canBeAsked) describeInquiries(() => stage);
    else it('has no inquiry, and declares none', () => expect(stage.gateway.inquire).toBeUndefined());
  });
}

function command(paymentMethod: string, minorUnits = 1_999): ChargeCommand {
  const reference = merchantReference(newOrderId(), 1);
  const amount = { minorUnits, currency: 'EUR' } as const;
  return { merchantReference: reference, amount, paymentMethod, description: null, returnUrl: null };
}

function question({ merchantReference: reference, amount }: ChargeCommand): InquiryCommand {
  return { merchantReference: reference, gatewayReference: null, amount, firstSentAt: new Date().toISOString() };
}

async function chargesOf(stage: GatewayStage, { merchantReference: reference }: ChargeCommand): Promise<number> {
  return (await stage.ledger(reference)).charges;
}

function describePreparation(stage: () => GatewayStage): void {
  it('declares a reference that takes ours', () => {
    const { lengthMax, pattern } = stage().gateway.capabilities.reference;
    const { merchantReference: reference } = command('');
    expect(reference).toMatch(MERCHANT_REFERENCE);
    expect(reference.length).toBeLessThanOrEqual(lengthMax);
    expect(reference).toMatch(new RegExp(pattern));
  });

  it('prepares the same bytes for the same command, at any time', () => {
    const { gateway, paymentMethods } = stage();
    const text = fc.string({ maxLength: 60 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e9 }),
        fc.option(text),
        fc.option(fc.webUrl()),
        (units, description, url) => {
          const wanted = { ...command(paymentMethods.good, units), description, returnUrl: url };
          const first = gateway.prepareCharge(wanted);
          expect(gateway.prepareCharge(structuredClone(wanted))).toEqual(first);
          expect(first.merchantReference).toBe(wanted.merchantReference);
          expect(first.body).toContain(wanted.merchantReference);
        },
      ),
      { numRuns: 50 },
    );
  });
}

function describeOutcomes(stage: () => GatewayStage): void {
  it('charges exactly the amount, once', async () => {
    const { gateway, paymentMethods, ledger } = stage();
    const wanted = command(paymentMethods.good, 4_321);
    const outcome = await gateway.charge(gateway.prepareCharge(wanted), PATIENT);
    expect(outcome).toMatchObject({ kind: 'approved', amount: wanted.amount, gatewayReference: expect.any(String) });
    expect(outcome.raw).not.toBe('');
    expect(await ledger(wanted.merchantReference)).toEqual({ charges: 1, minorUnits: 4_321 });
  });

  it.each([
    ['declined', 'declined'],
    ['needsAction', 'requires_action'],
    ['pending', 'pending'],
  ] as const)('tells a charge that is %s, and no money has moved', async (method, kind) => {
    const { gateway, paymentMethods } = stage();
    const wanted = command(paymentMethods[method]);
    expect(await gateway.charge(gateway.prepareCharge(wanted), PATIENT)).toMatchObject({ kind });
    expect(await chargesOf(stage(), wanted)).toBe(0);
  });

  it('passes on an amount that is not ours, for the caller to compare', async () => {
    const { gateway, paymentMethods, arrangeWrongAmount } = stage();
    const wanted = command(paymentMethods.good);
    await arrangeWrongAmount(wanted.merchantReference);
    const outcome = await gateway.charge(gateway.prepareCharge(wanted), PATIENT);
    expect(outcome).toMatchObject({ kind: 'approved', amount: { minorUnits: 1_998, currency: 'EUR' } });
  });
}

function describeFaults(stage: () => GatewayStage): void {
  it.each(Object.keys(FAULTS) as ContractFault[])('says no more than it knows after: %s', async (fault) => {
    const { gateway, paymentMethods, arrange } = stage();
    const { outcomes, charges }: Expectation = FAULTS[fault];
    const wanted = command(paymentMethods.good);
    await arrange(fault, wanted.merchantReference);
    const started = Date.now();
    const scope = fault === 'slower_than_the_time_out' ? SCOPE : PATIENT;
    const outcome = await gateway.charge(gateway.prepareCharge(wanted), scope);
    expect(outcomes).toContain(outcome.kind);
    expect(Date.now() - started).toBeLessThan(scope.timeoutMs + 1_000);
    await expect.poll(() => chargesOf(stage(), wanted), { timeout: 10_000 }).toBe(charges);
  });

  it('does not take a request that arrives after all for one that never came', async () => {
    const { gateway, paymentMethods, arrangeLateArrival } = stage();
    const wanted = command(paymentMethods.good);
    await arrangeLateArrival(wanted.merchantReference, 400);
    expect(await gateway.charge(gateway.prepareCharge(wanted), PATIENT)).toMatchObject({ kind: 'unknown' });
    await expect.poll(() => chargesOf(stage(), wanted), { timeout: 10_000 }).toBe(1);
  });
}

function describeRepeats(stage: () => GatewayStage, { onRepeat }: ContractPlan): void {
  it(`knows that this gateway ${onRepeat.replace('_', ' ')} when the same bytes come twice`, async () => {
    const { gateway, paymentMethods } = stage();
    const wanted = command(paymentMethods.good);
    const prepared = gateway.prepareCharge(wanted);
    const first = await gateway.charge(prepared, PATIENT);
    const second = await gateway.charge(prepared, PATIENT);
    expect(first.kind).toBe('approved');
    // A refused repeat says only that there was a first request, not how it ended.
    expect(second.kind).toBe(onRepeat === 'refuses' ? 'unknown' : 'approved');
    expect(await chargesOf(stage(), wanted)).toBe(onRepeat === 'charges_again' ? 2 : 1);
  });

  it('never says "not processed" or "declined" to a repeat of what was charged', async () => {
    const { gateway, paymentMethods, arrange } = stage();
    const wanted = command(paymentMethods.good);
    const prepared = gateway.prepareCharge(wanted);
    await arrange('reset_after_charge', wanted.merchantReference);
    await gateway.charge(prepared, PATIENT);
    const { kind } = await gateway.charge(prepared, PATIENT);
    expect(['approved', 'unknown']).toContain(kind);
  });

  if (onRepeat !== 'charges_again') describeSimultaneousRequests(stage, onRepeat);
}

function describeSimultaneousRequests(stage: () => GatewayStage, onRepeat: ContractPlan['onRepeat']): void {
  it('charges once for twenty simultaneous requests with the same bytes', async () => {
    const { gateway, paymentMethods } = stage();
    const wanted = command(paymentMethods.good);
    const prepared = gateway.prepareCharge(wanted);
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => gateway.charge(prepared, PATIENT)));
    const approved = outcomes.filter(({ kind }) => kind === 'approved');
    expect(approved).toHaveLength(onRepeat === 'refuses' ? 1 : 20);
    expect(await chargesOf(stage(), wanted)).toBe(1);
  });
}

function describeInquiries(stage: () => GatewayStage): void {
  const ask = async (wanted: ChargeCommand, scope = PATIENT) => {
    const { gateway } = stage();
    if (gateway.inquire === undefined) throw new Error('The plan says that this gateway can be asked');
    return gateway.inquire(question(wanted), scope);
  };

  it('does not know a reference that was never sent', async () => {
    expect(await ask(command(stage().paymentMethods.good))).toMatchObject({ kind: 'absent' });
  });

  it('finds a charge whose answer was lost', async () => {
    const { gateway, paymentMethods, arrange } = stage();
    const wanted = command(paymentMethods.good);
    await arrange('reset_after_charge', wanted.merchantReference);
    await gateway.charge(gateway.prepareCharge(wanted), PATIENT);
    const { amount } = wanted;
    expect(await ask(wanted)).toMatchObject({ kind: 'found', outcome: { kind: 'approved', amount } });
  });

  it('finds a decline', async () => {
    const { gateway, paymentMethods } = stage();
    const wanted = command(paymentMethods.declined);
    await gateway.charge(gateway.prepareCharge(wanted), PATIENT);
    expect(await ask(wanted)).toMatchObject({ kind: 'found', outcome: { kind: 'declined' } });
  });

  it('does not find a request that never arrived', async () => {
    const { gateway, paymentMethods, arrange } = stage();
    const wanted = command(paymentMethods.good);
    await arrange('reset_before_charge', wanted.merchantReference);
    await gateway.charge(gateway.prepareCharge(wanted), PATIENT);
    expect(await ask(wanted)).toMatchObject({ kind: 'absent' });
  });

  it.each(INQUIRY_FAULTS)('takes no answer for no answer, never for absence: %s', async (fault) => {
    const { gateway, paymentMethods, arrangeInquiry } = stage();
    const wanted = command(paymentMethods.good);
    await gateway.charge(gateway.prepareCharge(wanted), PATIENT);
    await arrangeInquiry(fault, wanted.merchantReference);
    expect(await ask(wanted, SCOPE)).toMatchObject({ kind: 'unavailable', reason: expect.any(String) });
  });
}
