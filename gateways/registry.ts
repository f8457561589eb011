import { judgeConfiguration } from '../domain/capabilities.ts';
import { CodedError } from '../domain/errors.ts';
import type { Gateway } from '../domain/gateway.ts';
import { createSimulatorGateway } from './simulator/adapter.ts';

/** One configured account: our name for it, the kind of gateway, and what that gateway's folder understands. */
export interface GatewayAccount {
  readonly name: string;
  readonly kind: GatewayKind;
  readonly settings: Readonly<Record<string, unknown>>;
}

type Factory = (
  account: { readonly name: string; readonly settings: unknown },
  variables: NodeJS.ProcessEnv,
) => Gateway;

/** A new gateway is one line here and one folder beside this file; see docs/add-a-gateway.md. */
const FACTORIES = { simulator: createSimulatorGateway } as const satisfies Readonly<Record<string, Factory>>;

export type GatewayKind = keyof typeof FACTORIES;

export interface GatewayRegistry {
  /** @throws CodedError `gateway_unknown` */
  get(name: string): Gateway;
  readonly names: readonly string[];
  /** One sentence for each gateway that runs with less than "charged once", to be logged at the start. */
  readonly warnings: readonly string[];
}

export interface GatewayOptions {
  /** Accept gateways that can promise no more than "at most one request sent". */
  readonly allowAtMostOnceSent: boolean;
  /** Where the adapters find their secrets. */
  readonly variables?: NodeJS.ProcessEnv;
}

/**
 * Makes every configured gateway, once per process.
 * @throws CodedError `gateway_unsafe` for one that cannot charge once, unless that is allowed; `configuration_invalid`
 */
export function createGateways(accounts: readonly GatewayAccount[], options: GatewayOptions): GatewayRegistry {
  const { allowAtMostOnceSent, variables = process.env } = options;
  const gateways = new Map<string, Gateway>();
  const warnings: string[] = [];
  for (const account of accounts) {
    if (gateways.has(account.name))
      throw new CodedError('configuration_invalid', `Two gateways are named ${account.name}.`);
    const gateway = FACTORIES[account.kind](account, variables);
    const judgement = judgeConfiguration(account.name, gateway.capabilities);
    if (judgement.kind === 'at_most_once_sent') {
      if (!allowAtMostOnceSent) throw new CodedError('gateway_unsafe', judgement.sentence);
      warnings.push(judgement.sentence);
    }
    gateways.set(account.name, gateway);
  }
  return {
    get(name) {
      const gateway = gateways.get(name);
      if (gateway === undefined)
        throw new CodedError('gateway_unknown', `No gateway is named ${name}.`, { field: 'gateway' });
      return gateway;
    },
    names: [...gateways.keys()],
    warnings,
  };
}
