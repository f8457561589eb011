import { z } from 'zod';
import type { GatewayCapabilities } from '../../domain/capabilities.ts';
import { fromGatewayUnits } from '../../domain/currency-units.ts';
import type { Decline, GatewayOutcome } from '../../domain/outcome.ts';

/** A charge as the gateway tells it. Fields that are not named here may come and go. */
export const wireCharge = z.object({
  id: z.string().regex(/^[A-Za-z0-9_]{1,64}$/),
  reference: z.string(),
  status: z.enum(['approved', 'declined', 'pending', 'requires_action', 'authorized', 'voided', 'lapsed']),
  amount: z.object({ minor_units: z.number().int(), currency: z.string() }),
  decline_code: z.string().nullable(),
  action_url: z.url({ protocol: /^https?$/ }).nullable(),
  /** What is or was held; absent at a gateway that only charges. */
  authorized: z
    .object({
      amount: z.object({ minor_units: z.number().int(), currency: z.string() }),
      lapses_at: z.iso.datetime().nullable(),
    })
    .nullish(),
  ended_by: z.string().nullish(),
});

export type WireCharge = z.infer<typeof wireCharge>;

export const wireError = z.object({ error: z.object({ code: z.string() }) });

/** The gateway's reasons for a decline, in our words; any other is `other`. */
const DECLINES: Readonly<Record<string, Omit<Decline, 'gatewayCode'>>> = {
  card_declined: { code: 'card_declined', retriable: true },
  insufficient_funds: { code: 'insufficient_funds', retriable: true },
  expired_card: { code: 'expired_card', retriable: true },
  invalid_payment_method: { code: 'invalid_payment_method', retriable: true },
  possible_duplicate: { code: 'possible_duplicate', retriable: true },
};

type Meaning =
  /** The gateway documents that it did nothing, and that it may be tried again. */
  | 'not_accepted'
  /** The gateway documents that it did nothing, and that this request can never succeed. */
  | 'refused'
  /** The gateway knows the key or the reference: there is, or was, an earlier request, and how it ended has to be asked. */
  | 'seen_before';

/**
 * What the gateway's error codes mean, each only under its own HTTP status. Whatever is not in this table says nothing:
 * 500 and 502 come from proxies and half-finished work alike, and a 429 from a firewall is not the gateway's word.
 */
export const ERROR_MEANINGS: Readonly<Record<string, Meaning>> = {
  '429 rate_limited': 'not_accepted',
  '503 maintenance': 'not_accepted',
  '400 body_malformed': 'refused',
  '400 field_invalid': 'refused',
  '400 reference_invalid': 'refused',
  '400 amount_invalid': 'refused',
  '400 currency_unknown': 'refused',
  '400 idempotency_key_invalid': 'refused',
  '401 credentials_missing': 'refused',
  '413 body_too_large': 'refused',
  '409 reference_used': 'seen_before',
  '409 reference_closed': 'seen_before',
  '422 idempotency_key_reused': 'seen_before',
};

/** What we know of the charge that we asked for or about. */
export interface Expected {
  readonly merchantReference: string;
  readonly currency: string;
  readonly decimals: GatewayCapabilities['currencyDecimals'];
}

type FoundOutcome = Exclude<GatewayOutcome, { kind: 'not_processed' }>;

/**
 * What a charge object means. An answer about another reference or in another currency is nobody's answer, so it is
 * `unknown`. Another amount in the same currency is passed on as it is: the caller compares, and keeps it as evidence.
 */
export function outcomeOfCharge(charge: WireCharge, expected: Expected, raw: string): FoundOutcome {
  if (charge.reference !== expected.merchantReference) return unknown('the answer is about another reference', raw);
  const word = { gatewayReference: charge.id, raw };
  switch (charge.status) {
    case 'approved': {
      const amount = fromGatewayUnits(charge.amount.minor_units, charge.amount.currency, expected.decimals);
      if (amount === undefined || amount.currency !== expected.currency)
        return unknown('the answer names no amount in our currency', raw);
      return { kind: 'approved', amount, ...word };
    }
    case 'declined':
      return { kind: 'declined', decline: declineOf(charge.decline_code), ...word };
    case 'pending':
      return { kind: 'pending', ...word };
    case 'requires_action':
      if (charge.action_url === null) return unknown('the answer asks for an action and names none', raw);
      return { kind: 'requires_action', action: { kind: 'redirect', url: charge.action_url }, ...word };
    case 'authorized':
    case 'voided':
    case 'lapsed':
      return unknown('the answer is about an authorization, and a charge was asked for', raw);
  }
}

function declineOf(code: string | null): Decline {
  if (code === null) return { code: 'other', retriable: true };
  const known = Object.hasOwn(DECLINES, code) ? DECLINES[code] : undefined;
  return { ...(known ?? { code: 'other', retriable: true }), gatewayCode: code };
}

export function unknown(reason: string, raw: string): FoundOutcome & { readonly kind: 'unknown' } {
  return { kind: 'unknown', reason, raw };
}
