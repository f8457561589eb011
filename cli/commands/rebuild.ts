import { Client, Connection } from '@temporalio/client';
import type { Command } from 'commander';
import { resumePage } from '../../activities/upkeep/sweep.ts';
import { purchaseSettings, readDatabaseUrl, readPurchaseConfig } from '../../process/config.ts';
import { createLog } from '../../process/log.ts';
import { readTemporalTarget } from '../../process/temporal.ts';
import { createDatabase } from '../../store/database.ts';
import { createResume } from '../../worker/resume.ts';
import { ensureSchedules } from '../../worker/schedules.ts';
import { print, printJson } from '../output.ts';

const PAGE = 500;

export function addRebuildCommand(program: Command): void {
  program
    .command('rebuild')
    .description('after the loss of Temporal’s data: start the workflow of every open order of DATABASE_URL again')
    .option('--json', 'print JSON')
    .action(rebuild);
}

/**
 * Postgres alone is enough: each order's last attempt says what its workflow has to go on with. Safe to run at any time and
 * more than once, also beside workers and on a Temporal that has lost nothing: what runs is left alone, and nothing is sent
 * again.
 */
async function rebuild({ json }: { readonly json?: boolean }): Promise<void> {
  const settings = purchaseSettings(readPurchaseConfig(process.env));
  const target = readTemporalTarget();
  const database = createDatabase({
    url: readDatabaseUrl(process.env),
    poolSize: 2,
    applicationName: 'paidonce-rebuild',
  });
  const connection = await Connection.connect(target.connection);
  try {
    const client = new Client({ connection, namespace: target.namespace });
    await ensureSchedules(client);
    const log = createLog('error', 'paidonce-rebuild');
    const tools = { database, log, resume: createResume({ client, settings }), clock: async () => new Date() };
    const totals = { looked: 0, resumed: 0 };
    let after: string | null = null;
    do {
      const page = { after, limit: PAGE, withFailed: true, untouchedSeconds: 0 };
      const { next, looked, resumed } = await resumePage(tools, page);
      totals.looked += looked;
      totals.resumed += resumed;
      after = next;
    } while (after !== null);
    if (json === true) return printJson(totals);
    print(`${totals.looked} open orders, ${totals.resumed} of their workflows started; the others run.`);
  } finally {
    await connection.close();
    await database.close();
  }
}
