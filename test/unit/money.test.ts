import { data } from 'currency-codes';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CURRENCY_DECIMALS, type Currency, isCurrency } from '../../domain/currencies.ts';
import {
  decimalsOf,
  findMoneyFault,
  formatMoney,
  MINOR_UNITS_MAX,
  type MoneyFault,
  money,
  sameMoney,
} from '../../domain/money.ts';

const CURRENCIES = Object.keys(CURRENCY_DECIMALS) as Currency[];

const anyCurrency = fc.constantFrom(...CURRENCIES);
const anyAmount = fc.oneof(
  fc.integer({ min: 1, max: 1_000_000 }),
  fc.maxSafeInteger().filter((amount) => amount > 0),
);
const anyMoney = fc.record({ minorUnits: anyAmount, currency: anyCurrency });

describe('the currencies', () => {
  /** The package's list is of June 2024. Left out of ours: metals, funds codes, test codes. */
  const NOT_FOR_PAYING = /^(BOV|CHE|CHW|CLF|COU|MXV|USN|UYI|UYW|XAG|XAU|XBA|XBB|XBC|XBD|XDR|XPD|XPT|XSU|XTS|XUA|XXX)$/;
  const GONE_SINCE_THEN = ['ANG', 'BGN', 'CUC'];
  const NEW_SINCE_THEN = ['XCG'];

  const theirs = new Map(
    data.filter(({ code }) => !NOT_FOR_PAYING.test(code)).map(({ code, digits }) => [code, digits]),
  );

  it('are those of ISO 4217, but for the changes since the other list was made', () => {
    const onlyTheirs = [...theirs.keys()].filter((code) => !isCurrency(code));
    const onlyOurs = CURRENCIES.filter((code) => !theirs.has(code));
    expect(onlyTheirs).toEqual(GONE_SINCE_THEN);
    expect(onlyOurs).toEqual(NEW_SINCE_THEN);
    expect(theirs.size).toBeGreaterThan(140);
  });

  it.each(CURRENCIES.filter((code) => theirs.has(code)))('%s has the decimals of ISO 4217', (code) => {
    expect(decimalsOf(code)).toBe(theirs.get(code));
  });

  it.each([
    ['HUF', 2],
    ['IDR', 2],
    ['COP', 2],
    ['IQD', 3],
    ['KWD', 3],
    ['JPY', 0],
    ['KRW', 0],
    ['UGX', 0],
  ] as const)('%s has %i, whatever Intl says', (code, decimals) => {
    expect(decimalsOf(code)).toBe(decimals);
  });

  it.each(['', 'eur', 'EURO', 'XXX', 'XAU', 'toString', '__proto__', 'constructor', 'EU R', 'ЕUR'])(
    '%j is none',
    (code) => {
      expect(isCurrency(code)).toBe(false);
    },
  );
});

