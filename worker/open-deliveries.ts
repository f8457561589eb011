import { createEndpointClient } from '../gateways/merchant-endpoint.ts';
import type { Config } from '../process/config.ts';
import { createEndpointSecrets, demandFittingSecrets } from '../process/endpoint-secrets.ts';
import { isInward } from '../process/inward-addresses.ts';
import type { Logger } from '../process/log.ts';
import { waitForPart } from '../process/parts.ts';
import type { Database } from '../store/database.ts';
import { listEndpoints } from '../store/deliveries/webhook-endpoints.ts';
import { type RunningDeliveries, startDeliveries } from './deliveries.ts';

export type DeliveryConfig = Pick<Config, 'WEBHOOK_MASTER_SECRET' | 'ALLOW_INTERNAL_WEBHOOKS'>;

/**
 * Starts to send events as the configuration says.
 * @throws CodedError `webhook_secret_unfit` when there are endpoints that could not be told anything they would believe
 */
export async function openDeliveries(
  { WEBHOOK_MASTER_SECRET: master, ALLOW_INTERNAL_WEBHOOKS: allowInternal }: DeliveryConfig,
  database: Database,
  log: Logger,
): Promise<RunningDeliveries> {
  const secrets = master === undefined ? null : createEndpointSecrets(master);
  await waitForPart('The database', async () => demandFittingSecrets(secrets, await listEndpoints(database)), log);
  const endpoints = createEndpointClient({ isForbidden: allowInternal ? () => false : isInward });
  const deliveries = startDeliveries({ database, secrets, endpoints, log });
  return {
    stop: async () => {
      await deliveries.stop();
      await endpoints.close();
    },
  };
}
