import type { FastifyRequest } from 'fastify';
import { looksLikeCardNumber } from '../domain/card-number.ts';
import { IDEMPOTENCY_KEY } from './idempotency.ts';
import { InputError } from './problems.ts';
import { fieldName } from './validation.ts';

/**
 * Refuses a request that holds a card number in any text that could be kept, before it is validated, stored or told back.
 * Only the field is named. Amounts are not looked at: one in so many honest ones would pass for a card.
 * @throws InputError `card_number_refused`
 */
export async function refuseCardNumbers(request: FastifyRequest): Promise<void> {
  const parts: readonly [string, unknown][] = [
    ['body', request.body],
    ['query', request.query],
    ['path', request.params],
    [IDEMPOTENCY_KEY, request.headers[IDEMPOTENCY_KEY]],
  ];
  for (const [part, value] of parts) {
    const field = findCardNumber(value, part);
    if (field !== undefined) {
      throw new InputError('card_number_refused', [{ field, message: 'Holds what looks like a card number.' }]);
    }
  }
}

/** Fields deeper than this are named by the one around them; nothing that is accepted is that deep. */
const PATH_LENGTH_MAX = 8;

/** Without recursion, because the body may be nested as deep as its size allows. */
function findCardNumber(root: unknown, part: string): string | undefined {
  const open: { readonly value: unknown; readonly path: readonly string[] }[] = [{ value: root, path: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next;
    if (typeof value === 'string' && looksLikeCardNumber(value)) return fieldName(path, part);
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, inner] of Object.entries(value)) {
      if (looksLikeCardNumber(name)) return fieldName(path, part);
      open.push({ value: inner, path: path.length < PATH_LENGTH_MAX ? [...path, name] : path });
    }
  }
  return undefined;
}