describe('an amount', () => {
  it('is made from any positive safe integer in any currency, unchanged', () => {
    fc.assert(
      fc.property(anyMoney, ({ minorUnits, currency }) => {
        expect(money(minorUnits, currency)).toEqual({ minorUnits, currency });
      }),
    );
  });

  const FAULTS: readonly (readonly [unknown, unknown, MoneyFault])[] = [
    [0, 'EUR', 'amount_not_positive'],
    [-0, 'EUR', 'amount_not_positive'],
    [-1, 'EUR', 'amount_not_positive'],
    [-MINOR_UNITS_MAX, 'EUR', 'amount_not_positive'],
    [0.5, 'EUR', 'amount_not_integer'],
    [19.99, 'EUR', 'amount_not_integer'],
    [Number.NaN, 'EUR', 'amount_not_integer'],
    [Number.POSITIVE_INFINITY, 'EUR', 'amount_not_integer'],
    [Number.NEGATIVE_INFINITY, 'EUR', 'amount_not_integer'],
    ['1999', 'EUR', 'amount_not_integer'],
    [1999n, 'EUR', 'amount_not_integer'],
    [null, 'EUR', 'amount_not_integer'],
    [undefined, 'EUR', 'amount_not_integer'],
    [[1999], 'EUR', 'amount_not_integer'],
    [MINOR_UNITS_MAX + 1, 'EUR', 'amount_too_large'],
    [Number.MAX_VALUE, 'EUR', 'amount_too_large'],
    [1999, 'eur', 'currency_unknown'],
    [1999, 'XXX', 'currency_unknown'],
    [1999, '__proto__', 'currency_unknown'],
    [1999, undefined, 'currency_unknown'],
    [1999, 978, 'currency_unknown'],
    [1999, ['EUR'], 'currency_unknown'],
  ];

  it.each(FAULTS)('of %s %s is refused as %s', (minorUnits, currency, fault) => {
    expect(findMoneyFault(minorUnits, currency)).toBe(fault);
  });

  it('that has a fault is never made, and the error names the fault', () => {
    expect(() => money(0, 'EUR')).toThrow(new RangeError('amount_not_positive: 0 EUR'));
    expect(() => money(1, 'XXX')).toThrow(RangeError);
    fc.assert(
      fc.property(fc.double(), fc.string(), (minorUnits, currency) => {
        if (findMoneyFault(minorUnits, currency) === undefined) return;
        expect(() => money(minorUnits, currency)).toThrow(RangeError);
      }),
    );
  });

  it('is good or has a fault, whatever was sent', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (minorUnits, currency) => {
        const good =
          Number.isSafeInteger(minorUnits) &&
          Number(minorUnits) > 0 &&
          isCurrency(String(currency)) &&
          typeof currency === 'string';
        expect(findMoneyFault(minorUnits, currency) === undefined).toBe(good);
      }),
    );
  });

  it('is the same as another only in amount and currency', () => {
    expect(sameMoney(money(1_999, 'EUR'), money(1_999, 'USD'))).toBe(false);
    expect(sameMoney(money(1_999, 'EUR'), money(1_998, 'EUR'))).toBe(false);
    fc.assert(
      fc.property(anyMoney, anyMoney, (left, right) => {
        expect(sameMoney(left, { ...left })).toBe(true);
        expect(sameMoney(left, right)).toBe(left.minorUnits === right.minorUnits && left.currency === right.currency);
      }),
    );
  });
});

describe('an amount in words', () => {
  it.each([
    [1999, 'EUR', '19.99 EUR'],
    [1, 'EUR', '0.01 EUR'],
    [10, 'EUR', '0.10 EUR'],
    [100, 'EUR', '1.00 EUR'],
    [80, 'JPY', '80 JPY'],
    [18_600, 'KWD', '18.600 KWD'],
    [1, 'KWD', '0.001 KWD'],
    [MINOR_UNITS_MAX, 'USD', '90071992547409.91 USD'],
  ] as const)('%i %s is %s', (minorUnits, currency, text) => {
    expect(formatMoney({ minorUnits, currency })).toBe(text);
  });

  it('is exact for every price from 0.01 to 100.00', () => {
    for (let euros = 0; euros <= 100; euros += 1) {
      for (let cents = 0; cents < 100; cents += 1) {
        const minorUnits = euros * 100 + cents;
        const text = `${euros}.${cents < 10 ? '0' : ''}${cents} EUR`;
        if (minorUnits > 0 && minorUnits <= 10_000) expect(formatMoney({ minorUnits, currency: 'EUR' })).toBe(text);
      }
    }
  });

  it('holds the same digits as the number, in any currency', () => {
    fc.assert(
      fc.property(anyMoney, (amount) => {
        const [digits = '', currency] = formatMoney(amount).split(' ');
        expect(currency).toBe(amount.currency);
        expect(digits.split('.')[1]?.length ?? 0).toBe(decimalsOf(amount.currency));
        expect(Number(digits.replace('.', ''))).toBe(amount.minorUnits);
      }),
    );
  });
});
