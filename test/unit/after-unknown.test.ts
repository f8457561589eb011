import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterProvenAbsence,
  isAbsenceConclusive,
  mayRepeat,
  type ResolutionStep,
  stepsAfterUnknown,
  type UnknownAttempt,
} from '../../domain/after-unknown.ts';
import { type GatewayCapabilities, judgeConfiguration, type RepeatProtection } from '../../domain/capabilities.ts';

const CALL_TIMEOUT = 30;
const WINDOW = 3_600;

const REPEATS: readonly RepeatProtection[] = [
  { by: 'reference', onRepeat: 'refused' },
  { by: 'reference', onRepeat: 'returns_original' },
  { by: 'key', windowSeconds: WINDOW },
  { by: 'key', windowSeconds: 2 * CALL_TIMEOUT },
  { by: 'nothing' },
];
const INQUIRIES: readonly GatewayCapabilities['inquiry']['by'][] = [
  [],
  ['merchant_reference'],
  ['gateway_reference'],
  ['merchant_reference', 'gateway_reference'],
];
const ELAPSED = [0, CALL_TIMEOUT, WINDOW - 2 * CALL_TIMEOUT - 1, WINDOW - 2 * CALL_TIMEOUT, WINDOW, 24 * WINDOW];
const LATE = [null, 0, 150];
const BOTH = [true, false] as const;

const QUESTIONS: readonly ResolutionStep[] = ['inquire_by_gateway_reference', 'inquire_by_merchant_reference'];

/** Every combination of what a gateway can do. */
function* everyGateway(): Generator<GatewayCapabilities> {
  for (const repeat of REPEATS)
    for (const by of INQUIRIES)
      for (const absentConclusiveAfterSeconds of LATE)
        for (const webhooks of ['signed', 'unsigned', 'none'] as const)
          for (const statements of BOTH)
            for (const savesGatewayReferenceFirst of BOTH)
              yield {
                repeat,
                inquiry: { by, absentConclusiveAfterSeconds },
                savesGatewayReferenceFirst,
                webhooks,
                statements,
                closing: { by: [] },
                authorize: null,
                refund: null,
                callTimeoutSeconds: CALL_TIMEOUT,
                reference: { lengthMax: 30, pattern: '^[0-9A-Z]+$' },
                currencyDecimals: {},
                timeZone: 'UTC',
              };
}

function* everyUnknownAttempt(): Generator<UnknownAttempt> {
  for (const capabilities of everyGateway())
    for (const secondsSinceFirstSent of ELAPSED)
      for (const gatewayReferenceKnown of BOTH) yield { capabilities, secondsSinceFirstSent, gatewayReferenceKnown };
}

const ALL = [...everyUnknownAttempt()];

/** Checks an invariant over all of them and names the first combination that breaks it. */
function holdsForAll(check: (attempt: UnknownAttempt, steps: readonly ResolutionStep[]) => boolean): void {
  const broken = ALL.find((attempt) => !check(attempt, stepsAfterUnknown(attempt)));
  expect(broken).toBeUndefined();
}

describe(`what may be done after unknown, over ${ALL.length} combinations`, () => {
  it('always offers something, and a person comes last and once', () => {
    expect(ALL.length).toBe(5 * 4 * 3 * 3 * 2 * 2 * 6 * 2);
    holdsForAll((_attempt, steps) => steps.indexOf('ask_a_person') === steps.length - 1 && steps.length > 0);
  });

  it('waits for word only where word can come, after everything that can be done by ourselves', () => {
    holdsForAll(({ capabilities: { webhooks, statements } }, steps) => {
      const place = steps.indexOf('wait_for_word');
      const canCome = webhooks !== 'none' || statements;
      return canCome ? place === steps.length - 2 : place === -1;
    });
  });

  it('repeats only where a repeat is protected and answered with the original, inside the window', () => {
    holdsForAll(({ capabilities: { repeat }, secondsSinceFirstSent }, steps) => {
      if (!steps.includes('replay_same_request')) return true;
      if (repeat.by === 'reference') return repeat.onRepeat === 'returns_original';
      return repeat.by === 'key' && secondsSinceFirstSent + 2 * CALL_TIMEOUT < repeat.windowSeconds;
    });
  });

  it('does repeat where that is safe and tells the outcome', () => {
    const safe = ALL.filter((attempt) => stepsAfterUnknown(attempt).includes('replay_same_request'));
    const protectedWays = new Set(safe.map(({ capabilities: { repeat } }) => JSON.stringify(repeat)));
    expect([...protectedWays]).toEqual([JSON.stringify(REPEATS[1]), JSON.stringify(REPEATS[2])]);
  });

  it('asks before it repeats, because a question moves no money', () => {
    holdsForAll((_attempt, steps) => {
      const replay = steps.indexOf('replay_same_request');
      return replay === -1 || steps.every((step, place) => !QUESTIONS.includes(step) || place < replay);
    });
  });

  it('asks by a reference only where the gateway takes it and we have it', () => {
    holdsForAll(({ capabilities: { inquiry }, gatewayReferenceKnown }, steps) => {
      const byTheirs = inquiry.by.includes('gateway_reference') && gatewayReferenceKnown;
      return (
        steps.includes('inquire_by_gateway_reference') === byTheirs &&
        steps.includes('inquire_by_merchant_reference') === inquiry.by.includes('merchant_reference')
      );
    });
  });

  it('names no step twice', () => {
    holdsForAll((_attempt, steps) => new Set(steps).size === steps.length);
  });
});

