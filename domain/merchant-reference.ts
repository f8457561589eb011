import { ATTEMPT_NUMBER_MAX } from './attempt.ts';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** 26 characters for the order and 2 for the attempt: fits every gateway in the facts file (Payworks: 30, no hyphens). */
export const MERCHANT_REFERENCE = /^[0-9A-HJKMNP-TV-Z]{26}[0-9]{2}$/;

/**
 * Our number for one attempt, sent to the gateway on every try: the order's UUIDv7 written as a ULID (the same 128 bits in
 * Crockford's alphabet) and the attempt number. A pure function of order and attempt, so that a process that lost
 * everything else asks the gateway about the right charge. It must never hold a clock, a run id or a hash of a body:
 * any of these would differ on a retry and become a second charge.
 */
export function merchantReference(orderId: string, attemptNumber: number): string {
  if (!Number.isInteger(attemptNumber) || attemptNumber < 1 || attemptNumber > ATTEMPT_NUMBER_MAX) {
    throw new RangeError(`Attempt number out of 1..${ATTEMPT_NUMBER_MAX}: ${attemptNumber}`);
  }
  return ulidOf(orderId) + String(attemptNumber).padStart(2, '0');
}

/** A UUID in the 26 characters that every gateway takes. */
export function ulidOf(uuid: string): string {
  if (!UUID.test(uuid)) throw new RangeError(`Not a lower-case UUID: ${uuid}`);
  let bits = BigInt(`0x${uuid.replaceAll('-', '')}`);
  let text = '';
  for (let place = 0; place < 26; place += 1) {
    text = CROCKFORD.charAt(Number(bits & 31n)) + text;
    bits >>= 5n;
  }
  return text;
}

/** The way back, for people who hold a gateway's statement line: which order and attempt is this? Undefined if not ours. */
export function readMerchantReference(reference: string): { orderId: string; attemptNumber: number } | undefined {
  if (!MERCHANT_REFERENCE.test(reference)) return undefined;
  let bits = 0n;
  for (const character of reference.slice(0, 26)) bits = (bits << 5n) | BigInt(CROCKFORD.indexOf(character));
  const hex = bits.toString(16).padStart(32, '0');
  const attemptNumber = Number(reference.slice(26));
  if (hex.length > 32 || attemptNumber < 1) return undefined;
  const orderId = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  return { orderId, attemptNumber };
}
