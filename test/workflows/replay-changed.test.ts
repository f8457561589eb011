import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Change, changedBundle } from '../support/changed-workflows.ts';
import { createTestDatabase } from '../support/database.ts';
import { EXPECTED_COMMANDS } from '../support/expected-commands.ts';
import { commandsOf, type HistoryFile, historyFile, readHistories } from '../support/histories.ts';
import { usePlays } from '../support/plays.ts';
import { PATHS } from '../support/recorded-paths.ts';

/**
 * Shows that both nets catch what they are there for. Each change is one that a careless deployment could bring, made to
 * a copy of the workflows.
 */
interface Careless {
  readonly what: string;
  /** A path that the change reaches. */
  readonly path: string;
  /** Replay looks at kinds, names and order of commands only; the rest must be caught by the comparison. */
  readonly replay: 'refuses' | 'lets pass';
  readonly change: Change;
}

const CHANGES: readonly Careless[] = [
  {
    what: 'another step in the place of one',
    path: 'handed-over-then-answered',
    replay: 'refuses',
    change: { file: 'workflows/desk.ts', from: 'local.look(', to: 'local.expire(' },
  },
  {
    what: 'two steps in the other order',
    path: 'answer-lost',
    replay: 'refuses',
    change: {
      file: 'workflows/resolve.ts',
      from: 'await waitForNextInquiry(round, desk);\n    const result = await inquire(input, round, desk);',
      to: 'const result = await inquire(input, round, desk);\n    await waitForNextInquiry(round, desk);',
    },
  },
  {
    what: 'search attributes no longer written',
    path: 'paid',
    replay: 'refuses',
    change: { file: 'workflows/operator-view.ts', from: '      upsertSearchAttributes([', to: '      void ([' },
  },
  {
    what: 'another wait',
    path: 'unreachable-then-paid',
    replay: 'lets pass',
    change: {
      file: 'workflows/make-attempts.ts',
      from: 'UNREACHABLE_RETRY_SECONDS: readonly number[] = [1, ',
      to: 'UNREACHABLE_RETRY_SECONDS: readonly number[] = [3, ',
    },
  },
  {
    what: 'another value shown',
    path: 'reviewed-then-found',
    replay: 'lets pass',
    change: { file: 'workflows/operator-view.ts', from: 'value: shownReview }', to: 'value: false }' },
  },
];

const { database } = await createTestDatabase();
const playOut = usePlays(database);

describe.for(CHANGES)('$what', ({ path, replay, change }) => {
  let bundle: { readonly code: string };
  beforeAll(async () => {
    bundle = await changedBundle([change]);
  });

  test(`C119: replay of the recorded history ${replay} it`, async () => {
    const replayed = Worker.runReplayHistory({ workflowBundle: bundle }, recorded(path));
    if (replay === 'refuses') await expect(replayed).rejects.toThrow(DeterminismViolationError);
    else await replayed;
  });

  test('C120: the comparison of commands refuses it', async () => {
    const handle = await PATHS[path]!(playOut, { bundle });
    const commands = commandsOf(historyFile(await handle.fetchHistory()));
    expect(commands).not.toEqual(EXPECTED_COMMANDS[path]);
    expect(commands.at(-1)).toEqual(EXPECTED_COMMANDS[path]?.at(-1));
  });
});

test('C120: a history recorded without the flags of the SDK lets another step pass, so the flags are demanded', async () => {
  const [{ path, change }] = CHANGES as readonly [Careless];
  const unflagged = JSON.parse(
    JSON.stringify(recorded(path), (key, value: unknown) => (key === 'coreUsedFlags' ? [] : value)),
  );
  await Worker.runReplayHistory({ workflowBundle: await changedBundle([change]) }, unflagged);
});

function recorded(path: string): HistoryFile {
  const found = readHistories().find(({ name }) => name === path);
  if (found === undefined) throw new Error(`No history of the path ${path} is committed`);
  return found.history;
}
