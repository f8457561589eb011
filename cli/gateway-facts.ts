import type { GatewayFacts } from '../api/dependencies.ts';
import type { GatewayRegistry } from '../gateways/registry.ts';

/** What the API, which never calls a gateway, has to know of each one. The first is the one that orders get by default. */
export function gatewayFacts({ names, get }: GatewayRegistry): [GatewayFacts, ...GatewayFacts[]] {
  const facts = names.map((name): GatewayFacts => {
    const { capabilities, parseWebhook } = get(name);
    return {
      name,
      currencyDecimals: capabilities.currencyDecimals,
      ...(capabilities.refund !== null && { refund: capabilities.refund }),
      ...(parseWebhook !== undefined && { parseWebhook }),
    };
  });
  const [first, ...others] = facts;
  if (first === undefined) throw new Error('The configuration demands at least one gateway');
  return [first, ...others];
}
