import { startApiProcess } from '../api/process.ts';
import { createGateways } from '../gateways/registry.ts';
import { type Config, readConfig } from '../process/config.ts';
import type { Logger } from '../process/log.ts';
import { stopOnSignal } from '../process/parts.ts';
import { runProgram } from '../process/program.ts';
import { waitForMigratedDatabase } from '../worker/migrated-database.ts';
import { gatewayFacts } from './gateway-facts.ts';

/**
 * The API as a process of its own, beside workers that are others. It stands here because it brings the API and the gateways'
 * declarations together. It serves at once: while a part is away, /readyz says so and routes answer 503.
 * Prints one JSON line with its address.
 */
await runProgram({ name: 'paidonce-api', read: readConfig, main: serve });

async function serve(config: Config, log: Logger): Promise<void> {
  const gateways = createGateways(config.GATEWAYS, { allowAtMostOnceSent: config.ALLOW_AT_MOST_ONCE_SENT });
  const api = await startApiProcess({ config, log, gateways: gatewayFacts(gateways) });
  stopOnSignal(async () => {
    await api.stop();
    process.exit(0); // It may still be waiting for the database below.
  }, log);
  process.stdout.write(`${JSON.stringify({ address: api.address, pid: process.pid })}\n`);
  await waitForMigratedDatabase(config.DATABASE_URL, log);
}
