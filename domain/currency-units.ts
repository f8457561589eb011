import type { GatewayCapabilities } from './capabilities.ts';
import { isCurrency } from './currencies.ts';
import { CodedError } from './errors.ts';
import { decimalsOf, findMoneyFault, type Money, money } from './money.ts';

type DecimalsTable = GatewayCapabilities['currencyDecimals'];

/**
 * Our amount in the gateway's minor units. Some gateways count a currency in other units than ISO 4217 (HUF without
 * decimals, ISK with two); an amount that has no exact counterpart there is refused, never rounded.
 * @throws CodedError `currency_unsupported`
 */
export function toGatewayUnits({ minorUnits, currency }: Money, table: DecimalsTable): number {
  const units = shift(minorUnits, (table[currency] ?? decimalsOf(currency)) - decimalsOf(currency));
  if (units === undefined)
    throw new CodedError('currency_unsupported', `The gateway cannot express this amount of ${currency} exactly.`, {
      field: 'amount.minor_units',
    });
  return units;
}

/** The way back for what a gateway reports; undefined for anything that is not a payable amount in a known currency. */
export function fromGatewayUnits(units: number, currency: string, table: DecimalsTable): Money | undefined {
  if (!isCurrency(currency)) return undefined;
  const minorUnits = shift(units, decimalsOf(currency) - (table[currency] ?? decimalsOf(currency)));
  if (minorUnits === undefined || findMoneyFault(minorUnits, currency) !== undefined) return undefined;
  return money(minorUnits, currency);
}

/** Moves the decimal point by whole places, in whole numbers; undefined when digits would be lost. */
function shift(units: number, places: number): number | undefined {
  if (!Number.isSafeInteger(units)) return undefined;
  const factor = 10n ** BigInt(Math.abs(places));
  const whole = BigInt(units);
  if (places < 0 && whole % factor !== 0n) return undefined;
  const shifted = Number(places < 0 ? whole / factor : whole * factor);
  return Number.isSafeInteger(shifted) ? shifted : undefined;
}
