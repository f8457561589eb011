import { loadClientConnectConfig } from '@temporalio/envconfig';
import { withFiles } from './config.ts';

export interface TemporalTarget {
  readonly namespace: string;
  readonly connection: NonNullable<ReturnType<typeof loadClientConnectConfig>['connectionOptions']>;
}

/**
 * Where the Temporal server is, read the way the Temporal CLI reads it: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
 * TEMPORAL_TLS…, TEMPORAL_API_KEY (also as TEMPORAL_API_KEY_FILE), or a profile in temporal.toml.
 * @throws CodedError `configuration_invalid` when the file of the API key cannot be read
 */
export function readTemporalTarget(variables: NodeJS.ProcessEnv = process.env): TemporalTarget {
  const { namespace, connectionOptions } = loadClientConnectConfig({
    overrideEnvVars: onlySet(withFiles(variables, ['TEMPORAL_API_KEY'])),
  });
  return { namespace: namespace ?? 'default', connection: connectionOptions };
}

function onlySet(variables: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
