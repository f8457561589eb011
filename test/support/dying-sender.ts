import { createEndpointClient } from '../../gateways/merchant-endpoint.ts';
import { createEndpointSecrets } from '../../process/endpoint-secrets.ts';
import { createDatabase } from '../../store/database.ts';
import { startDeliveries } from '../../worker/deliveries.ts';

/**
 * A process that sends events as a worker does and kills itself when the receiver has answered and nothing is written yet:
 * without a signal handler, a `finally` or a last word to anybody.
 */
const { databaseUrl, masterSecret, leaseMs } = JSON.parse(process.env.DYING_SENDER_PLAN ?? '') as {
  readonly databaseUrl: string;
  readonly masterSecret: string;
  readonly leaseMs: number;
};
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const endpoints = createEndpointClient({ isForbidden: () => false });
startDeliveries({
  database: createDatabase({ url: databaseUrl, poolSize: 2, applicationName: 'paidonce-dying-sender' }),
  secrets: createEndpointSecrets(masterSecret),
  endpoints: {
    ...endpoints,
    send: async (call) => {
      await endpoints.send(call);
      process.kill(process.pid, 'SIGKILL');
      return { kind: 'no_answer', reason: 'the process is dead' };
    },
  },
  log: quiet,
  settings: { idlePauseMs: 20, leaseMs },
});
