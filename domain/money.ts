import { CURRENCY_DECIMALS, type Currency, isCurrency } from './currencies.ts';

/**
 * An amount of money: an integer count of the currency's minor unit (cents for EUR, yen for JPY, fils for KWD).
 * A safe integer and not a bigint, because it travels through Temporal payloads and JSON, which have no bigint.
 */
export interface Money {
  readonly minorUnits: number;
  readonly currency: Currency;
}

/** The largest amount that a JSON number carries exactly; the database CHECK holds the same figure. */
export const MINOR_UNITS_MAX = Number.MAX_SAFE_INTEGER;

export type MoneyFault = 'amount_not_integer' | 'amount_not_positive' | 'amount_too_large' | 'currency_unknown';

/** Says what is wrong with an amount that somebody wants to be paid, or undefined when it is good. */
export function findMoneyFault(minorUnits: unknown, currency: unknown): MoneyFault | undefined {
  if (typeof currency !== 'string' || !isCurrency(currency)) return 'currency_unknown';
  if (typeof minorUnits !== 'number' || !Number.isFinite(minorUnits)) return 'amount_not_integer';
  if (minorUnits > MINOR_UNITS_MAX) return 'amount_too_large';
  if (!Number.isInteger(minorUnits)) return 'amount_not_integer';
  if (minorUnits <= 0) return 'amount_not_positive';
  return undefined;
}

/**
 * Makes a payable amount. Throws RangeError with the fault's code for anything that is not a positive safe integer in a
 * known currency, so that a wrong amount stops where it was made and not at the gateway.
 */
export function money(minorUnits: number, currency: string): Money {
  const fault = findMoneyFault(minorUnits, currency);
  if (fault !== undefined) throw new RangeError(`${fault}: ${minorUnits} ${currency}`);
  return { minorUnits, currency: currency as Currency };
}

export function sameMoney(left: Money, right: Money): boolean {
  return left.minorUnits === right.minorUnits && left.currency === right.currency;
}

/** How many decimals the currency has by ISO 4217, which is not what Intl says for sixteen live currencies. */
export function decimalsOf(currency: Currency): number {
  return CURRENCY_DECIMALS[currency];
}

/** For people: `19.99 EUR`, `80 JPY`, `18.600 KWD`. By splitting digits, never by dividing: division would round. */
export function formatMoney({ minorUnits, currency }: Money): string {
  const decimals = decimalsOf(currency);
  if (decimals === 0) return `${minorUnits} ${currency}`;
  const digits = String(minorUnits).padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)} ${currency}`;
}
