import { CodedError } from '../domain/errors.ts';
import { decimalsOf, MINOR_UNITS_MAX, type Money } from '../domain/money.ts';
import type { GatewayFacts } from './dependencies.ts';

/**
 * Refuses an amount that cannot be told to the gateway in its own units: one that counts ISK with two decimals wants a
 * hundredfold, one that counts HUF with none cannot be told of fillér.
 * @throws CodedError `currency_unsupported`
 */
export function demandFittingAmount({ minorUnits, currency }: Money, gateway: GatewayFacts): void {
  const ours = decimalsOf(currency);
  const theirs = gateway.currencyDecimals[currency] ?? ours;
  const factor = 10 ** Math.abs(theirs - ours);
  const fits = theirs >= ours ? minorUnits <= Math.floor(MINOR_UNITS_MAX / factor) : minorUnits % factor === 0;
  if (fits) return;
  throw new CodedError(
    'currency_unsupported',
    `Gateway ${gateway.name} counts ${currency} with ${theirs} decimals instead of ${ours}, and this amount does not fit them.`,
    { field: 'amount.minor_units' },
  );
}
