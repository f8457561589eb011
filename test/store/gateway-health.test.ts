import { expect, test } from 'vitest';
import {
  closeBreaker,
  isBreakerOpen,
  noteAnswer,
  noteSilence,
  openBreaker,
  takeProbe,
} from '../../store/gateway-health.ts';
import { createTestDatabase } from '../support/database.ts';

const { database } = await createTestDatabase();
const at = (second: number): string => new Date(Date.UTC(2026, 10, 30, 12, 0, second)).toISOString();

test('the end of a silence is told to one caller of all, with its beginning', async () => {
  await noteSilence(database, 'main', at(1));
  await noteSilence(database, 'main', at(5));
  const heard = await Promise.all([6, 7, 8, 9].map((second) => noteAnswer(database, 'main', at(second))));
  expect(heard.filter((since) => since !== undefined)).toEqual([at(1)]);
  await noteSilence(database, 'main', at(20));
  expect(await noteAnswer(database, 'main', at(21))).toBe(at(20));
});

test('an answer of a gateway that was never silent is told to nobody', async () => {
  expect(await noteAnswer(database, 'always-there', at(1))).toBeUndefined();
});

test('an open breaker lets one caller of all through each time its probe is due', async () => {
  const gateway = 'broken';
  expect(await openBreaker(database, { gateway, now: at(0), probeAt: at(10) })).toBe(true);
  expect(await openBreaker(database, { gateway, now: at(1), probeAt: at(11) })).toBe(false);
  expect(await isBreakerOpen(database, gateway)).toBe(true);
  expect(await takeProbe(database, { gateway, now: at(9), nextProbeAt: at(19) })).toBe(false);
  const probes = [0, 1, 2, 3].map(() => takeProbe(database, { gateway, now: at(10), nextProbeAt: at(20) }));
  expect((await Promise.all(probes)).filter((taken) => taken)).toHaveLength(1);
  expect(await closeBreaker(database, gateway, at(11))).toBe(true);
  expect(await closeBreaker(database, gateway, at(12))).toBe(false);
  expect(await isBreakerOpen(database, gateway)).toBe(false);
  expect(await takeProbe(database, { gateway, now: at(30), nextProbeAt: at(40) })).toBe(false);
});

test('a gateway that is heard again may be tried at once', async () => {
  const gateway = 'back-again';
  await noteSilence(database, gateway, at(0));
  await openBreaker(database, { gateway, now: at(0), probeAt: at(50) });
  await noteAnswer(database, gateway, at(20));
  expect(await takeProbe(database, { gateway, now: at(20), nextProbeAt: at(30) })).toBe(true);
});
