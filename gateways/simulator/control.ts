import type { z } from 'zod';
import { CodedError } from '../../domain/errors.ts';
import { createHttpClient, type HttpCall, type HttpResult } from '../http.ts';
import type { Outage } from './server/control-route.ts';
import type { Entry } from './server/entries.ts';
import type { FaultState, faultScript } from './server/faults.ts';
import type { LedgerRow } from './server/ledger-view.ts';
import type { switches } from './server/switches.ts';
import type { WebhookRecord, webhookTarget } from './server/webhooks.ts';

export type { Entry } from './server/entries.ts';
export type { LedgerRow } from './server/ledger-view.ts';

/** A script as it is sent; what has a default may be left out. */
export type FaultInput = z.input<typeof faultScript>;
export type SwitchesInput = z.input<typeof switches>;
export type WebhookTargetInput = z.input<typeof webhookTarget>;

export interface DisputeInput {
  /** The gateway's id of the charge. */
  readonly charge: string;
  readonly status: 'opened' | 'won' | 'lost';
  readonly dispute?: string;
  readonly minor_units?: number;
}

export interface LedgerQuestion {
  readonly account?: string;
  readonly reference?: string;
  /** Such as the first 26 characters of an order's merchant references. */
  readonly prefix?: string;
}

/** The faces of the simulator that the product must never touch: switches, faults and the ledger. For tests, tour and CLI. */
export interface SimulatorControl {
  readonly address: string;
  putAccount(account: string, value: SwitchesInput): Promise<void>;
  /** Where the account's events go to; null: nowhere. */
  aimWebhooks(account: string, target: WebhookTargetInput | null): Promise<void>;
  /** Every event about a charge whose reference begins so, with its tries. */
  webhooks(prefix?: string): Promise<readonly WebhookRecord[]>;
  /** @returns the script's id */
  addFault(script: FaultInput): Promise<string>;
  /** Begins at once. During it this control is away too; its other calls wait until the simulator is back. */
  beginOutage(outage: Outage): Promise<void>;
  faults(): Promise<readonly FaultState[]>;
  clearFaults(): Promise<void>;
  ledger(question?: LedgerQuestion): Promise<readonly LedgerRow[]>;
  entries(after?: number): Promise<readonly Entry[]>;
  /** The customer's bank opens a dispute about a charge, or ends one. @returns the dispute's id */
  dispute(dispute: DisputeInput): Promise<string>;
  /** The customer confirms (or refuses) a charge that requires action. */
  act(gatewayReference: string, way: 'complete' | 'fail'): Promise<void>;
}

const CALL_TIMEOUT_MS = 10_000;
/** The ledger of a long bench is a few megabytes. */
const BOOKS_BYTES_MAX = 64 * 1_024 * 1_024;
const AWAY_MS = 15_000;
const RETRY_MS = 50;

/** @param address as printed by the simulator's process */
export function createSimulatorControl(address: string): SimulatorControl {
  const http = createHttpClient();
  const ask = async (method: HttpCall['method'], path: string, body?: unknown): Promise<unknown> => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const limits = { timeoutMs: CALL_TIMEOUT_MS, answerBytesMax: BOOKS_BYTES_MAX };
    const call = { method, url: `${address}${path}`, headers, ...limits };
    const result = await untilThere(method, () =>
      http.call(body === undefined ? call : { ...call, body: JSON.stringify(body) }),
    );
    if (result.kind === 'failed')
      throw new CodedError('program_failed', `The gateway simulator does not answer: ${result.code}.`);
    if (result.status >= 400)
      throw new CodedError('program_failed', `The gateway simulator refused ${method} ${path}: ${result.body}`);
    return result.body === '' ? undefined : (JSON.parse(result.body) as unknown);
  };
  return {
    address,
    putAccount: async (account, value) => void (await ask('PUT', `/control/accounts/${account}`, value)),
    aimWebhooks: async (account, target) => {
      const path = `/control/accounts/${account}/webhooks`;
      await (target === null ? ask('DELETE', path) : ask('PUT', path, target));
    },
    webhooks: async (prefix = '') =>
      ((await ask('GET', `/control/webhooks?prefix=${encodeURIComponent(prefix)}`)) as { webhooks: WebhookRecord[] })
        .webhooks,
    addFault: async (script) => ((await ask('POST', '/control/faults', script)) as { id: string }).id,
    beginOutage: async (outage) => void (await ask('POST', '/control/faults', { outage })),
    faults: async () => ((await ask('GET', '/control/faults')) as { faults: FaultState[] }).faults,
    clearFaults: async () => void (await ask('DELETE', '/control/faults')),
    ledger: async (question = {}) => {
      const query = new URLSearchParams(Object.entries(question)).toString();
      return ((await ask('GET', `/ledger?${query}`)) as { rows: LedgerRow[] }).rows;
    },
    entries: async (after = 0) =>
      ((await ask('GET', `/ledger/entries?after=${after}`)) as { entries: Entry[] }).entries,
    dispute: async (dispute) => ((await ask('POST', '/control/disputes', dispute)) as { id: string }).id,
    act: async (gatewayReference, way) => void (await ask('POST', `/actions/${gatewayReference}/${way}`)),
  };
}

/** A simulator that plays an outage, or that a test has just killed, is waited for; but a POST that may be there is not repeated. */
async function untilThere(method: HttpCall['method'], call: () => Promise<HttpResult>): Promise<HttpResult> {
  const deadline = Date.now() + AWAY_MS;
  for (;;) {
    const result = await call();
    if (result.kind === 'answered' || (result.sent && method === 'POST') || Date.now() > deadline) return result;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
