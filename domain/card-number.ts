/** First digits and lengths of the card brands in use; a Luhn-valid number outside them is a phone or order number. */
const BRANDS: readonly { readonly prefix: RegExp; readonly lengths: readonly number[] }[] = [
  { prefix: /^4/, lengths: [13, 16, 19] }, // Visa
  { prefix: /^(5[1-5]|2(22[1-9]|2[3-9]|[3-6]|7[01]|720))/, lengths: [16] }, // Mastercard
  { prefix: /^3[47]/, lengths: [15] }, // American Express
  { prefix: /^(6011|64[4-9]|65)/, lengths: [16, 17, 18, 19] }, // Discover
  { prefix: /^3(0[0-5]|[689])/, lengths: [14, 15, 16, 17, 18, 19] }, // Diners Club
  { prefix: /^35(2[89]|[3-8])/, lengths: [16, 17, 18, 19] }, // JCB
  { prefix: /^62/, lengths: [16, 17, 18, 19] }, // UnionPay
  { prefix: /^(50|5[6-9]|6)/, lengths: [13, 14, 15, 16, 17, 18, 19] }, // Maestro
];

/** One in four thousand of our own ids would pass for a card number by chance, and nobody types a card in this shape. */
const UUID = /(?<![0-9a-f])([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?![0-9a-f])/giu;

const CARD_DIGITS_MAX = 19;

const SEPARATED_DIGITS = /\d(?:[\s.\-\u2010-\u2015]{0,2}\d){12,}/gu;

/** Digits of other scripts, full-width, raised and circled digits are digits to a person, so they are to us. */
function withAsciiDigits(text: string): string {
  return text.normalize('NFKC').replace(/\p{Nd}/gu, (digit) => String(digitValue(digit)));
}

function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 48;
  if (code >= 48 && code <= 57) return code - 48;
  let start = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(start - 1))) start -= 1;
  // Some scripts have two sets of digits, one right after the other.
  return (code - start) % 10;
}

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - place) - 48;
    const doubled = place % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

function isCardNumber(digits: string): boolean {
  return (
    BRANDS.some(({ prefix, lengths }) => lengths.includes(digits.length) && prefix.test(digits)) && passesLuhn(digits)
  );
}

/**
 * Judges whole groups of digits only: `4111 1111 1111 1111 123` holds a card and its security code, while the middle of
 * a 30-digit tracking number is not looked at, because one in forty such numbers would be refused by chance.
 */
function containsCardNumber(run: string): boolean {
  const groups = run.split(/\D+/u);
  return groups.some((_, start) => {
    let digits = '';
    // Every group has a digit, so more groups than that are never looked at; a copy of all would take minutes for a long text.
    for (const group of groups.slice(start, start + CARD_DIGITS_MAX)) {
      digits += group;
      if (digits.length > CARD_DIGITS_MAX) return false;
      if (isCardNumber(digits)) return true;
    }
    return false;
  });
}

/** Does the text hold a number that looks like a card's: brand prefix, length and check digit, however it is spaced? */
export function looksLikeCardNumber(text: string): boolean {
  return [...withoutUuids(withAsciiDigits(text)).matchAll(SEPARATED_DIGITS)].some(([run]) => containsCardNumber(run));
}

function withoutUuids(text: string): string {
  return text.replace(UUID, ' uuid ');
}

/** The same text with every digit run that holds a card number blanked: the last net before a log line is written. */
export function maskCardNumbers(text: string): string {
  if (!/\p{N}/u.test(text)) return text;
  const ascii = withAsciiDigits(text);
  if (!looksLikeCardNumber(ascii)) return text;
  // Split by a group, the list has the UUIDs at its odd places.
  const parts = ascii.split(UUID);
  return parts.map((part, place) => (place % 2 === 1 ? part : maskDigits(part))).join('');
}

function maskDigits(text: string): string {
  return text.replace(SEPARATED_DIGITS, (run) => (containsCardNumber(run) ? '[card number removed]' : run));
}
