import type { Currency } from './currencies.ts';

/**
 * What happens at the gateway when the same request comes twice.
 * - `reference`: it keeps our merchant reference unique for ever, and a repeat is refused (Payworks 3039) or answered with
 *   the original (Alipay).
 * - `key`: it replays the first answer to the same idempotency key, but only for `windowSeconds` after the first use
 *   (Stripe: 24 h); the same key later is a new charge.
 * - `nothing`: every request is a charge.
 */
export type RepeatProtection =
  | { readonly by: 'reference'; readonly onRepeat: 'refused' | 'returns_original' }
  | { readonly by: 'key'; readonly windowSeconds: number }
  | { readonly by: 'nothing' };

export interface GatewayCapabilities {
  readonly repeat: RepeatProtection;
  readonly inquiry: {
    /** By which of the two references the gateway can be asked; empty: not at all (Adyen). */
    readonly by: readonly ('merchant_reference' | 'gateway_reference')[];
    /**
     * When "I do not know this reference" may be believed, counted from the moment our own call was over: the longest
     * time that a request may still be on its way. `null`: never, absence proves nothing there.
     */
    readonly absentConclusiveAfterSeconds: number | null;
  };
  /** A gateway id exists before the risky step (Stripe's intent, PayPal's order). */
  readonly savesGatewayReferenceFirst: boolean;
  readonly webhooks: 'signed' | 'unsigned' | 'none';
  readonly statements: boolean;
  /** Under which of the two references a charge can be closed at the gateway, so that nothing can come of it any more; empty: not at all. */
  readonly closing: { readonly by: readonly ('merchant_reference' | 'gateway_reference')[] };
  /** Null where a gateway cannot be told to refund. `repeat`: what it does when the same refund is asked for twice. */
  readonly refund: { readonly partial: boolean; readonly repeat: RepeatProtection } | null;
  /**
   * Null where money cannot be held first and taken later. `lapsesAfterSeconds`: when the gateway releases by itself what was
   * neither captured nor voided; null: it says so with each authorization, or never does.
   */
  readonly authorize: { readonly partialCapture: boolean; readonly lapsesAfterSeconds: number | null } | null;
  /** The longest a call may take, all in all, before the answer counts as lost. */
  readonly callTimeoutSeconds: number;
  readonly reference: { readonly lengthMax: number; readonly pattern: string };
  /** Currencies whose decimals differ here from ISO 4217; amounts are converted by these, or refused where they do not fit. */
  readonly currencyDecimals: Readonly<Partial<Record<Currency, number>>>;
  /** IANA name of the zone that the gateway's statement days follow. */
  readonly timeZone: string;
}

export type ConfigurationJudgement =
  | { readonly kind: 'exactly_once' }
  | { readonly kind: 'at_most_once_sent'; readonly sentence: string };

/**
 * Can "charged once" be promised with this gateway? With none of key, unique reference and inquiry, nobody can ever
 * find out what happened to a lost request: all that can be promised is that one request was sent.
 */
export function judgeConfiguration(name: string, capabilities: GatewayCapabilities): ConfigurationJudgement {
  if (isRepeatProtected(capabilities) || canAskAboutLostAnswer(capabilities)) return { kind: 'exactly_once' };
  return {
    kind: 'at_most_once_sent',
    sentence:
      `Gateway ${name} honours no idempotency key, keeps no reference unique and answers no inquiry, so a lost answer can never be found out. ` +
      'Choose another gateway, or set ALLOW_AT_MOST_ONCE_SENT=true to accept "at most one request sent" instead of "charged once".',
  };
}

/** A key that is forgotten before a repeat could arrive is no protection; domain/after-unknown.ts never uses it either. */
function isRepeatProtected({ repeat, callTimeoutSeconds }: GatewayCapabilities): boolean {
  if (repeat.by === 'key') return repeat.windowSeconds > 2 * callTimeoutSeconds;
  return repeat.by === 'reference';
}

/** The gateway's own reference helps only where it is known before the risky step: it comes with the answer that is lost. */
function canAskAboutLostAnswer({ inquiry, savesGatewayReferenceFirst }: GatewayCapabilities): boolean {
  if (inquiry.by.includes('merchant_reference')) return true;
  return inquiry.by.includes('gateway_reference') && savesGatewayReferenceFirst;
}
