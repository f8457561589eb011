import fc from 'fast-check';
import { v7 as newId, v4 as randomId } from 'uuid';
import { describe, expect, it } from 'vitest';
import { looksLikeCardNumber, maskCardNumbers } from '../../domain/card-number.ts';
import { merchantReference } from '../../domain/merchant-reference.ts';

/** The numbers that the brands and gateways publish for testing. */
const TEST_CARDS = [
  ['Visa', '4111111111111111'],
  ['Visa', '4242424242424242'],
  ['Visa, 13 digits', '4222222222222'],
  ['Mastercard', '5555555555554444'],
  ['Mastercard, 2-series', '2223003122003222'],
  ['Mastercard, last of the 2-series', '2720992222222229'],
  ['American Express', '378282246310005'],
  ['American Express', '341111111111111'],
  ['Discover', '6011111111111117'],
  ['Discover', '6445644564456445'],
  ['Diners Club, 14 digits', '30569309025904'],
  ['Diners Club, 14 digits', '38520000023237'],
  ['JCB', '3530111333300000'],
  ['UnionPay', '6200000000000005'],
  ['UnionPay, 19 digits', '6205500000000000004'],
  ['Maestro', '6759649826438453'],
  ['Maestro, 13 digits', '5018000000007'],
] as const;

/** By the definition, not by the code under test: digits doubled from the right, check digit appended. */
function withCheckDigit(body: string): string {
  const sum = [...body].reverse().reduce((total, character, index) => {
    const digit = Number(character) * (index % 2 === 0 ? 2 : 1);
    return total + Math.floor(digit / 10) + (digit % 10);
  }, 0);
  return `${body}${(10 - (sum % 10)) % 10}`;
}

const digits = (count: number) => fc.stringMatching(new RegExp(`^[0-9]{${count}}$`));

/** A number with a brand's prefix, one of its lengths and the right check digit. */
const anyCard = fc
  .constantFrom(
    ['4', 13],
    ['4', 16],
    ['4', 19],
    ['51', 16],
    ['55', 16],
    ['2221', 16],
    ['2720', 16],
    ['34', 15],
    ['37', 15],
    ['6011', 16],
    ['65', 19],
    ['300', 14],
    ['36', 14],
    ['3528', 16],
    ['3589', 16],
    ['62', 16],
    ['62', 19],
    ['50', 13],
    ['58', 19],
  )
  .chain(([prefix, length]) => {
    const [start, count] = [String(prefix), Number(length)];
    return digits(count - start.length - 1).map((body) => withCheckDigit(start + body));
  });

/** Every digit of Unicode is a digit to a person who copies a number from a page. */
const OTHER_DIGITS = [
  ['full-width', 0xff10],
  ['Arabic-Indic', 0x0660],
  ['Persian', 0x06f0],
  ['Devanagari', 0x0966],
  ['Thai', 0x0e50],
  ['mathematical bold', 0x1d7ce],
  ['mathematical monospace', 0x1d7f6],
  ['segmented', 0x1fbf0],
  ['Adlam', 0x1e950],
] as const;

const inDigitsFrom = (zero: number, text: string) =>
  text.replace(/[0-9]/g, (digit) => String.fromCodePoint(zero + Number(digit)));

