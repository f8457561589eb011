import type { GatewayCapabilities, RepeatProtection } from '../../domain/capabilities.ts';
import type { Gateway, InquiryCommand, PreparedCharge } from '../../domain/gateway.ts';
import type { Money } from '../../domain/money.ts';
import type { GatewayOutcome, InquiryAnswer } from '../../domain/outcome.ts';
import { after, between, chance, now, pause, pick, random, type SimulatedProcess, seam } from './runtime/virtual.ts';

export type ChargeStatus = 'approved' | 'declined' | 'pending' | 'requires_action';

/** A charge in the gateway's own books, which nobody else can write. */
export interface LedgerCharge {
  readonly id: string;
  readonly gateway: string;
  readonly reference: string;
  readonly key: string;
  readonly amount: Money;
  status: ChargeStatus;
  readonly at: number;
  /** Inquiries do not find it before. */
  readonly visibleAt: number;
}

export interface GatewayFaults {
  /** The request leaves and never arrives. */
  readonly never: number;
  /** It arrives when its sender has given up. */
  readonly late: number;
  readonly slow: number;
  readonly answerLost: number;
  readonly answerWrong: number;
  readonly duplicated: number;
  readonly declined: number;
  readonly pending: number;
  readonly action: number;
  readonly inquiryLost: number;
  readonly inquiryStale: number;
  readonly refused: number;
}

/** One simulated gateway with its books, seen by all processes. */
export interface ModelGateway {
  readonly name: string;
  readonly capabilities: GatewayCapabilities;
  readonly ledger: LedgerCharge[];
  /** Every key that came for a reference. */
  readonly keys: Map<string, Set<string>>;
  /** The bodies that came for a reference. */
  readonly bodies: Map<string, Set<string>>;
  faults: GatewayFaults;
  awayUntil: number;
  /** Told when money moves or a request arrives. */
  onChange: (what: { readonly reference: string; readonly moved: boolean }) => void;
}

const BASE = {
  savesGatewayReferenceFirst: false,
  webhooks: 'none',
  statements: false,
  closing: { by: [] },
  authorize: null,
  refund: null,
  callTimeoutSeconds: 30,
  reference: { lengthMax: 40, pattern: '^[0-9A-Z]+$' },
  currencyDecimals: {},
  timeZone: 'UTC',
} as const;

/** Gateways that disagree about everything that matters. What each declares is true of it. */
const PERSONALITIES: Readonly<Record<string, { repeat: RepeatProtection; absent: number | null }>> = {
  keys: { repeat: { by: 'key', windowSeconds: 24 * 3_600 }, absent: 60 },
  short: { repeat: { by: 'key', windowSeconds: 600 }, absent: 600 },
  unique: { repeat: { by: 'reference', onRepeat: 'refused' }, absent: 60 },
  original: { repeat: { by: 'reference', onRepeat: 'returns_original' }, absent: 1_800 },
  asks: { repeat: { by: 'nothing' }, absent: 1_800 },
  silent: { repeat: { by: 'nothing' }, absent: null },
};

export function createModelGateways(faults: GatewayFaults): ModelGateway[] {
  return Object.entries(PERSONALITIES).map(([name, { repeat, absent }]) => ({
    name,
    capabilities: {
      ...BASE,
      repeat,
      inquiry: { by: ['merchant_reference'], absentConclusiveAfterSeconds: absent },
    } as GatewayCapabilities,
    ledger: [],
    keys: new Map(),
    bodies: new Map(),
    faults,
    awayUntil: 0,
    onChange: () => undefined,
  }));
}

/** The gateway as one process reaches it: by the port that every adapter has. */
export function reachGateway(model: ModelGateway, process: SimulatedProcess): Gateway {
  return {
    name: model.name,
    capabilities: model.capabilities,
    prepareCharge: ({ merchantReference, amount, paymentMethod }) => ({
      merchantReference,
      requestKey: merchantReference,
      body: JSON.stringify({ merchantReference, amount, paymentMethod }),
    }),
    charge: async (prepared, { timeoutMs }) => {
      const outcome = await send(model, prepared, timeoutMs);
      await seam(process, 'answer');
      return outcome;
    },
    inquire: async (command, { timeoutMs }) => {
      const answer = await ask(model, command, timeoutMs);
      await seam(process, 'inquiry_answer');
      return answer;
    },
  };
}

const unknown = (reason: string): GatewayOutcome => ({ kind: 'unknown', reason, raw: '' });

async function send(model: ModelGateway, prepared: PreparedCharge, timeoutMs: number): Promise<GatewayOutcome> {
  const { faults, capabilities } = model;
  if (now() < model.awayUntil || chance(faults.refused)) {
    await pause(between(1, 50));
    return { kind: 'not_processed', declineCode: 'gateway_unreachable', reason: 'connection refused', raw: '' };
  }
  const longest =
    capabilities.callTimeoutSeconds * 1_000 + (capabilities.inquiry.absentConclusiveAfterSeconds ?? 600) * 1_000;
  const travelMs = chance(faults.late)
    ? between(timeoutMs, longest * 0.95)
    : chance(faults.slow)
      ? between(1_000, timeoutMs * 1.2)
      : between(20, 400);
  const deadline = now() + longest;
  return new Promise((resolve) => {
    after(timeoutMs, () => resolve(unknown('no answer in time')));
    if (chance(faults.never)) return;
    if (capabilities.repeat.by !== 'nothing' && chance(faults.duplicated))
      after(travelMs + between(0, 500), () => void arrive(model, prepared, deadline));
    after(travelMs, () => {
      const outcome = arrive(model, prepared, deadline);
      if (chance(faults.answerLost))
        return chance(0.5) ? after(between(1, 50), () => resolve(unknown('connection reset'))) : undefined;
      const said = chance(faults.answerWrong) ? spoil(outcome) : outcome;
      return after(chance(faults.slow) ? between(500, timeoutMs) : between(5, 100), () => resolve(said));
    });
  });
}

