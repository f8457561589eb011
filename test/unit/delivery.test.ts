import { describe, expect, it } from 'vitest';
import { DELIVERY_WINDOW_SECONDS, describeAnswer, type EndpointAnswer, ruleOnDelivery } from '../../domain/delivery.ts';

const TOLD_AT = '2026-11-30T12:00:00.000Z';

function answered(status: number): EndpointAnswer {
  return { kind: 'answered', status, text: '' };
}

function rule(answer: EndpointAnswer, tries = 1, now = TOLD_AT) {
  return ruleOnDelivery(answer, { tries, triesSince: TOLD_AT, now, random: 0 });
}

describe('what an answer to an event means', () => {
  it.each([200, 201, 204, 299])('%i: delivered', (status) => {
    expect(rule(answered(status))).toEqual({ kind: 'delivered' });
  });

  it.each([301, 302, 307, 400, 401, 404, 408, 429, 500, 503])('%i: tried again', (status) => {
    expect(rule(answered(status))).toEqual({ kind: 'again', nextTryAt: '2026-11-30T12:00:05.000Z' });
  });

  it('410: the endpoint is gone', () => {
    expect(rule(answered(410)).kind).toBe('endpoint_gone');
  });

  it('no answer, or nothing sent: tried again', () => {
    expect(rule({ kind: 'no_answer', reason: 'refused' }).kind).toBe('again');
    expect(rule({ kind: 'points_inward', reason: 'inward' }).kind).toBe('again');
  });

  it('is told in words', () => {
    expect(describeAnswer({ kind: 'answered', status: 500, text: 'oh no' })).toBe('500 oh no');
    expect(describeAnswer(answered(204))).toBe('204');
    expect(describeAnswer({ kind: 'no_answer', reason: 'refused' })).toBe('refused');
  });
});

/** How long after the event each try begins, when all are refused at once. */
function triesInSeconds(random: number): number[] {
  const tries = [0];
  for (;;) {
    const now = new Date(Date.parse(TOLD_AT) + (tries.at(-1) ?? 0) * 1_000).toISOString();
    const ruling = ruleOnDelivery(answered(500), { tries: tries.length, triesSince: TOLD_AT, now, random });
    if (ruling.kind !== 'again') return tries;
    tries.push((Date.parse(ruling.nextTryAt) - Date.parse(TOLD_AT)) / 1_000);
  }
}

describe('the schedule', () => {
  it('tries soon at first and for three days in all, then gives up', () => {
    const tries = triesInSeconds(0);
    expect(tries.slice(0, 5)).toEqual([0, 5, 35, 155, 755]);
    expect(tries.every((at) => at <= DELIVERY_WINDOW_SECONDS)).toBe(true);
    // The last try is more than half a day into the third day, so a merchant who was away for two days is reached.
    expect(tries.at(-1)).toBeGreaterThan(60 * 3_600);
    expect(tries.length).toBe(14);
  });

  it('spreads the tries of many', () => {
    expect(triesInSeconds(1).slice(0, 3)).toEqual([0, 5.5, 38.5]);
  });

  it('says why it gives up', () => {
    const late = new Date(Date.parse(TOLD_AT) + DELIVERY_WINDOW_SECONDS * 1_000).toISOString();
    expect(rule(answered(500), 14, late)).toEqual({
      kind: 'parked',
      reason: 'Not accepted within 72 hours and 14 tries.',
    });
  });
});
