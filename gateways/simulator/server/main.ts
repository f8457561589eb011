import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { endProcess } from './fatal.ts';
import { startSimulator } from './server.ts';

/**
 * The gateway simulator as a process of its own: a gateway that lives in the product's process would die with it, and could
 * not judge it. Prints one JSON line with its address when it is ready.
 */
const { SIMULATOR_HOST, SIMULATOR_PORT, SIMULATOR_LEDGER } = z
  .object({
    SIMULATOR_HOST: z.string().default('127.0.0.1'),
    SIMULATOR_PORT: z.coerce.number().int().min(0).max(65_535).default(0),
    SIMULATOR_LEDGER: z.string().min(1),
  })
  .parse(process.env);

mkdirSync(dirname(SIMULATOR_LEDGER), { recursive: true });
const simulator = await startSimulator({ host: SIMULATOR_HOST, port: SIMULATOR_PORT, ledgerPath: SIMULATOR_LEDGER });

const stop = (): void => {
  simulator.close().then(() => process.exit(0), endProcess);
};
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
process.stdout.write(`${JSON.stringify({ address: simulator.address })}\n`);
