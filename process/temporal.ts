import { loadClientConnectConfig } from '@temporalio/envconfig';

export interface TemporalTarget {
  readonly namespace: string;
  readonly connection: NonNullable<ReturnType<typeof loadClientConnectConfig>['connectionOptions']>;
}

/**
 * Where the Temporal server is, read the way the Temporal CLI reads it: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
 * TEMPORAL_TLS…, TEMPORAL_API_KEY, or a profile in temporal.toml.
 */
export function readTemporalTarget(): TemporalTarget {
  const { namespace, connectionOptions } = loadClientConnectConfig();
  return { namespace: namespace ?? 'default', connection: connectionOptions };
}
