import { createSimulatorGateway } from '../../gateways/simulator/adapter.ts';
import type { FaultInput, SwitchesInput } from '../../gateways/simulator/control.ts';
import { createLedgerFolder, startSimulatorProcess } from '../support/simulator-process.ts';
import {
  type ContractFault,
  type ContractInquiryFault,
  type ContractPlan,
  describeGatewayContract,
  type GatewayStage,
} from './contract.ts';

type Fault = FaultInput['fault'];
type Outage = 'refuse' | 'reset_on_connect';

const OUTAGE_MS = 400;

const FAULTS: Readonly<Record<ContractFault, Fault | Outage>> = {
  refused: 'refuse',
  reset_on_connect: 'reset_on_connect',
  reset_before_charge: { kind: 'never_arrives' },
  not_accepted_429: { kind: 'not_accepted', status: 429 },
  not_accepted_503: { kind: 'not_accepted', status: 503 },
  reset_after_charge: { kind: 'lost_answer' },
  error_500: { kind: 'error_after' },
  error_503_without_word: { kind: 'error_after', status: 503 },
  slower_than_the_time_out: { kind: 'slow', seconds: 2 },
  html: { kind: 'unreadable', as: 'html' },
  empty: { kind: 'unreadable', as: 'empty' },
  truncated: { kind: 'unreadable', as: 'truncated' },
  cut_off: { kind: 'unreadable', as: 'cut_off' },
  huge: { kind: 'unreadable', as: 'huge' },
  not_http: { kind: 'unreadable', as: 'not_http' },
  wrong_reference: { kind: 'wrong_reference' },
  wrong_currency: { kind: 'wrong_amount', by: 0, currency: 'USD' },
};

const INQUIRY_FAULTS: Readonly<Record<ContractInquiryFault, Fault | Outage>> = {
  unavailable: { kind: 'inquiry_unavailable' },
  lost: { kind: 'inquiry_lost' },
  slow: { kind: 'inquiry_slow', seconds: 2 },
  unreadable: { kind: 'inquiry_unreadable' },
  connection_refused: 'refuse',
};

const PAYMENT_METHODS = {
  good: 'tok_ok',
  declined: 'tok_declined',
  needsAction: 'tok_action',
  pending: 'tok_pending_approved',
};

/** The simulator on a process of its own, switched to be the gateway that `capabilities` declares. */
async function setUp(switches: SwitchesInput, capabilities: object): Promise<GatewayStage> {
  const folder = createLedgerFolder();
  const simulator = await startSimulatorProcess(folder.path);
  const { control, address: url } = simulator;
  await control.putAccount('main', switches);
  const arrange = async (fault: Fault | Outage, reference: string): Promise<void> => {
    if (typeof fault === 'string') await control.beginOutage({ kind: fault, for_ms: OUTAGE_MS });
    else await control.addFault({ fault, match: { reference } });
  };
  return {
    gateway: createSimulatorGateway({ name: 'main', settings: { url, capabilities } }),
    paymentMethods: PAYMENT_METHODS,
    arrange: (fault, reference) => arrange(FAULTS[fault], reference),
    arrangeInquiry: (fault, reference) => arrange(INQUIRY_FAULTS[fault], reference),
    arrangeWrongAmount: (reference) => arrange({ kind: 'wrong_amount', by: -1 }, reference),
    arrangeLateArrival: (reference, afterMs) => arrange({ kind: 'late', seconds: afterMs / 1_000 }, reference),
    ledger: async (reference) => {
      const rows = await control.ledger({ account: 'main', reference });
      const sum = (of: (row: (typeof rows)[number]) => number): number =>
        rows.reduce((total, row) => total + of(row), 0);
      return { charges: sum(({ charges }) => charges), minorUnits: sum(({ moved }) => moved.minor_units) };
    },
    close: async () => {
      await simulator.stop();
      folder.remove();
    },
  };
}

const PLANS: Readonly<Record<string, ContractPlan>> = {
  'a simulator that honours keys': {
    setUp: () => setUp({}, {}),
    onRepeat: 'answers_again',
    canBeAsked: true,
  },
  'a simulator that refuses a reference the second time': {
    setUp: () =>
      setUp({ idempotency_key: { mode: 'ignored' }, unique_reference: 'refused' }, { repeat: { by: 'reference' } }),
    onRepeat: 'refuses',
    canBeAsked: true,
  },
  'a simulator that answers a known reference with the original': {
    setUp: () =>
      setUp(
        { idempotency_key: { mode: 'ignored' }, unique_reference: 'returns_original' },
        {
          repeat: { by: 'reference', on_repeat: 'returns_original' },
          inquire_by: ['merchant_reference', 'gateway_reference'],
        },
      ),
    onRepeat: 'answers_again',
    canBeAsked: true,
  },
  'a simulator that knows nothing of repeats and can be asked': {
    setUp: () => setUp({ idempotency_key: { mode: 'ignored' } }, { repeat: { by: 'nothing' } }),
    onRepeat: 'charges_again',
    canBeAsked: true,
  },
  'a simulator that honours keys and cannot be asked': {
    setUp: () => setUp({ inquiry: { mode: 'absent' } }, { inquire_by: [] }),
    onRepeat: 'answers_again',
    canBeAsked: false,
  },
};

for (const [name, plan] of Object.entries(PLANS)) describeGatewayContract(name, plan);
