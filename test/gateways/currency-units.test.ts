import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CURRENCY_DECIMALS, type Currency } from '../../domain/currencies.ts';
import { fromGatewayUnits, toGatewayUnits } from '../../domain/currency-units.ts';
import { money } from '../../domain/money.ts';

const anyCurrency = fc.constantFrom(...(Object.keys(CURRENCY_DECIMALS) as Currency[]));
const anyAmount = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const anyDecimals = fc.integer({ min: 0, max: 4 });

describe("amounts in a gateway's own units", () => {
  it('are ours where the gateway follows ISO 4217', () => {
    expect(toGatewayUnits(money(1_999, 'EUR'), {})).toBe(1_999);
    expect(fromGatewayUnits(1_999, 'EUR', {})).toEqual(money(1_999, 'EUR'));
  });

  it.each([
    ['HUF', 0, 150_000, 1_500],
    ['ISK', 2, 80, 8_000],
    ['KWD', 2, 18_600, 1_860],
  ] as const)('move the point for %s with %i decimals', (currency, decimals, ours, theirs) => {
    expect(toGatewayUnits(money(ours, currency), { [currency]: decimals })).toBe(theirs);
    expect(fromGatewayUnits(theirs, currency, { [currency]: decimals })).toEqual(money(ours, currency));
  });

  it('are refused where digits would be lost or the number would be too large', () => {
    const refusal = expect.objectContaining({ code: 'currency_unsupported' });
    expect(() => toGatewayUnits(money(150_001, 'HUF'), { HUF: 0 })).toThrow(refusal);
    expect(() => toGatewayUnits(money(Number.MAX_SAFE_INTEGER, 'ISK'), { ISK: 2 })).toThrow(refusal);
  });

  it('come back exactly as they went, for every currency and amount', () => {
    fc.assert(
      fc.property(anyCurrency, anyAmount, anyDecimals, (currency, minorUnits, decimals) => {
        const table = { [currency]: decimals };
        const amount = money(minorUnits, currency);
        let theirs: number;
        try {
          theirs = toGatewayUnits(amount, table);
        } catch {
          return;
        }
        expect(fromGatewayUnits(theirs, currency, table)).toEqual(amount);
      }),
    );
  });

  it.each([
    [0, 'EUR'],
    [-5, 'EUR'],
    [1.5, 'EUR'],
    [Number.NaN, 'EUR'],
    [2 ** 53, 'EUR'],
    [100, 'XXX'],
    [100, 'eur'],
  ])('%d %s is no amount that a gateway can have taken', (units, currency) => {
    expect(fromGatewayUnits(units, currency, {})).toBeUndefined();
  });
});
