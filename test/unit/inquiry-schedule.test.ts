import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  INQUIRY_SCHEDULE_SECONDS,
  secondsToNextInquiry,
  UNAVAILABLE_RETRY_SECONDS,
} from '../../domain/inquiry-schedule.ts';

const anySchedule = fc
  .uniqueArray(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 12 })
  .map((offsets) => offsets.sort((left, right) => left - right));
const anyElapsed = fc.double({ min: 0, max: 200_000, noNaN: true });

describe('the inquiry schedule', () => {
  it('is 5 s, 15 s, 60 s, 3 min, 10 min, 30 min, 1 h, 3 h, 12 h, 24 h', () => {
    expect(INQUIRY_SCHEDULE_SECONDS).toEqual([5, 15, 60, 180, 600, 1_800, 3_600, 10_800, 43_200, 86_400]);
  });

  it('asks for the first time after 5 s', () => {
    expect(secondsToNextInquiry(INQUIRY_SCHEDULE_SECONDS, 0, true)).toBe(5);
  });

  it.each([
    [4.5, 0.5],
    [5, 10],
    [15, 45],
    [61, 119],
    [180, 420],
    [43_200, 43_200],
    [86_399, 1],
  ])('after %d s waits %d s more when the gateway answers', (elapsed, wait) => {
    expect(secondsToNextInquiry(INQUIRY_SCHEDULE_SECONDS, elapsed, true)).toBe(wait);
  });

  it.each([
    [0, 5],
    [5, 10],
    [15, 30],
    [180, 30],
    [43_200, 30],
    [86_399, 1],
  ])('after %d s waits only %d s when the gateway does not answer', (elapsed, wait) => {
    expect(secondsToNextInquiry(INQUIRY_SCHEDULE_SECONDS, elapsed, false)).toBe(wait);
  });

  it.each([86_400, 86_401, Number.MAX_SAFE_INTEGER])(
    'is over after %d s, whether the gateway answers or not',
    (elapsed) => {
      expect(secondsToNextInquiry(INQUIRY_SCHEDULE_SECONDS, elapsed, true)).toBeUndefined();
      expect(secondsToNextInquiry(INQUIRY_SCHEDULE_SECONDS, elapsed, false)).toBeUndefined();
    },
  );

  it('without any step is over at once', () => {
    expect(secondsToNextInquiry([], 0, true)).toBeUndefined();
  });

  it('never gives a wait that is not a positive number, and never one beyond its end', () => {
    fc.assert(
      fc.property(anySchedule, anyElapsed, fc.boolean(), (schedule, elapsed, answered) => {
        const wait = secondsToNextInquiry(schedule, elapsed, answered);
        const end = schedule.at(-1) ?? 0;
        if (wait === undefined) {
          expect(elapsed).toBeGreaterThanOrEqual(end);
          return;
        }
        expect(wait).toBeGreaterThan(0);
        expect(elapsed + wait).toBeLessThanOrEqual(end + 1e-6);
      }),
    );
  });

  it('asks an answering gateway once per step, and comes to its end', () => {
    fc.assert(
      fc.property(anySchedule, (schedule) => {
        const asked: number[] = [];
        let elapsed = 0;
        for (
          let wait = secondsToNextInquiry(schedule, elapsed, true);
          wait !== undefined;
          wait = secondsToNextInquiry(schedule, elapsed, true)
        ) {
          elapsed += wait;
          asked.push(elapsed);
          expect(asked.length).toBeLessThanOrEqual(schedule.length);
        }
        expect(asked).toEqual(schedule);
      }),
    );
  });

  it('leaves a silent gateway alone no longer than promised', () => {
    fc.assert(
      fc.property(anySchedule, anyElapsed, (schedule, elapsed) => {
        expect(secondsToNextInquiry(schedule, elapsed, false) ?? 0).toBeLessThanOrEqual(UNAVAILABLE_RETRY_SECONDS);
      }),
    );
  });

  it('never gives NaN for an elapsed time that is NaN: the schedule counts as over', () => {
    expect(secondsToNextInquiry(INQUIRY_SCHEDULE_SECONDS, Number.NaN, true)).toBeUndefined();
  });

  it('still asks 5 s after the start when a clock ran backwards', () => {
    expect(secondsToNextInquiry(INQUIRY_SCHEDULE_SECONDS, -2, true)).toBe(7);
  });
});
