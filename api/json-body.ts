import { CodedError } from '../domain/errors.ts';

/** Beyond this many significant digits a number may lose some on its way into a JavaScript number. */
const EXACT_DIGITS_MAX = 16;
const LONG_NUMBER = /\d[\d.]{16}/;
/** A string, or a number outside of strings. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;
/** Reads as Infinity, which no schema here takes. */
const NO_NUMBER = '1e999';

/**
 * Reads a JSON body. A number with more digits than a JavaScript number keeps becomes Infinity, so that the schema refuses it by its
 * field: `JSON.parse` alone would make 1 of 1.00000000000000001 and 9007199254740991 of 9007199254740991.4.
 * @throws CodedError `body_malformed`
 */
export function parseJsonBody(text: string): unknown {
  const value = parse(text);
  if (!LONG_NUMBER.test(text)) return value;
  return parse(text.replace(STRING_OR_NUMBER, (token) => (keepsItsDigits(token) ? token : NO_NUMBER)));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser's own words quote the body, so they are not passed on.
    throw new CodedError('body_malformed');
  }
}

function keepsItsDigits(token: string): boolean {
  if (token.startsWith('"')) return true;
  const [mantissa = ''] = token.split(/e/i);
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '');
  return digits.length <= EXACT_DIGITS_MAX;
}