describe('a card number is seen', () => {
  it.each(TEST_CARDS)('%s %s', (_, card) => {
    expect(looksLikeCardNumber(card)).toBe(true);
  });

  it.each([
    ['spaces', '4111 1111 1111 1111'],
    ['dashes', '4111-1111-1111-1111'],
    ['dots', '4111.1111.1111.1111'],
    ['no-break spaces', '4111\u00a01111\u00a01111\u00a01111'],
    ['thin spaces', '4111\u20091111\u20091111\u20091111'],
    ['en dashes', '4111\u20131111\u20131111\u20131111'],
    ['tabs and line ends', '4111\t1111\r\n1111\n1111'],
    ['a space after each digit', '4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1'],
    ['a dash between spaces', '4111 -1111 -1111 -1111'],
    ['groups of American Express', '3782 822463 10005'],
    ['odd groups', '41 111111 1111111 1'],
    ['words around it', 'card:4111111111111111, please'],
    ['letters right beside it', 'x4111111111111111y'],
    ['its expiry after it', '4111 1111 1111 1111 12/29'],
    ['its security code after it', '4111 1111 1111 1111 123'],
    ['an amount before it', '20 4111 1111 1111 1111'],
    ['JSON around it', '{"note":"4111111111111111"}'],
    ['raised digits', '⁴¹¹¹ ¹¹¹¹ ¹¹¹¹ ¹¹¹¹'],
    ['circled digits', '④①①①①①①①①①①①①①①①'],
    ['a number of ours before it', `${newId()} 4111111111111111`],
  ])('with %s', (_, text) => {
    expect(looksLikeCardNumber(text)).toBe(true);
    expect(maskCardNumbers(text)).toContain('[card number removed]');
  });

  it.each(OTHER_DIGITS)('in %s digits', (_, zero) => {
    expect(looksLikeCardNumber(inDigitsFrom(zero, '4111 1111 1111 1111'))).toBe(true);
  });

  it('in the digits of every script that Unicode has', () => {
    const zeros = Array.from({ length: 0x110000 }, (_, code) => code).filter(
      (code) => (code < 0xd800 || code > 0xdfff) && /^\p{Nd}$/u.test(String.fromCodePoint(code)),
    );
    expect(zeros.length).toBeGreaterThanOrEqual(650);
    const starts = zeros.filter((_, index) => index % 10 === 0);
    expect(starts.filter((zero) => !looksLikeCardNumber(inDigitsFrom(zero, '4111111111111111')))).toEqual([]);
  });

  it('of every brand, whatever stands around it', () => {
    const noDigits = fc.string().filter((text) => !/\p{N}/u.test(text.normalize('NFKC')));
    fc.assert(
      fc.property(anyCard, noDigits, noDigits, (card, before, after) => {
        expect(looksLikeCardNumber(`${before}|${card}|${after}`)).toBe(true);
      }),
    );
  });

  it('of every brand, however it is spaced', () => {
    const separators = fc.array(fc.constantFrom('', ' ', '-', '.', '  ', ' -', '\u00a0', '\u2011'), {
      minLength: 19,
      maxLength: 19,
    });
    fc.assert(
      fc.property(anyCard, separators, (card, gaps) => {
        expect(looksLikeCardNumber([...card].map((digit, index) => digit + (gaps[index] ?? '')).join(''))).toBe(true);
      }),
    );
  });
});

