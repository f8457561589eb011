import { createHmac, timingSafeEqual } from 'node:crypto';
import { CodedError } from '../domain/errors.ts';

/** What a payment token says: whoever holds it may pay this attempt of this order until then. */
export interface PaymentTokenClaims {
  readonly orderId: string;
  readonly attemptNumber: number;
  /** Seconds since 1970. */
  readonly expiresAt: number;
}

const PREFIX = 'pt1.';
/** 16 bytes of order id, 1 of attempt number, 5 of expiry; a length for which base64 has one spelling only. */
const CLAIMS_LENGTH = 22;
const MAC_LENGTH = 32;
const FORMAT = /^pt1\.[A-Za-z0-9_-]{72}$/;
/** Keeps these signatures apart from whatever else might one day be signed with the same secret. */
const PURPOSE = 'paidonce payment token 1';

/**
 * Makes the token for one attempt: `pt1.` and 72 characters of base64url. The same claims give the same token, so it can be
 * handed out again without being stored; it is burnt by the unique row of its attempt.
 */
export function createPaymentToken(claims: PaymentTokenClaims, secret: string): string {
  const bytes = Buffer.alloc(CLAIMS_LENGTH);
  bytes.write(claims.orderId.replaceAll('-', ''), 0, 'hex');
  bytes.writeUInt8(claims.attemptNumber, 16);
  bytes.writeUIntBE(claims.expiresAt, 17, 5);
  return PREFIX + Buffer.concat([bytes, sign(bytes, secret)]).toString('base64url');
}

/**
 * Reads a token for an order. Which of the reasons made it invalid is not told: that would help only a forger.
 * @throws CodedError `payment_token_invalid` or `payment_token_expired`
 */
export function readPaymentToken(
  token: string,
  expected: { readonly orderId: string; readonly secrets: readonly string[]; readonly now: Date },
): PaymentTokenClaims {
  const bytes = FORMAT.test(token) ? Buffer.from(token.slice(PREFIX.length), 'base64url') : Buffer.alloc(0);
  const signed = bytes.subarray(0, CLAIMS_LENGTH);
  const mac = bytes.subarray(CLAIMS_LENGTH);
  if (mac.length !== MAC_LENGTH || !expected.secrets.some((secret) => timingSafeEqual(mac, sign(signed, secret)))) {
    throw new CodedError('payment_token_invalid', undefined, { field: 'payment_token' });
  }
  const claims = readClaims(signed);
  if (claims.orderId !== expected.orderId) {
    throw new CodedError('payment_token_invalid', undefined, { field: 'payment_token' });
  }
  if (claims.expiresAt * 1_000 <= expected.now.getTime()) {
    throw new CodedError('payment_token_expired', undefined, { field: 'payment_token' });
  }
  return claims;
}

function readClaims(bytes: Buffer): PaymentTokenClaims {
  const hex = bytes.toString('hex', 0, 16);
  const orderId = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  return { orderId, attemptNumber: bytes.readUInt8(16), expiresAt: bytes.readUIntBE(17, 5) };
}

function sign(bytes: Buffer, secret: string): Buffer {
  return createHmac('sha256', secret).update(PURPOSE).update(bytes).digest();
}
