import { describe, expect, it } from 'vitest';
import { RAW_LENGTH_MAX } from '../../domain/outcome.ts';
import { rawAnswer, readJsonAnswer } from '../../gateways/raw-answer.ts';

const CARD = '4111111111111111';

describe("a gateway's words as evidence", () => {
  const answer = (body: string) => rawAnswer({ kind: 'answered', status: 200, headers: {}, body });

  it('keep the status and the body', () => {
    expect(answer('{"a":1}')).toBe('HTTP 200 {"a":1}');
    expect(rawAnswer({ kind: 'failed', sent: true, code: 'ECONNRESET', reason: 'reset' })).toBe('');
  });

  it('hold no card number, also where it is cut through', () => {
    expect(answer(`{"card":"${CARD}"}`)).not.toContain(CARD);
    const atTheEdge = answer(`${'x'.repeat(RAW_LENGTH_MAX - 17)}${CARD}`);
    expect(atTheEdge.length).toBeLessThanOrEqual(RAW_LENGTH_MAX);
    expect(atTheEdge).not.toMatch(/4111/);
  });

  it('are read as JSON or not at all', () => {
    expect(readJsonAnswer('{"a":1}')).toEqual({ a: 1 });
    for (const body of ['', '<html>', '{"a":']) expect(readJsonAnswer(body)).toBeUndefined();
  });
});
