import { createHash, createHmac } from 'node:crypto';
import { CodedError } from '../domain/errors.ts';

/**
 * The secrets that sign what merchants are told. None is stored: each is computed from the master secret, the endpoint's id
 * and the generation, so that a stolen database signs nothing, and a rotation is a number counted up.
 */
export interface EndpointSecrets {
  secretFor(endpointId: string, generation: number): EndpointSecret;
}

export interface EndpointSecret {
  readonly bytes: Buffer;
  /** As the merchant gets it, once: `whsec_` and base64, as Standard Webhooks has it. */
  readonly text: string;
  /** SHA-256, which is stored: it tells later whether the master secret is still the same. */
  readonly hash: Buffer;
}

export function createEndpointSecrets(masterSecret: string): EndpointSecrets {
  return {
    secretFor: (endpointId, generation) => {
      const bytes = createHmac('sha256', masterSecret).update(`webhook-endpoint:${endpointId}:${generation}`).digest();
      return {
        bytes,
        text: `whsec_${bytes.toString('base64')}`,
        hash: createHash('sha256').update(bytes).digest(),
      };
    },
  };
}

/** What is known of an endpoint's present secret. */
export interface KeptSecret {
  readonly id: string;
  readonly secretGeneration: number;
  readonly secretHash: Uint8Array;
  readonly disabledAt: string | null;
}

/**
 * Refuses a master secret that is missing or another one than the endpoints' secrets were made from: no receiver would believe
 * what is signed with it, and every event would be parked after three days.
 * @throws CodedError `webhook_secret_unfit`
 */
export function demandFittingSecrets(secrets: EndpointSecrets | null, endpoints: readonly KeptSecret[]): void {
  const open = endpoints.filter(({ disabledAt }) => disabledAt === null);
  if (open.length === 0) return;
  if (secrets === null) {
    throw new CodedError(
      'webhook_secret_unfit',
      `There are ${open.length} webhook endpoints, so set WEBHOOK_MASTER_SECRET to the secret that they were added with.`,
    );
  }
  const strange = open.find(
    ({ id, secretGeneration, secretHash }) => !secrets.secretFor(id, secretGeneration).hash.equals(secretHash),
  );
  if (strange === undefined) return;
  throw new CodedError(
    'webhook_secret_unfit',
    `Webhook endpoint ${strange.id} was added with another WEBHOOK_MASTER_SECRET; set that one again, or remove the endpoint and add it anew.`,
  );
}
