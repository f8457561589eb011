import { Worker } from '@temporalio/worker';
import { describe, expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { EXPECTED_COMMANDS } from '../support/expected-commands.ts';
import { commandsOf, historyFile, writeHistory } from '../support/histories.ts';
import { usePlays } from '../support/plays.ts';
import { PATHS } from '../support/recorded-paths.ts';
import { testBundle } from '../support/workbench.ts';

/** `RECORD_HISTORIES=1 npx vitest run test/workflows/replay-fresh.test.ts` writes what is played to histories/. */
const records = process.env.RECORD_HISTORIES === '1';

const { database } = await createTestDatabase();
test('every path has its expected commands', () => {
  expect(Object.keys(PATHS).sort()).toEqual(Object.keys(EXPECTED_COMMANDS).sort());
});

// A server for each: after a workflow's end the clock of a time-skipping server may run on by years.
describe.for(Object.entries(PATHS))('the path "%s"', ([name, play]) => {
  const playOut = usePlays(database);

  test('C120: played now, makes the expected commands, and replays', async () => {
    const handle = await play(playOut);
    const history = historyFile(await handle.fetchHistory());
    if (records) writeHistory({ name, history });
    expect(commandsOf(history)).toEqual(EXPECTED_COMMANDS[name]);
    await Worker.runReplayHistory({ workflowBundle: await testBundle() }, history);
  });
});
