import { merchantReference } from '../../domain/merchant-reference.ts';
import { createSimulatorControl, type FaultInput, type SimulatorControl } from '../../gateways/simulator/control.ts';
import type { Ledger } from './steps.ts';

const POLL_MS = 20;
const CHARGED_WITHIN_MS = 10_000;

/** The simulator's own books and fault scripts, addressed by order. */
export function createTourLedger(simulatorAddress: string): Ledger {
  const control: SimulatorControl = createSimulatorControl(simulatorAddress);
  const charges = async (orderId: string): Promise<number> =>
    (await control.ledger({ prefix: prefixOf(orderId) })).reduce((sum, row) => sum + row.charges, 0);
  return {
    charges,
    async fault(orderId, fault) {
      await control.addFault({ fault, match: { reference_prefix: prefixOf(orderId) } } as FaultInput);
    },
    async waitForCharge(orderId) {
      const deadline = Date.now() + CHARGED_WITHIN_MS;
      while ((await charges(orderId)) === 0) {
        if (Date.now() > deadline) throw new Error('the gateway was not charged in time');
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    },
  };
}

/** The 26 characters that all attempts of an order share. */
function prefixOf(orderId: string): string {
  return merchantReference(orderId, 1).slice(0, 26);
}
