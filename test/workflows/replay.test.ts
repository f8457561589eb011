import { hostname } from 'node:os';
import { Worker } from '@temporalio/worker';
import { describe, expect, test } from 'vitest';
import { looksLikeCardNumber } from '../../domain/card-number.ts';
import { EXPECTED_COMMANDS } from '../support/expected-commands.ts';
import { commandsOf, payloadsOf, readHistories } from '../support/histories.ts';
import { quietTemporal, testBundle } from '../support/workbench.ts';

const histories = readHistories();
const LARGEST_PAYLOAD_BYTES = 2_048;

/** Every name that may stand in a payload: ids, states, times and settings, and nothing that a gateway was sent. */
const PAYLOAD_KEYS = new Set(
  [
    ['orderId', 'gateway', 'expiresAt', 'attempt', 'settings', 'handoverAfterMs', 'inquiryScheduleSeconds'],
    [
      'attemptNumber',
      'paymentMethod',
      'returnUrl',
      'scheduleSeconds',
      'secondsBefore',
      'knownStatus',
      'limit',
      'inboxEventId',
      'cancelRequested',
    ],
    ['kind', 'standing', 'orderStatus', 'attemptStatus', 'needsReview', 'provenBy', 'status', 'attempts', 'waitsFor'],
    ['outcome', 'operator', 'reason'],
    ['refundId', 'inReview'],
    ['after', 'next', 'looked', 'resumed', 'told', 'matched', 'pooled', 'applied'],
    ['refundsResumed', 'eventsApplied', 'eventsPooled', 'stuckDeliveries'],
    // Temporal's own, in the marker of a local activity.
    ['seq', 'activity_id', 'activity_type', 'backoff', 'complete_time', 'original_schedule_time', 'seconds', 'nanos'],
  ].flat(),
);

quietTemporal();

test('a history is committed for every path', () => {
  expect(histories.map(({ name }) => name)).toEqual(Object.keys(EXPECTED_COMMANDS).sort());
});

describe.for(histories)('the recorded history "$name"', ({ name, history }) => {
  test('C119: is replayed by the present workflows', async () => {
    await Worker.runReplayHistory({ workflowBundle: await testBundle() }, history);
  });

  test('C120: holds the expected commands', () => {
    expect(commandsOf(history)).toEqual(EXPECTED_COMMANDS[name]);
  });

  test('was recorded with the checks switched on that compare names', () => {
    // Without these flags of the SDK's core a replay does not look at the types of activities at all.
    expect(JSON.stringify(history)).toMatch(/"coreUsedFlags":\[[^\]]*\b1\b/);
  });

  test('C121: has small payloads without anything but ids, states, times and the token', () => {
    const payloads = payloadsOf(history);
    expect(payloads.length).toBeGreaterThan(1);
    for (const { event, bytes, value } of payloads) {
      expect(bytes, event).toBeLessThanOrEqual(LARGEST_PAYLOAD_BYTES);
      expect(complaintsAbout(value), `${event} ${JSON.stringify(value)}`).toEqual([]);
    }
  });

  test('names neither a machine nor its folders', () => {
    const text = JSON.stringify(history);
    for (const trace of [`@${hostname()}`, process.cwd(), '/node_modules/', 'file:', '.ts:', '@temporalio/worker'])
      expect(text).not.toContain(trace);
    expect(text).not.toMatch(/"\/(home|root|Users|tmp)\//);
    expect(text).not.toMatch(/"identity":"(?!recorded")/);
  });
});

test('C121: the check refuses what must never be in a payload', () => {
  expect(complaintsAbout({ paymentMethod: 'tok_1' })).toEqual([]);
  expect(complaintsAbout({ paymentMethod: { number: '4111111111111111' } })).toContain('paymentMethod is no token');
  expect(complaintsAbout({ standing: { requestBody: '{}' } })).toEqual(['requestBody does not belong here']);
  expect(complaintsAbout({ reason: 'paid with 4111 1111 1111 1111' })).toEqual(['reason holds a card number']);
});

/** What is wrong with a payload: names that are not permitted, a payment method that is more than a token, a card number. */
function complaintsAbout(value: unknown, name = 'the payload'): string[] {
  if (name === 'paymentMethod' && !/^tok_[a-z0-9_]+$/.test(String(value))) return ['paymentMethod is no token'];
  if (typeof value === 'string') return looksLikeCardNumber(value) ? [`${name} holds a card number`] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(Array.isArray(value) || PAYLOAD_KEYS.has(key) ? [] : [`${key} does not belong here`]),
    ...complaintsAbout(inner, Array.isArray(value) ? name : key),
  ]);
}
