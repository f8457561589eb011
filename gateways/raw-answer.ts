import { maskCardNumbers } from '../domain/card-number.ts';
import { RAW_LENGTH_MAX } from '../domain/outcome.ts';
import type { HttpResult } from './http.ts';

/** The gateway's words as evidence: cut to size, and masked, because some gateways echo the card. */
export function rawAnswer(result: HttpResult): string {
  if (result.kind === 'failed') return '';
  // Masked before it is cut: half a card number would not be recognised.
  return maskCardNumbers(`HTTP ${result.status} ${result.body}`).slice(0, RAW_LENGTH_MAX);
}

/** The body as JSON, or undefined for HTML, nothing, or half an answer. */
export function readJsonAnswer(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}