/** An answer that no honest gateway gives: an error page after the charge, or another amount. */
function spoil(outcome: GatewayOutcome): GatewayOutcome {
  if (outcome.kind !== 'approved' || chance(0.5)) return unknown('500 after the charge');
  return { ...outcome, amount: { ...outcome.amount, minorUnits: outcome.amount.minorUnits + 1 } };
}

/** A request is at the gateway. What it does here is what its capabilities declare. */
function arrive(model: ModelGateway, prepared: PreparedCharge, deadline: number): GatewayOutcome {
  const { merchantReference, requestKey, body } = prepared;
  remember(model.keys, merchantReference, requestKey);
  remember(model.bodies, merchantReference, body);
  model.onChange({ reference: merchantReference, moved: false });
  const { repeat } = model.capabilities;
  const known = knownCharge(model, prepared);
  if (known !== undefined) {
    if (repeat.by === 'reference' && repeat.onRepeat === 'refused') return unknown('the reference was used');
    return wordFor(known);
  }
  const charge = rule(model, prepared, deadline);
  model.ledger.push(charge);
  if (charge.status === 'approved') model.onChange({ reference: merchantReference, moved: true });
  return wordFor(charge);
}

function remember(seen: Map<string, Set<string>>, reference: string, what: string): void {
  seen.set(reference, (seen.get(reference) ?? new Set()).add(what));
}

function knownCharge(model: ModelGateway, { merchantReference, requestKey }: PreparedCharge): LedgerCharge | undefined {
  const { repeat } = model.capabilities;
  if (repeat.by === 'reference') return model.ledger.find(({ reference }) => reference === merchantReference);
  if (repeat.by === 'nothing') return undefined;
  return model.ledger.find(({ key, at }) => key === requestKey && now() - at < repeat.windowSeconds * 1_000);
}

function rule(
  model: ModelGateway,
  { merchantReference, requestKey, body }: PreparedCharge,
  deadline: number,
): LedgerCharge {
  const { faults } = model;
  const { amount } = JSON.parse(body) as { amount: Money };
  const status: ChargeStatus = chance(faults.declined)
    ? 'declined'
    : chance(faults.pending)
      ? 'pending'
      : chance(faults.action)
        ? 'requires_action'
        : 'approved';
  const charge: LedgerCharge = {
    id: `ch_${Math.floor(random() * 2 ** 48).toString(36)}`,
    gateway: model.name,
    reference: merchantReference,
    key: requestKey,
    amount,
    status,
    at: now(),
    visibleAt: chance(faults.inquiryStale) ? between(now(), deadline) : now(),
  };
  if (status === 'pending')
    after(between(1_000, 6 * 3_600_000), () => settle(model, charge, pick(['approved', 'declined'])));
  if (status === 'requires_action' && chance(0.7))
    after(between(5_000, 1_800_000), () => settle(model, charge, pick(['approved', 'approved', 'declined'])));
  return charge;
}

function settle(model: ModelGateway, charge: LedgerCharge, status: ChargeStatus): void {
  charge.status = status;
  if (status === 'approved') model.onChange({ reference: charge.reference, moved: true });
}

type Found = Extract<InquiryAnswer, { kind: 'found' }>['outcome'];

function wordFor({ id, status, amount }: LedgerCharge): Found {
  const word = { gatewayReference: id, raw: status };
  switch (status) {
    case 'approved':
      return { kind: 'approved', amount, ...word };
    case 'declined':
      return { kind: 'declined', decline: { code: 'card_declined', retriable: true }, ...word };
    case 'pending':
      return { kind: 'pending', ...word };
    case 'requires_action':
      return { kind: 'requires_action', action: { kind: 'redirect', url: `https://bank.example/${id}` }, ...word };
  }
}

const RANK: Readonly<Record<ChargeStatus, number>> = { approved: 0, pending: 1, requires_action: 2, declined: 3 };

async function ask(
  model: ModelGateway,
  { merchantReference }: InquiryCommand,
  timeoutMs: number,
): Promise<InquiryAnswer> {
  const { faults } = model;
  if (now() < model.awayUntil) {
    await pause(between(1, 50));
    return { kind: 'unavailable', reason: 'connection refused' };
  }
  if (chance(faults.inquiryLost)) {
    await pause(chance(0.5) ? between(1, 100) : timeoutMs);
    return { kind: 'unavailable', reason: 'the answer was lost' };
  }
  await pause(between(10, 300));
  const found = model.ledger
    .filter(({ reference, visibleAt }) => reference === merchantReference && visibleAt <= now())
    .sort((left, right) => RANK[left.status] - RANK[right.status]);
  const [first] = found;
  await pause(between(5, 200));
  if (first === undefined) return { kind: 'absent', raw: 'not found' };
  const stale = chance(faults.inquiryStale) && first.status === 'approved' && now() - first.at < 60_000;
  return { kind: 'found', outcome: wordFor(stale ? { ...first, status: 'pending' } : first) };
}