describe('no card number is seen', () => {
  it('where one digit differs: the check digit finds every slip of one digit', () => {
    fc.assert(
      fc.property(anyCard, fc.nat(), fc.integer({ min: 1, max: 9 }), (card, where, by) => {
        const place = where % card.length;
        const slip = (Number(card.charAt(place)) + by) % 10;
        expect(looksLikeCardNumber(card.slice(0, place) + slip + card.slice(place + 1))).toBe(false);
      }),
    );
  });

  it.each([
    ['nothing', ''],
    ['an ISO time', '2026-11-30T23:11:00.123Z'],
    ['a time in a log', '2026-11-30 23:11:00.123456'],
    ['milliseconds since 1970', '1764544260123'],
    ['microseconds since 1970', '1764544260123456'],
    ['nanoseconds since 1970', '1764544260123456789'],
    ['a German phone number', '+49 (0)170 1234567'],
    ['a Mexican phone number', '+52 1 55 1234 5678'],
    ['a phone number with an exit code', '0049 170 12345678'],
    ['a bank account (IBAN)', 'DE89 3704 0044 0532 0130 00'],
    ['a French bank account', 'FR14 2004 1010 0505 0001 3M02 606'],
    ['a parcel number of 20 digits', '00340434161094042557'],
    ['a parcel number of 22 digits', '9400111899223197428490'],
    ['an address of the network', '192.168.100.104:8080 10.0.0.12'],
    ['an order of ours', '019acc3c-6f2d-7b5e-8f40-411111111111'],
    ['the largest amount', '9007199254740991'],
    ['a Visa prefix with a wrong check digit', '4111111111111112'],
    ['a Luhn-valid number of no brand', '1234567812345670'],
    ['a Luhn-valid number of zeros', '0000000000000000'],
    ['a number just below the 2-series of Mastercard', withCheckDigit('222099999999999')],
    ['a number just above the 2-series of Mastercard', withCheckDigit('272100000000000')],
    ['a Visa prefix with 14 digits', withCheckDigit('4111111111111')],
    ['12 digits', withCheckDigit('41111111111')],
    ['20 digits, Luhn-valid', withCheckDigit('4111111111111111111')],
    ['three spaces between the groups', '4111   1111   1111   1111'],
    ['letters between the groups', '4111a1111a1111a1111'],
    ['a fraction', '0.4111111111111112'],
  ])('in %s: %s', (_, text) => {
    expect(looksLikeCardNumber(text)).toBe(false);
    expect(maskCardNumbers(text)).toBe(text);
  });

  it('in any UUID, whether random or by time', () => {
    for (let count = 0; count < 20_000; count += 1) {
      for (const id of [randomId(), newId()]) if (looksLikeCardNumber(id)) expect.fail(id);
    }
  });

  it('in the references of ten thousand orders, but for those with 13 digits in a row', () => {
    for (let count = 0; count < 10_000; count += 1) {
      const reference = merchantReference(newId(), (count % 99) + 1);
      if (!/\d{13}/.test(reference) && looksLikeCardNumber(reference)) expect.fail(reference);
    }
  });

  it('in a single run of 20 digits or more, whatever it holds', () => {
    fc.assert(
      fc.property(anyCard, digits(20), (card, more) => {
        expect(looksLikeCardNumber(`${more}${card}`)).toBe(false);
        expect(looksLikeCardNumber(`${card}${more}`)).toBe(false);
      }),
    );
  });

  it('in fewer than 13 digits', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^([0-9][ -]?){0,12}$/), (text) => {
        expect(looksLikeCardNumber(text)).toBe(false);
      }),
    );
  });
});

describe('the mask of the log', () => {
  it('leaves the text around a card number', () => {
    expect(maskCardNumbers('{"msg":"charge 4111 1111 1111 1111 refused","pid":12}')).toBe(
      '{"msg":"charge [card number removed] refused","pid":12}',
    );
  });

  it('blanks every card number of a line', () => {
    expect(maskCardNumbers('4242424242424242, 378282246310005; 5555555555554444')).toBe(
      '[card number removed], [card number removed]; [card number removed]',
    );
  });

  it('blanks the security code that stands behind the number', () => {
    expect(maskCardNumbers('4111 1111 1111 1111 123')).toBe('[card number removed]');
  });

  it('keeps the ids beside a card number', () => {
    const id = newId();
    expect(maskCardNumbers(`${id} 4111111111111111 ${id}`)).toBe(`${id} [card number removed] ${id}`);
  });

  it('keeps an id that would pass for a card number by chance', () => {
    const id = '41111111-1111-1111-8111-abcdefabcdef';
    expect(maskCardNumbers(`${id} 4242424242424242`)).toBe(`${id} [card number removed]`);
  });

  it('leaves no card number, in whatever text it stands', () => {
    const text = fc.array(fc.oneof(anyCard, fc.string(), fc.uuid(), fc.constantFrom(' ', '-', ',')), { maxLength: 8 });
    fc.assert(
      fc.property(text, (parts) => {
        expect(looksLikeCardNumber(maskCardNumbers(parts.join('')))).toBe(false);
      }),
    );
  });

  it('changes nothing else, byte for byte', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        if (!looksLikeCardNumber(text)) expect(maskCardNumbers(text)).toBe(text);
      }),
    );
  });

  it('takes no longer than a moment over a long line', () => {
    const began = performance.now();
    maskCardNumbers('4111 1111 1111 1112 '.repeat(50_000));
    maskCardNumbers('4'.repeat(1_000_000));
    maskCardNumbers('- '.repeat(500_000));
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