describe('proven absence', () => {
  const gateways = [...everyGateway()];

  it('is never believed before our call is over and the longest delivery has passed', () => {
    for (const capabilities of gateways) {
      const { absentConclusiveAfterSeconds } = capabilities.inquiry;
      for (const secondsSinceLastSent of [
        0,
        CALL_TIMEOUT - 1,
        CALL_TIMEOUT,
        CALL_TIMEOUT + 149,
        CALL_TIMEOUT + 150,
        1e9,
      ]) {
        const conclusive = isAbsenceConclusive({ capabilities, secondsSinceLastSent });
        if (absentConclusiveAfterSeconds === null) expect(conclusive).toBe(false);
        else expect(conclusive).toBe(secondsSinceLastSent >= CALL_TIMEOUT + absentConclusiveAfterSeconds);
      }
    }
  });

  it('leads to a repeat only where a first request that arrives after all cannot become a second charge', () => {
    for (const capabilities of gateways)
      for (const secondsSinceFirstSent of ELAPSED) {
        const next = afterProvenAbsence({ capabilities, secondsSinceFirstSent });
        const { repeat } = capabilities;
        const inWindow = repeat.by === 'key' && secondsSinceFirstSent + 2 * CALL_TIMEOUT < repeat.windowSeconds;
        expect(next).toBe(repeat.by === 'reference' || inWindow ? 'send_again' : 'close_attempt');
      }
  });
});

describe('with any figures', () => {
  const seconds = fc.double({ min: 0, max: 1e8, noNaN: true });
  const [template] = [...everyGateway()];
  const keyed = fc.record({ windowSeconds: seconds, callTimeoutSeconds: seconds }).map((figures) => ({
    ...template!,
    callTimeoutSeconds: figures.callTimeoutSeconds,
    repeat: { by: 'key' as const, windowSeconds: figures.windowSeconds },
  }));

  it('a repeat that was permitted arrives inside the window, even when it takes the whole call time-out', () => {
    fc.assert(
      fc.property(keyed, seconds, (capabilities, secondsSinceFirstSent) => {
        if (!mayRepeat({ capabilities, secondsSinceFirstSent })) return true;
        return secondsSinceFirstSent + capabilities.callTimeoutSeconds <= capabilities.repeat.windowSeconds;
      }),
    );
  });

  it('once a repeat is forbidden it stays forbidden', () => {
    fc.assert(
      fc.property(keyed, seconds, seconds, (capabilities, earlier, more) => {
        const before = mayRepeat({ capabilities, secondsSinceFirstSent: earlier });
        return before || !mayRepeat({ capabilities, secondsSinceFirstSent: earlier + more });
      }),
    );
  });

  it('once absence is conclusive it stays so', () => {
    fc.assert(
      fc.property(seconds, seconds, seconds, (absentConclusiveAfterSeconds, earlier, more) => {
        const capabilities = { ...template!, inquiry: { by: [], absentConclusiveAfterSeconds } };
        const before = isAbsenceConclusive({ capabilities, secondsSinceLastSent: earlier });
        return !before || isAbsenceConclusive({ capabilities, secondsSinceLastSent: earlier + more });
      }),
    );
  });
});

describe('the judgement of a configuration', () => {
  it('promises "charged once" exactly where a lost answer is protected or can be asked about', () => {
    for (const capabilities of everyGateway()) {
      const { repeat, inquiry, savesGatewayReferenceFirst } = capabilities;
      const isProtected = repeat.by === 'reference' || (repeat.by === 'key' && repeat.windowSeconds === WINDOW);
      const canAsk =
        inquiry.by.includes('merchant_reference') ||
        (inquiry.by.includes('gateway_reference') && savesGatewayReferenceFirst);
      const expected = isProtected || canAsk ? 'exactly_once' : 'at_most_once_sent';
      expect(judgeConfiguration('any', capabilities).kind).toBe(expected);
    }
  });

  it('names the gateway and the way out', () => {
    const unsafe = [...everyGateway()].find(
      ({ repeat, inquiry }) => repeat.by === 'nothing' && inquiry.by.length === 0,
    );
    const judgement = judgeConfiguration('corner-shop', unsafe!);
    expect(judgement).toMatchObject({ sentence: expect.stringContaining('corner-shop') });
    expect(judgement).toMatchObject({ sentence: expect.stringContaining('ALLOW_AT_MOST_ONCE_SENT=true') });
  });
});
